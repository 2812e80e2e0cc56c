import Platform
import TKCore

/// A review that was begun under a draft's new name before the one under its former name followed: by `tk lsp`, which
/// records skips there, by `tk findings add`, or by ticks in a sidecar whose move was interrupted.
extension ReviewDraft {
    /// Both reviews in one.
    ///
    /// - Parameters:
    ///   - known: the review under the former name, with its sidecar.
    ///   - stored: the state under the new name, with its sidecar.
    /// - Returns: the state, and the sidecars that hold somebody's own words; nil if the state under the new name is
    ///   of another text.
    static func merged(
        _ known: (state: ReviewState, sidecar: String?), with stored: (bytes: [UInt8], sidecar: String?),
        at new: ReviewFiles, _ held: HeldFiles
    ) throws -> (state: ReviewState, ownWords: [String])? {
        guard let draft = try ReviewOrigin.text(new, held),
            let begun = try ReviewOrigin.state(stored.bytes, at: new.state),
            begun.content == ContentHash(of: Array(draft.string.utf8)) || ReviewOrigin.fits(begun, draft)
        else { return nil }
        let older = ReviewRound(adding: [], to: known.state, of: draft, sidecar: known.sidecar)
        let newer = ReviewRound(adding: [], to: begun, of: draft, sidecar: stored.sidecar)
        var state = older.state
        state.take(newer.state)
        let own = [(older, known.sidecar), (newer, stored.sidecar)].compactMap { $0.holdsOwnWords ? $1 : nil }
        return (state, own)
    }
}

extension ReviewState {
    /// Adds another state of the same draft: its answers to findings that are open here, and findings that are not here.
    mutating func take(_ newer: ReviewState) {
        var places: [String: Int] = [:]
        for (index, finding) in findings.enumerated() { for one in finding.all { places[one.id] = index } }
        var used = Set(findings.map(\.key))
        for var finding in newer.findings {
            guard let index = finding.all.lazy.compactMap({ places[$0.id] }).first else {
                finding.key = KnownFindings.key(for: finding.suggestion.id, among: used)
                used.insert(finding.key)
                findings.append(finding)
                continue
            }
            let known = findings[index]
            let isAnswered = !finding.isOpen || finding.isTicked || finding.asked != nil
            if known.isOpen, isAnswered {
                finding.key = known.key
                findings[index] = finding
                let exchanges = (known.exchanges ?? []) + (finding.exchanges ?? [])
                findings[index].exchanges = exchanges.isEmpty ? nil : exchanges
            }
            let ids = Set(findings[index].all.map(\.id))
            findings[index].others += (known.all + finding.all).filter { !ids.contains($0.id) }
        }
        journey = journey ?? newer.journey
        sort()
    }
}
