import Platform

/// Why an archive has no pages that may be shown.
package enum NoPages: Error {
    /// An entry makes the archive unacceptable; text for a person, after the entry's name.
    case refused(RefusalReason, String)
    case encrypted
    case empty
}

extension EntryHeader {
    /// The pages among an archive's headers, in the order of an EPUB's spine or the natural order of their paths. Used
    /// by both the worker and the agent.
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

    /// Whether it is too large to be a page. Decided by the header, which is all that a listing reads; if the header is
    /// wrong, the archive is damaged.
    package var claimsTooMuch: Bool { declaredSize > ArchiveLimits.maxUncompressedEntrySize }
}
