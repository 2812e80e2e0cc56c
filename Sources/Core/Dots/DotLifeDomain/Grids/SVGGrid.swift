import Foundation

/// Renders grids of dots as standalone SVG with its own fonts, colours and sizes, and a text for each dot.
///
/// A dot's size depends on its scale alone. Empty and filled dots are distinguishable in past, present and future
/// alike; a ring marks two or more experiences. No text of a capture is shown, and nothing is loaded.
package struct SVGGrid: Sendable {
    /// Its colours.
    package let theme: SVGTheme

    package init(theme: SVGTheme = .automatic) { self.theme = theme }

    /// Renders a grid. Weekdays are above their column, all other labels below their dot.
    package func svg(_ grid: DotGrid) -> String {
        let size = Self.dotSize(grid.level.scale)
        let pitch = size + Self.spacing
        let rowPitch = pitch + Self.captionHeight
        let top = Self.header + (grid.columnLabels.isEmpty ? 0 : 24)
        let names = grid.columnLabels.enumerated().map { column, name in
            Self.text(name, x: Self.margin + size / 2 + Double(column) * pitch, y: top - 12, size: 12)
        }
        let dots = grid.dots.map { dot in
            let (x, y) = (
                Self.margin + size / 2 + Double(dot.column) * pitch, top + size / 2 + Double(dot.row) * rowPitch
            )
            let ring = dot.count < 2 ? "" : Self.circle(x, y, size / 2 + 3, dot.isCurrent ? "ring now-ring" : "ring")
            let caption = Self.caption(dot, grid.level).map { Self.text($0, x: x, y: y + size / 2 + 15, size: 10) }
            return Self.group(
                dot.accessibleText,
                Self.circle(x, y, size / 2, Self.look(dot.count, dot.phase)) + ring + (caption ?? ""))
        }
        return picture(
            title: grid.title, summary: grid.summary,
            width: Double(grid.columns) * pitch - Self.spacing + 2 * Self.margin,
            height: top + Double(grid.rows) * rowPitch - Self.spacing + Self.margin, names + dots)
    }

    /// Renders a year as a square of the same size as the other grids, with the count in each filled dot, and the
    /// months before the rows in which they begin.
    package func svg(_ year: YearGrid) -> String {
        let layout = year.layout(width: Self.yearSide, height: Self.yearSide)
        let (size, pitch) = (layout.dotSize, layout.dotSize + layout.spacing)
        let left = Self.margin + Self.monthWidth
        let months = year.rowLabels(columns: layout.columns).enumerated().filter { !$0.element.isEmpty }.map {
            row, name in
            Self.line(name, y: Self.header + size / 2 + Double(row) * pitch + 3.5, size: 10, kind: "faint")
        }
        let dots = year.days.enumerated().map { index, day in
            let x = left + size / 2 + Double(index % layout.columns) * pitch
            let y = Self.header + size / 2 + Double(index / layout.columns) * pitch
            let count =
                day.isFilled
                ? Self.text(
                    Self.short(day.experienceCount), x: x, y: y, size: size * 0.5, kind: "count", isCentred: true)
                : ""
            return Self.group(
                day.accessibleText, Self.circle(x, y, size / 2, Self.look(day.experienceCount, day.phase)) + count)
        }
        return picture(
            title: year.title, summary: year.summary, width: left + layout.width + Self.margin,
            height: Self.header + layout.height + Self.margin, months + dots)
    }

    private static let margin = 28.0
    private static let header = 88.0
    private static let spacing = 16.0
    private static let captionHeight = 12.0
    private static let monthWidth = 32.0
    private static let yearSide = 560.0

    private static func dotSize(_ scale: GridScale) -> Double {
        switch scale {
        case .hours: 36
        case .days: 40
        case .weeks: 44
        case .months: 48
        }
    }

    private static func look(_ count: Int, _ phase: DotPhase) -> String {
        switch (phase, count) {
        case (.current, ...0): "now-empty"
        case (.current, _): "now"
        case (.future, ...0): "later"
        case (.future, _): "planned"
        case (.past, ...0): "empty"
        case (.past, 1): "one"
        case (.past, 2): "two"
        case (.past, _): "many"
        }
    }

    private static func caption(_ dot: GridDot, _ level: ZoomLevel) -> String? {
        switch level {
        case .dayByHours, .monthByWeeks, .yearByMonths: dot.label
        case .weekByDays, .monthByDays: dot.extendedLabel.split(separator: " ").last.map(String.init)
        }
    }

    /// At most three characters, to fit into a dot.
    private static func short(_ count: Int) -> String { count > 99 ? "99+" : String(count) }

    private func picture(title: String, summary: String, width: Double, height: Double, _ content: [String]) -> String {
        let (width, height) = (Self.number(width), Self.number(height))
        let count = summary.dropFirst(title.count + 2)
        let lines =
            [
                #"<?xml version="1.0" encoding="UTF-8"?>"#,
                #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
                    + #"viewBox="0 0 \#(width) \#(height)" role="img" font-family="system-ui, sans-serif">"#,
                "<title>\(Self.escaped(summary))</title>",
                "<style>\n\(theme.style)\n</style>",
                #"<rect class="ground" width="100%" height="100%"/>"#,
                Self.line(title, y: 44, size: 20, kind: nil), Self.line(String(count), y: 64, size: 12, kind: "faint"),
            ] + content + ["</svg>", ""]
        return lines.joined(separator: "\n")
    }

    private static func line(_ text: String, y: Double, size: Double, kind: String?) -> String {
        let kind = kind.map { #" class="\#($0)""# } ?? ""
        return #"<text\#(kind) x="\#(number(margin))" y="\#(number(y))" font-size="\#(number(size))">"#
            + "\(escaped(text))</text>"
    }

    private static func text(
        _ text: String, x: Double, y: Double, size: Double, kind: String = "faint", isCentred: Bool = false
    ) -> String {
        #"<text class="\#(kind)" x="\#(number(x))" y="\#(number(y))" font-size="\#(number(size))""#
            + (isCentred ? #" dy="0.35em""# : "") + #" text-anchor="middle">\#(escaped(text))</text>"#
    }

    private static func circle(_ x: Double, _ y: Double, _ radius: Double, _ kind: String) -> String {
        #"<circle class="\#(kind)" cx="\#(number(x))" cy="\#(number(y))" r="\#(number(radius))"/>"#
    }

    private static func group(_ title: String, _ content: String) -> String {
        "<g><title>\(escaped(title))</title>\(content)</g>"
    }

    /// With at most two decimals, independent of the process's locale.
    private static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let text = "\(hundredths / 100)" + (hundredths % 100 == 0 ? "" : ".\(hundredths % 100 / 10)\(hundredths % 10)")
        return text.hasSuffix("0") && text.contains(".") ? String(text.dropLast()) : text
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }
}
