/// Colours for a terminal; without colours every call returns its text unchanged.
package struct TerminalStyle: Sendable, Equatable {
    package var hasColour: Bool
    /// Whether the terminal supports 24-bit colour rather than sixteen colours.
    package var hasTrueColour: Bool
    /// Columns at which text is wrapped.
    package var width: Int

    package init(hasColour: Bool, hasTrueColour: Bool = false, width: Int = 80) {
        self.hasColour = hasColour
        self.hasTrueColour = hasTrueColour
        self.width = min(max(width, 40), 120)
    }

    /// No colour, 80 columns: for files and pipes.
    package static let plain = TerminalStyle(hasColour: false)

    /// The style for a stream: colour on a terminal, unless `NO_COLOR` is not empty or `TERM` is `dumb`.
    package static func suited(isTerminal: Bool, columns: Int?, environment: [String: String]) -> TerminalStyle {
        let term = environment["TERM"] ?? ""
        let isWanted = (environment["NO_COLOR"] ?? "").isEmpty && !term.isEmpty && term != "dumb"
        return TerminalStyle(
            hasColour: isTerminal && isWanted,
            hasTrueColour: ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? ""),
            width: isTerminal ? columns ?? 80 : 80)
    }

    package func bold(_ text: String) -> String { sgr("1", text) }
    package func dim(_ text: String) -> String { sgr("2", text) }
    package func red(_ text: String) -> String { sgr("31", text) }
    package func green(_ text: String) -> String { sgr("32", text) }
    package func yellow(_ text: String) -> String { sgr("33", text) }
    package func cyan(_ text: String) -> String { sgr("36", text) }

    /// In an advisor's own colour, `#RRGGBB`; bold on a terminal with few colours.
    package func coloured(_ text: String, _ colour: String) -> String {
        guard hasTrueColour, colour.utf8.count == 7, let value = UInt32(colour.dropFirst(), radix: 16) else {
            return bold(text)
        }
        return sgr("1;38;2;\(value >> 16);\(value >> 8 & 255);\(value & 255)", text)
    }

    private func sgr(_ codes: String, _ text: String) -> String {
        hasColour ? "\u{1B}[\(codes)m\(text)\u{1B}[0m" : text
    }

    /// Wraps text to at most ``width`` columns, each line after `indent`; existing line breaks stay.
    package func wrapped(_ text: String, indent: String = "") -> [String] {
        let room = max(20, width - indent.count)
        return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { paragraph -> [String] in
            var lines: [String] = []
            var line = ""
            for word in paragraph.split(separator: " ") {
                if !line.isEmpty, line.count + 1 + word.count > room {
                    lines.append(indent + line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + word
            }
            return lines + [line.isEmpty ? "" : indent + line]
        }
    }

    /// Aligned columns, with the last one unpadded.
    package static func table(_ rows: [[String]]) -> [String] {
        var widths: [Int] = []
        for row in rows {
            for (index, cell) in row.enumerated() {
                if index < widths.count {
                    widths[index] = max(widths[index], cell.count)
                } else {
                    widths.append(cell.count)
                }
            }
        }
        return rows.map { row in
            row.enumerated().map { index, cell in
                index == row.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
            }.joined(separator: "  ")
        }
    }
}
