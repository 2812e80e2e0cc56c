import Platform

/// What the headers of a RAR 4 claim of its entries. The worker's command `claims` says it: of each entry a header, and as
/// its content the size and the checksum that it ought to have; nothing is unpacked.
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

    /// In the worker.
    static func tell(_ bytes: ArchiveBytes, _ output: RecordOutput) throws {
        func end(_ reason: WorkerEnd.Reason, _ message: String = "") {
            output.send(.end(WorkerEnd(reason: reason, message: message)))
        }
        let scan = try Rar4Headers.scan(bytes, start: 0, withNames: true)
        output.send(.structure(scan.structure))
        if scan.structure.traits.contains(.tooManyHeaders) { return end(.tooManyHeaders) }
        if !scan.structure.traits.isDisjoint(with: [.multiVolume, .encryptedHeaders]) { return end(.unreadable) }
        var names = 0
        for (position, file) in (scan.rarFiles ?? []).enumerated() {
            guard position < ArchiveLimits.maxHeaderCount else { return end(.tooManyHeaders) }
            // One byte more than may be, so that the agent sees that it is too long.
            let name = Array(file.name.prefix(ArchiveLimits.maxNameLength + 1))
            names += name.count
            guard names <= ArchiveLimits.maxNamesLength else { return end(.tooManyNames) }
            guard let size = Int64(exactly: file.unpackedSize) else { return end(.tooManyBytes) }
            output.queue(
                .header(
                    EntryHeader(
                        position: position, kind: file.kind, isEncrypted: file.isEncrypted, declaredSize: size,
                        path: name)))
            output.queue(
                .content(
                    EntryContent(
                        position: position, state: .whole, size: size, crc32: file.crc32 ?? 0, hash: nil, image: nil,
                        message: "")))
        }
        if let missing = scan.missing(entries: scan.rarFiles?.count ?? 0, format: .rar) {
            return end(.unreadable, missing)
        }
        end(.complete)
    }

    /// In the agent.
    ///
    /// - Returns: false where the worker says what makes no sense.
    mutating func take(_ record: WorkerRecord) -> Bool {
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
            // No bytes follow a folder, whatever its header says.
            let size = found.kind == .folder ? 0 : content.size
            let (sum, overflow) = total.addingReportingOverflow(size)
            total = overflow ? .max : sum
            entries.append(Entry(header: found, size: size, crc32: size == 0 ? 0 : content.crc32))
        case .bytes: return false
        case .end: break
        }
        return true
    }
}
