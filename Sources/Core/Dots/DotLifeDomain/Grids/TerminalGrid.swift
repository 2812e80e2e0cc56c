import Foundation

/// Renders grids of dots as text for a terminal: `●` one experience or more, `○` none, `·` in the future, brackets
/// around the present.
///
/// Every line ends in a newline without trailing blanks. No text of a capture is shown.
package struct TerminalGrid: Sendable {
    /// Whether the output may be coloured.
    package let hasColour: Bool
    /// Characters per line.
    package let width: Int
    /// Lines.
    package let height: Int

    package init(hasColour: Bool = false, width: Int = 80, height: Int = 24) {
        self.hasColour = hasColour
        self.width = width
        self.height = height
    }

    /// The title with its count, and below it the dots, with weekdays above and row labels before them.
    package func text(_ grid: DotGrid) -> String {
        let marks = grid.lines.map { line in line.map { $0.map { Mark(isFilled: $0.isFilled, phase: $0.phase) } } }
        let pitch = grid.columnLabels.isEmpty ? 3 : 4
        return matrix(grid.summary, marks, columnLabels: grid.columnLabels, rowLabels: grid.rowLabels, pitch: pitch)
    }

    /// The days of the year, row by row, with a month's name before the row in which it begins.
    package func text(_ year: YearGrid) -> String {
        // Months take four characters, the header two lines; a line is about as high as two characters are wide.
        let columns = year.layout(width: Double(width - 4), height: Double(height - 2) * 2).columns
        let marks = year.lines(columns: columns).map { line in
            line.map { Optional(Mark(isFilled: $0.isFilled, phase: $0.phase)) }
        }
        return matrix(
            year.summary, marks, columnLabels: [], rowLabels: year.rowLabels(columns: columns), pitch: 2)
    }

    /// The title, then a line per dot, without symbols.
    package static func plain(_ grid: DotGrid) -> String {
        lines([grid.summary] + grid.dots.map(\.accessibleText))
    }

    /// The title, then a line per day.
    package static func plain(_ year: YearGrid) -> String {
        lines([year.summary] + year.days.map(\.accessibleText))
    }

    private struct Mark {
        let isFilled: Bool
        let phase: DotPhase

        var sign: String { isFilled ? "●" : phase == .future ? "·" : "○" }
    }

    private func matrix(
        _ header: String, _ marks: [[Mark?]], columnLabels: [String], rowLabels: [String], pitch: Int
    ) -> String {
        let margin = rowLabels.map(\.count).max() ?? 0
        // A column's name is three characters wide, with its dots below the middle one.
        let indent = (margin == 0 ? 0 : margin + 1) + (columnLabels.isEmpty ? 0 : 1)
        var text = [painted(header, .title), ""]
        if !columnLabels.isEmpty {
            let names = columnLabels.joined(separator: String(repeating: " ", count: pitch - 3))
            text.append(painted(String(repeating: " ", count: indent) + names, .faint))
        }
        for (line, label) in zip(marks, rowLabels) {
            let blanks = String(repeating: " ", count: indent - label.count)
            text.append((label.isEmpty ? "" : painted(label, .faint)) + blanks + dots(line, pitch))
        }
        return Self.lines(text)
    }

    /// The dots of a row, each preceded by one character; the brackets around the current dot take two.
    private func dots(_ line: [Mark?], _ pitch: Int) -> String {
        var text = ""
        var gap = 1
        for mark in line {
            guard let mark else {
                gap += pitch
                continue
            }
            let isCurrent = mark.phase == .current
            text += String(repeating: " ", count: max(0, gap - (isCurrent ? 1 : 0)))
            text += painted(isCurrent ? "[\(mark.sign)]" : mark.sign, Self.paint(of: mark))
            gap = pitch - (isCurrent ? 2 : 1)
        }
        return text
    }

    private enum Paint: String {
        case title = "1"
        case now = "1;36"
        case filled = "0"
        case faint = "2"
    }

    private static func paint(of mark: Mark) -> Paint {
        mark.phase == .current ? .now : mark.isFilled ? .filled : .faint
    }

    private func painted(_ text: String, _ paint: Paint) -> String {
        hasColour && paint != .filled ? "\u{1B}[\(paint.rawValue)m\(text)\u{1B}[0m" : text
    }

    private static func lines(_ lines: [String]) -> String { lines.map { $0 + "\n" }.joined() }
}
