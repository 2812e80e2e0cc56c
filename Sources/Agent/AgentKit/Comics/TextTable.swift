import Glibc

/// A table for people: aligned, and no wider than the terminal.
package struct TextTable: Sendable {
    package enum Alignment: Sendable { case left, right }

    private let alignments: [Alignment]
    /// The column that is shortened to make a line fit; the others are never shortened.
    private let flexible: Int
    private var rows: [[String]] = []

    package init(_ alignments: [Alignment], flexible: Int) {
        self.alignments = alignments
        self.flexible = flexible
    }

    package mutating func add(_ cells: [String]) { rows.append(cells) }

    /// - Parameters:
    ///   - width: columns of the terminal; nil for no shortening, as in a pipe.
    ///   - indent: starts every line.
    package func lines(width: Int?, indent: String = "  ") -> [String] {
        var widths = alignments.indices.map { column in
            rows.map { column < $0.count ? TextWidth.of($0[column]) : 0 }.max() ?? 0
        }
        if let width {
            let used = widths.filter { $0 > 0 }
            let whole = indent.count + used.reduce(0, +) + 2 * max(0, used.count - 1)
            widths[flexible] = max(min(16, widths[flexible]), widths[flexible] - max(0, whole - width))
        }
        return rows.map { row in
            var line = indent
            for (column, cell) in row.enumerated() where column < widths.count && widths[column] > 0 {
                let text = column == flexible ? TextWidth.shortened(cell, to: widths[column]) : cell
                let room = String(repeating: " ", count: max(0, widths[column] - TextWidth.of(text)))
                line += (alignments[column] == .right ? room + text : text + room) + "  "
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}

/// The number of terminal columns that a text occupies.
package enum TextWidth {
    package static func of(_ text: some StringProtocol) -> Int { text.unicodeScalars.reduce(0) { $0 + of($1) } }

    /// 2 for East Asian wide scripts and most emoji, 0 for combining characters.
    private static func of(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
            0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF,
            0x1F900...0x1FAFF, 0x20000...0x3FFFD:
            return 2
        default: return 1
        }
    }

    /// Removes the middle, so that the beginning of a name and the number at its end stay readable.
    package static func shortened(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 1 else { return width == 1 ? "…" : "" }
        let tail = fitting(text.reversed(), (width - 1) / 2).reversed()
        let head = fitting(Array(text), width - 1 - tail.reduce(0) { $0 + of(String($1)) })
        return String(head) + "…" + String(tail)
    }

    private static func fitting(_ letters: [Character], _ width: Int) -> [Character] {
        var used = 0
        return Array(
            letters.prefix { letter in
                used += of(String(letter))
                return used <= width
            })
    }

    /// The columns of a terminal; nil if `descriptor` is not a terminal.
    package static func terminal(_ descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return max(40, Int(size.ws_col))
    }
}
