import Platform
import TKCore

/// A person's changes to a sidecar: marks, and edited words in fences.
package struct SidecarAnswers: Sendable, Equatable {
    package enum Mark: Sendable, Equatable {
        case none, accept, skip
        /// Another proposal, or an answer to a question.
        case ask
        /// Accepted even if the draft is open in an editor.
        case acceptNow
        /// An unrecognized mark.
        case unknown(String)
        /// The block's first line could not be read.
        case unreadable(String)
    }

    package struct Answer: Sendable, Equatable {
        package var mark: Mark
        /// Content of the block's fence, with LF; nil if it has none or an unclosed one.
        package var proposal: String?
        /// Words for ``Mark/ask``.
        package var question = ""
        /// What became of it in an editor's buffer, whose text the round is about; nil if the round decides.
        package var outcome: Outcome?

        package init(mark: Mark, proposal: String? = nil, outcome: Outcome? = nil) {
            (self.mark, self.proposal, self.outcome) = (mark, proposal, outcome)
        }
    }

    package enum Outcome: Sendable, Equatable {
        /// With the anchor of its words; nil if it has none.
        case applied(TextAnchor?)
        case left(ReviewFinding.State, String)
    }

    /// By the findings' keys.
    package private(set) var byKey: [String: Answer] = [:]
    /// The keys of all findings in it.
    private(set) var heads: Set<String> = []
    /// The lines of each block outside its fence, the first one from its key on.
    private(set) var blocks: [String: [String]] = [:]
    /// The sidecar's lines without marks.
    private var lines: [String] = []
    /// Lines with a box and without a key, in order.
    package private(set) var strays: [String] = []

    /// - Parameter keys: those of the review, so that a word without stars can be told from a key.
    package init(_ text: String, keys: Set<String> = []) {
        var key: String?
        var fence: (mark: Substring, lines: [String])?
        /// Set after a head that has no reliable answer: its fence is skipped, or its words could pose as heads.
        var skipsFence = false
        var isCouncil = false
        var unreadable: [(key: String, line: String)] = []
        for line in ReviewSidecar.unified(text).split(separator: "\n", omittingEmptySubsequences: false) {
            if fence == nil, ReviewWaiting.isLine(line) { continue }
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
            switch SidecarHead(line, keys: keys) {
            case .head(let box, let found, let rest):
                lines[lines.count - 1] = "**\(found)** " + rest
                // A duplicated block has no reliable answer.
                skipsFence = byKey[found] != nil
                byKey[found] = Answer(mark: skipsFence ? .none : Self.mark(box), proposal: nil)
                key = skipsFence ? nil : found
                if let key { blocks[key] = [lines[lines.count - 1]] }
            case .unreadable(let found?) where byKey[found] == nil && !isCouncil:
                unreadable.append((found, String(line)))
                (key, skipsFence) = (nil, true)
            case .unreadable(nil) where !isCouncil:
                strays.append(String(line))
                if key.map({ byKey[$0]?.proposal != nil }) ?? true { (key, skipsFence) = (nil, true) }
            case .unreadable, nil:
                if skipsFence || key.map({ byKey[$0]?.proposal == nil }) ?? false,
                    let mark = line.prefixMatch(of: Self.opening)
                {
                    fence = (mark.output.1, [])
                    skipsFence = false
                } else if line.hasPrefix("#") {
                    (key, skipsFence) = (nil, false)
                    isCouncil = line.hasPrefix("## Council") || isCouncil && line.hasPrefix("###")
                } else if let key {
                    blocks[key]?.append(String(line))
                }
            }
        }
        for (key, line) in unreadable where byKey[key] == nil {
            byKey[key] = Answer(mark: .unreadable(line), proposal: nil)
        }
        heads = Set(byKey.keys)
    }

    /// The answers in a sidecar that have not been taken from it before.
    init(_ text: String, of state: ReviewState) {
        let keys = Set(state.findings.map(\.key))
        self.init(text, keys: keys)
        guard let heard = state.heard.map({ SidecarAnswers($0, keys: keys) }) else { return }
        byKey = byKey.filter { heard.byKey[$0] != $1 || heard.blocks[$0] != blocks[$0] }
    }

    private static var opening: Regex<(Substring, Substring)> { /\s{0,3}(`{3,})/ }

    private static func mark(_ text: String) -> Mark {
        switch text.filter({ !$0.isWhitespace }) {
        case "x", "X": .accept
        case "x!", "X!": .acceptNow
        case "-": .skip
        case "?": .ask
        case "": .none
        default: .unknown(text)
        }
    }

    private static func closes(_ line: Substring, _ mark: Substring) -> Bool {
        let text = line.drop { $0 == " " || $0 == "\t" }
        let ticks = text.prefix { $0 == "`" }
        return ticks.count >= mark.count && text.dropFirst(ticks.count).allSatisfy { $0 == " " }
    }

    private static func unindented(_ line: Substring) -> Substring {
        line.first == "\t" ? line.dropFirst() : line.dropFirst(line.prefix(2).prefix { $0 == " " }.count)
    }

    /// Whether this sidecar has a line that `other` lacks, ignoring marks and its header: a person's own words.
    ///
    /// - Parameter answered: lines that get an answer.
    package func holdsMore(than other: SidecarAnswers, answered: Set<String> = []) -> Bool {
        let known = Set(other.lines.map { Self.trimmed($0) })
        return lines.contains { line in
            !known.contains(Self.trimmed(line)) && !answered.contains(line) && !SidecarHeader.isHeader(line)
        }
    }

    private static func trimmed(_ line: String) -> Substring {
        var line = line[...]
        while line.last == " " || line.last == "\t" { line = line.dropLast() }
        return line
    }
}
