import Platform
import TKCore

/// The lines of a draft to review, counted from 1.
struct LineSelection: Sendable {
    private let lines: ClosedRange<Int>

    /// `12` or `12-30`; nil for anything else.
    init?(_ text: String) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1], first >= 1,
            first <= last
        else { return nil }
        lines = first...last
    }

    /// The selected scalars, without the last line's newline.
    ///
    /// - Throws: `Fault` (`.usage`) if the draft has too few lines.
    func range(in draft: DraftText, _ name: String) throws -> Range<Int> {
        guard lines.lowerBound <= draft.lineCount else {
            let count = draft.lineCount
            throw Fault(
                .usage, "there is no line \(lines.lowerBound): \(name) has \(count) line\(count == 1 ? "" : "s")")
        }
        let last = min(lines.upperBound, draft.lineCount)
        return draft.range(ofLine: lines.lowerBound).lowerBound..<draft.textRange(ofLine: last).upperBound
    }
}
