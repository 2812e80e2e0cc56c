import TKCore

/// The findings marked `[?]`, with the words that a person added to their blocks.
enum SidecarQuestions {
    /// - Returns: questions by the open findings' keys; empty for just another proposal.
    static func asked(in sidecar: String?, of state: ReviewState) -> [String: String] {
        guard let sidecar else { return [:] }
        let answers = SidecarAnswers(sidecar, of: state)
        return state.findings.reduce(into: [:]) { asked, finding in
            guard finding.isOpen, answers.byKey[finding.key]?.mark == .ask else { return }
            asked[finding.key] = question(answers.blocks[finding.key] ?? [], about: finding)
        }
    }

    /// The added words of a block; else those that are asked already.
    static func question(_ block: [String], about finding: ReviewFinding) -> String {
        let words = added(to: block, of: finding).map(\.words).filter { !$0.isEmpty }.joined(separator: " ")
        return words.isEmpty ? finding.asked ?? "" : String(words.prefix(AnotherProposal.longestQuestion))
    }

    /// The lines with words that the finding's own block lacks, and those words.
    static func added(to block: [String], of finding: ReviewFinding) -> [(line: String, words: String)] {
        let own =
            SidecarAnswers(ReviewSidecar.block(finding).joined(separator: "\n"), keys: [finding.key])
            .blocks[finding.key] ?? []
        guard let head = block.first, let ownHead = own.first else { return [] }
        let (typed, known) = (head.split(separator: " "), ownHead.split(separator: " "))
        let same = zip(typed, known).prefix { $0 == $1 }.count
        let afterHead = typed.dropFirst(same).joined(separator: " ")
        let ownLines = Set(own.dropFirst().map(trimmed))
        let below = block.dropFirst().map { (line: $0, words: trimmed($0)) }
            .filter { !$0.words.isEmpty && !ownLines.contains($0.words) }
            .map { (line: $0.line, words: trimmed(String($0.words.drop { $0 == ">" }))) }
        return (afterHead.isEmpty ? [] : [(line: head, words: afterHead)]) + below
    }

    private static func trimmed(_ line: String) -> String {
        line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
