import Platform

/// A person's changes to a sidecar: marks, and edited words in fences.
package struct SidecarAnswers: Sendable, Equatable {
    package enum Mark: Sendable, Equatable {
        case none, accept, skip
        /// Accepted even if the draft is open in an editor.
        case acceptNow
        /// An unrecognized mark.
        case unknown(String)
    }

    package struct Answer: Sendable, Equatable {
        package var mark: Mark
        /// Content of the block's fence, with LF; nil if it has none or an unclosed one.
        package var proposal: String?
    }

    /// By the findings' keys.
    package private(set) var byKey: [String: Answer] = [:]
    /// The sidecar's lines without marks.
    private var lines: [String] = []

    package init(_ text: String) {
        var key: String?
        var fence: (mark: Substring, lines: [String])?
        for line in ReviewSidecar.unified(text).split(separator: "\n", omittingEmptySubsequences: false) {
            lines.append(String(line))
            if let open = fence {
                let content = Self.unindented(line)
                if Self.closes(content, open.mark) {
                    if let key { byKey[key]?.proposal = open.lines.joined(separator: "\n") }
                    fence = nil
                } else {
                    fence?.lines.append(String(content))
                }
                continue
            }
            let first = line.utf8.first { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
            let isItem = first.map { Self.bullets.contains($0) } ?? false
            if isItem, let head = line.wholeMatch(of: Self.head) {
                let found = String(head.output.2)
                lines[lines.count - 1] = "**\(found)**" + head.output.3
                // A duplicated block has no reliable answer.
                if byKey[found] != nil {
                    byKey[found] = Answer(mark: .none, proposal: nil)
                    key = nil
                } else {
                    byKey[found] = Answer(mark: Self.mark(head.output.1), proposal: nil)
                    key = found
                }
            } else if first == UInt8(ascii: "`"), let mark = line.prefixMatch(of: Self.opening),
                key.map({ byKey[$0]?.proposal == nil }) ?? false
            {
                fence = (mark.output.1, [])
            } else if line.hasPrefix("#") {
                key = nil
            }
        }
    }

    private static let bullets = Set("-*+".utf8)

    private static var head: Regex<(Substring, Substring, Substring, Substring)> {
        /\s{0,3}[-*+] \[([^\]]{0,12})\] \*\*([0-9a-f]{4,12})\*\*(.*)/
    }

    private static var opening: Regex<(Substring, Substring)> { /\s{0,3}(`{3,})/ }

    private static func mark(_ text: Substring) -> Mark {
        switch text.filter({ !$0.isWhitespace }) {
        case "x", "X": .accept
        case "x!", "X!": .acceptNow
        case "-": .skip
        case "": .none
        default: .unknown(String(text))
        }
    }

    private static func closes(_ line: Substring, _ mark: Substring) -> Bool {
        let text = line.drop { $0 == " " }
        let ticks = text.prefix { $0 == "`" }
        return ticks.count >= mark.count && text.dropFirst(ticks.count).allSatisfy { $0 == " " }
    }

    private static func unindented(_ line: Substring) -> Substring {
        line.dropFirst(line.prefix(2).prefix { $0 == " " }.count)
    }

    /// Whether this sidecar has a line that `other` lacks, ignoring marks: a person's own words.
    package func holdsMore(than other: SidecarAnswers) -> Bool {
        let known = Set(other.lines.map { Self.trimmed($0) })
        return lines.contains { !known.contains(Self.trimmed($0)) }
    }

    private static func trimmed(_ line: String) -> Substring {
        var line = line[...]
        while line.last == " " || line.last == "\t" { line = line.dropLast() }
        return line
    }
}
