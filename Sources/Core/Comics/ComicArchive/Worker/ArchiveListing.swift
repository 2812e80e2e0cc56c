import Platform

/// A worker's listing of an archive, recounted.
package struct ArchiveListing: Sendable {
    package private(set) var headers: [EntryHeader] = []
    /// The reading order of an EPUB.
    private(set) var order: EpubOrder?
    private var names = 0

    /// - Returns: false if the worker's records make no sense.
    mutating func consume(_ record: WorkerRecord) -> Bool {
        switch record {
        case .header(let header):
            names += header.path.count
            guard order == nil, header.position == headers.count, headers.count <= ArchiveLimits.maxHeaderCount,
                names <= ArchiveLimits.maxNamesLength
            else { return false }
            headers.append(header)
        case .order(let found):
            guard order == nil, found.fits(headers.count) else { return false }
            order = found
        case .structure, .content, .bytes, .end: break
        }
        return true
    }
}

/// The listed pages, in reading order.
///
/// - Throws: `ComicError.archive` if there are none, or none may be shown.
func pageHeaders(_ listing: ArchiveListing) throws -> [EntryHeader] {
    do {
        return try EntryHeader.pages(among: listing.headers, order: listing.order)
    } catch .refused(let reason, let text) {
        let cause = Fault(.refused, text, code: reason.rawValue)
        throw ComicError.archive(.extractionFailed(underlying: cause))
    } catch .encrypted {
        throw ComicError.archive(.passwordProtected)
    } catch .empty {
        throw ComicError.archive(.emptyArchive)
    }
}
