import Platform

/// Why an archive has no pages that may be shown.
package enum NoPages: Error {
    /// An entry condemns it; for people, after its name.
    case refused(RefusalReason, String)
    case encrypted
    case empty
}

extension EntryHeader {
    /// The pages among an archive's headers, in the order of an EPUB's spine or the natural one of their paths. The worker
    /// and the agent both find them so.
    package static func pages(
        among headers: [EntryHeader], order: EpubOrder? = nil
    ) throws(NoPages) -> [EntryHeader] {
        if order?.isEncrypted == true { throw .encrypted }
        var seen: Set<[UInt8]> = []
        var pages: [EntryHeader] = []
        for header in headers {
            switch EntryRole(of: header) {
            case .refused(let reason, let what):
                throw .refused(reason, EntryRole.refusal(BytePath(bytes: header.path), what))
            case .page where header.isEncrypted: throw .encrypted
            case .page:
                if !header.claimsTooMuch, seen.insert(header.path).inserted { pages.append(header) }
            case .metadata, .skipped: break
            }
        }
        guard !pages.isEmpty else { throw .empty }
        let natural = PageOrder.sorted(pages) { $0.path }
        return order?.sorted(natural, position: \.position) ?? natural
    }

    /// Whether it is no page because it is too large. The header decides, which is all that a list reads; where it lies
    /// the archive is damaged.
    package var claimsTooMuch: Bool { declaredSize > ArchiveLimits.maxUncompressedEntrySize }
}
