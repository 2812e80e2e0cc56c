import Platform
import TKCore

/// Finds the review of the draft that a new one was made from: by an editor's save-as, by copying, or by a rename that
/// the ledger could not recognise because the editor made a new file. A template fits as well, so this is no proof: the
/// old review stays.
enum ReviewOrigin {
    /// Only so many states are read, the latest ones, or each draft of a large folder would read all others' states.
    private static let most = 16

    /// The review in the draft's folder whose findings are mostly in the draft, the one with the most of them; nil if
    /// there is none. Blocks.
    static func find(_ files: ReviewFiles, _ held: HeldFiles) throws -> ReviewFiles? {
        guard try held.status(files.state.parent) != nil, let draft = try text(files, held) else { return nil }
        let content = ContentHash(of: Array(draft.string.utf8))
        let resolver = AnchorResolver(draft)
        var best: (files: ReviewFiles, findings: Int)?
        for (path, state) in try states(beside: files, held) {
            let findings = state.content == content ? .max : count(state, by: resolver)
            if findings > best?.findings ?? 0 { best = (path, findings) }
        }
        return best?.files
    }

    /// The draft; nil if it cannot be read. Blocks.
    static func text(_ files: ReviewFiles, _ held: HeldFiles) throws -> DraftText? {
        guard let size = try held.status(files.draft)?.size, UnreadableDraft.reason(size: size) == nil,
            let bytes = try ReviewDraft.bytes(files.draft, held), DraftText.unreadable(bytes) == nil
        else { return nil }
        return try DraftText(bytes, files.draft.description, path: files.draft)
    }

    /// Whether a text holds at least half of a review's findings.
    static func fits(_ state: ReviewState, _ draft: DraftText) -> Bool { count(state, by: AnchorResolver(draft)) > 0 }

    /// nil if it cannot be read: the review of its own draft says so.
    static func state(_ bytes: [UInt8], at path: BytePath) throws -> ReviewState? {
        do {
            return try ReviewState(json: bytes, at: path)
        } catch is Fault {
            return nil
        }
    }

    /// The number of findings that a text holds; 0 if they are less than half. The open ones were in their draft when
    /// it was last saved; without any, all count.
    private static func count(_ state: ReviewState, by resolver: AnchorResolver) -> Int {
        let open = state.findings.filter(\.isOpen)
        let findings = open.isEmpty ? state.findings : open
        let found = findings.count { resolver.certainRange(of: $0.applied ?? $0.suggestion.anchor) != nil }
        return found * 2 >= findings.count ? found : 0
    }

    private static func states(
        beside files: ReviewFiles, _ held: HeldFiles
    ) throws -> [(files: ReviewFiles, state: ReviewState)] {
        let ending = Array(".json".utf8)
        let found = try held.list(files.state.parent).compactMap { entry -> (files: ReviewFiles, modified: Int64)? in
            guard entry.name.count > ending.count, entry.name.suffix(ending.count).elementsEqual(ending) else {
                return nil
            }
            let name = Array(entry.name.dropLast(ending.count))
            let review = ReviewFiles(draft: files.draft.parent.appending(name: name))
            guard let status = try held.status(review.state), status.kind == .file else { return nil }
            return (review, status.fingerprint.modified)
        }
        return try found.sorted { $0.modified > $1.modified }.prefix(most).compactMap { review, _ in
            guard let bytes = try ReviewDraft.bytes(review.state, held) else { return nil }
            return try state(bytes, at: review.state).map { (review, $0) }
        }
    }
}
