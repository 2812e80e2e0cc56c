import Platform

/// The claims of a RAR 4's headers about its entries, as reported by the worker's command `claims`.
struct RarClaims {
    struct Entry {
        let header: EntryHeader
        let size: Int64
        let crc32: UInt32
    }

    private(set) var structure = ArchiveStructure(format: .unknown, traits: [])
    private(set) var entries: [Entry] = []
    /// Bytes of all entries.
    private(set) var total: Int64 = 0
    private var names = 0
    private var header: EntryHeader?

    /// - Returns: false if the worker's records make no sense.
    mutating func consume(_ record: WorkerRecord) -> Bool {
        switch record {
        case .structure(let found): structure = found
        case .header(let found):
            names += found.path.count
            guard header == nil, found.position == entries.count, entries.count < ArchiveLimits.maxHeaderCount,
                names <= ArchiveLimits.maxNamesLength
            else { return false }
            header = found
        case .content(let content):
            guard let found = header, content.position == found.position else { return false }
            header = nil
            // A folder has no bytes, regardless of its header.
            let size = found.kind == .folder ? 0 : content.size
            let (sum, overflow) = total.addingReportingOverflow(size)
            total = overflow ? .max : sum
            entries.append(Entry(header: found, size: size, crc32: size == 0 ? 0 : content.crc32))
        case .bytes, .order: return false
        case .end: break
        }
        return true
    }
}
