import Platform
import Sandbox

/// One pass over an archive's headers, in the worker. It stops at the limits on its own; the agent counts again.
final class UnpackPass {
    private var archive: LibraryArchive
    private let bytes: HandedFile
    private let output: RecordOutput
    /// Opens the archive again, to read it from the beginning.
    private let again: () throws -> LibraryArchive
    private var rarFiles: [RarFile]?
    private var rarIndex = 0
    private var zip: ZipComparison?
    /// Whether to report where the pages of a ZIP are.
    private var tellsPlaces = false
    private var inflated: Int64 = 0
    private var names = 0
    private var pages = 0
    /// The most bytes of an entry; nil for the limits of pages and metadata files.
    private var most: Int64?
    /// Whether the agent packed it itself, so that its size cannot be an attack.
    private var isOwn = false

    /// What a pass reports, apart from the bytes of an entry that was requested.
    private enum Verbosity { case all, headers, nothing }
    private var saying = Verbosity.all
    /// Inflated bytes reported to the agent, and how many need not be reported at once.
    private var told: Int64 = 0
    private static let untold: Int64 = 8 << 20

    /// Bytes of an entry per record.
    private static let handLength = 262_144

    /// The bytes of entries that the worker itself needs.
    private var kept: [Int: [UInt8]] = [:]
    private var keptLimit = 0

    init(
        archive: LibraryArchive, bytes: HandedFile, output: RecordOutput, again: @escaping () throws -> LibraryArchive
    ) {
        self.archive = archive
        self.bytes = bytes
        self.output = output
        self.again = again
    }

    /// What to do with the bytes of an entry.
    private enum Use { case judge(hash: Bool), hand, keep, skip }

    func inspect(hashes: Bool) throws {
        tellsPlaces = true
        try walk(tellsOrder: true) { header in
            switch EntryRole(of: header) {
            case .page: header.isEncrypted ? .skip : .judge(hash: hashes)
            case .metadata: header.isEncrypted ? .skip : .hand
            case .skipped, .refused: .skip
            }
        }
    }

    func unpack(isOwn: Bool) throws {
        self.isOwn = isOwn
        archive.isOwn = isOwn
        most = isOwn ? .max : ArchiveLimits.maxTotalUncompressedSize
        try walk { $0.kind == .file && !$0.isEncrypted ? .hand : .skip }
    }

    func list() throws { try walk(tellsOrder: true) { _ in .skip } }

    func extract(_ positions: Set<Int>) throws {
        var left = positions.count
        try walk(until: { left == 0 }) { header in
            guard positions.contains(header.position) else { return .skip }
            left -= 1
            return header.kind == .file && !header.isEncrypted ? .hand : .skip
        }
    }

    /// All headers, and the bytes of the page at `index` of the reading order, if there is one.
    func page(_ index: Int) throws {
        let scan = try StructureScan.of(bytes)
        var headers: [EntryHeader] = []
        saying = .headers
        let obstacle = visit(scan) { header in
            headers.append(header)
            return .skip
        }
        if let obstacle { return finish(obstacle) }
        let order = try order(of: headers, scan)
        guard let pages = try? EntryHeader.pages(among: headers, order: order), pages.indices.contains(index) else {
            return finish(.complete)
        }
        let wanted = pages[index].position
        var isRead = false
        try rewind()
        let end = visit(scan, until: { isRead }) { header in
            isRead = header.position == wanted
            return isRead && header.kind == .file ? .hand : .skip
        }
        finish(end ?? .complete)
    }

    /// - Parameter tellsOrder: whether to report the order of an EPUB's pages at the end.
    private func walk(
        tellsOrder: Bool = false, until isDone: () -> Bool = { false }, use: (EntryHeader) -> Use
    ) throws {
        let scan = try StructureScan.of(bytes)
        var headers: [EntryHeader] = []
        let obstacle = visit(scan, until: isDone) { header in
            if tellsOrder { headers.append(header) }
            return use(header)
        }
        if obstacle == nil, archive.streamFailure == nil { _ = try order(of: headers, scan) }
        finish(obstacle ?? .complete)
    }

    /// Reads and reports the order of an EPUB's pages; nil if it is none.
    private func order(of headers: [EntryHeader], _ scan: StructureScan) throws -> EpubOrder? {
        let order = try EpubOrder.read(headers) { positions, limit in
            try contents(positions, limit: limit, scan)
        }
        if let order { output.send(.order(order)) }
        return order
    }

    /// Small entries, in memory; leaves out those that are damaged or incomplete.
    ///
    /// - Parameter limit: bytes of all of them.
    private func contents(_ positions: [Int], limit: Int, _ scan: StructureScan) throws -> [Int: [UInt8]] {
        guard !positions.isEmpty else { return [:] }
        var left = Set(positions)
        (kept, keptLimit) = ([:], limit)
        try rewind()
        _ = visit(scan, until: { left.isEmpty }) { header in
            guard left.remove(header.position) != nil else { return .skip }
            return header.kind == .file && !header.isEncrypted ? .keep : .skip
        }
        defer { kept = [:] }
        return kept
    }

    /// Restarts the archive from its beginning, without repeating reports.
    private func rewind() throws {
        archive = try again()
        (rarIndex, names, inflated, told, saying) = (0, 0, 0, 0, .nothing)
    }

    /// - Returns: why it stopped early; nil if it was completed.
    private func visit(
        _ scan: StructureScan, until isDone: () -> Bool = { false }, use: (EntryHeader) -> Use
    ) -> WorkerEnd? {
        rarFiles = scan.rarFiles
        zip = scan.zipEntries.map { ZipComparison(entries: $0, bytes: bytes) }
        if saying != .nothing { output.send(.structure(scan.structure)) }
        if let reason = refusal(scan.structure) { return WorkerEnd(reason) }
        guard archive.open(as: scan.structure.format, to: scan.end) else {
            return WorkerEnd(.unreadable, archive.error)
        }
        var position = 0
        while !isDone() {
            let step = archive.next()
            switch step {
            case .end:
                archive.finishStream()
                if let missing = scan.missing(entries: position, format: archive.format) {
                    return WorkerEnd(.unreadable, missing)
                }
                return nil
            case .fatal: return WorkerEnd(.unreadable, archive.error)
            case .header, .badEntry: break
            }
            // The scan counts a header that libarchive cannot use like any other.
            let rar = nextRarFile()
            var header = archive.header(at: position)
            // The name as packed: libarchive normalizes decomposed ones.
            if isOwn, let name = zip?.name(at: position) { header.path = name }
            var complaint = step == .badEntry ? archive.error : nil
            if step == .header, let found = zip?.look(at: header, linkLength: archive.linkLength) {
                if tellsPlaces { header.place = found.place }
                // A name that points elsewhere is worse than a duplicate.
                if case .refused = EntryRole(of: header) {} else { complaint = found.complaint }
            }
            if complaint != nil { (header.kind, header.path) = (.unreadable, []) }
            if rar?.isEncrypted == true { header.isEncrypted = true }
            if saying != .nothing { output.queue(.header(header)) }
            position += 1
            names += header.path.count
            if position > ArchiveLimits.maxHeaderCount { return WorkerEnd(.tooManyHeaders) }
            if names > ArchiveLimits.maxNamesLength { return WorkerEnd(.tooManyNames) }
            if let complaint {
                if saying == .all { output.send(.content(bad(header.position, complaint))) }
                continue
            }
            if let reason = read(header, rar, use(header)) { return WorkerEnd(reason) }
        }
        return nil
    }

    private func refusal(_ structure: ArchiveStructure) -> WorkerEnd.Reason? {
        if structure.traits.contains(.overlap) { return .overlap }
        if structure.traits.contains(.tooManyHeaders) { return .tooManyHeaders }
        let closed = !structure.traits.isDisjoint(with: [.multiVolume, .encryptedHeaders])
        return closed ? .unreadable : nil
    }

    private func nextRarFile() -> RarFile? {
        defer { rarIndex += 1 }
        guard let rarFiles, rarIndex < rarFiles.count else { return nil }
        return rarFiles[rarIndex]
    }

    /// Reads an entry as `use` says and reports on it; returns a limit that was exceeded, otherwise nil.
    private func read(_ header: EntryHeader, _ rar: RarFile?, _ use: Use) -> WorkerEnd.Reason? {
        var wantsHash = false
        var hands = false
        var keeps = false
        switch use {
        case .skip: return nil
        case .hand: hands = true
        case .keep: keeps = true
        case .judge(let hash):
            wantsHash = hash
            pages += 1
            if pages > ArchiveLimits.maxEntryCount { return .tooManyPages }
        }
        if let obstacle = rar?.obstacle {
            if keeps { return nil }
            output.send(.content(bad(header.position, obstacle)))
            return nil
        }
        let isMetadata = EntryRole(of: header) == .metadata
        let most =
            self.most ?? (isMetadata ? ArchiveLimits.maxMetadataSize : ArchiveLimits.maxUncompressedEntrySize)
        let isRar = rarFiles != nil
        var content = EntryContent(
            position: header.position, state: .whole, size: 0, crc32: 0, hash: nil, image: nil, message: "")
        var crc = CRC32()
        var blake: Blake2sp? = rar?.isStored == true && rar?.blake2sp != nil ? Blake2sp() : nil
        var hash = wantsHash ? StreamingHash() : nil
        var picture = PictureHead()
        var own: [UInt8] = []
        reading: while true {
            let part: UnsafeRawBufferPointer
            switch archive.nextPart() {
            case .bytes(let bytes): part = bytes
            case .end: break reading
            case .damaged:
                if let failure = archive.streamFailure, failure.reason != .damagedStream { return failure.reason }
                content.state = .damaged
                content.message = archive.error
                break reading
            }
            content.size += Int64(part.count)
            inflated += Int64(part.count)
            if !isOwn, inflated > ArchiveLimits.maxTotalUncompressedSize { return .tooManyBytes }
            if !isOwn, inflated > ArchiveLimits.ratioFloor, inflated / ArchiveLimits.maxRatio > bytes.size {
                return .ratio
            }
            if content.size > most {
                content.state = .oversize
                break reading
            }
            if isRar { crc.update(part) }
            blake?.update(part)
            hash?.update(part)
            if hands {
                hand(part, header.position)
            } else if keeps {
                if own.count + part.count > keptLimit { return .tooManyBytes }
                own += part
            } else {
                picture.consume(part)
            }
        }
        if keeps { keptLimit -= own.count }
        content.crc32 = isRar ? crc.value : 0
        if content.state == .whole {
            if isRar, let complaint = complaint(about: content, rar, blake?.finish()) {
                content.state = .damaged
                content.message = complaint
            }
            content.hash = hash?.finish()
            if keeps, content.state == .whole { kept[header.position] = own }
            if !hands, !keeps, content.state == .whole { look(picture, &content) }
        }
        if !keeps { report(content) }
        return nil
    }

    /// Reports problems at once, and good results every few pages.
    private func report(_ content: EntryContent) {
        let isWell = content.state == .whole && content.message.isEmpty
        if isWell && inflated - told < Self.untold { return output.queue(.content(content)) }
        told = inflated
        output.send(.content(content))
    }

    private func hand(_ part: UnsafeRawBufferPointer, _ position: Int) {
        for start in stride(from: 0, to: part.count, by: Self.handLength) {
            let end = min(start + Self.handLength, part.count)
            output.send(.bytes(position: position, Array(part[start..<end])))
        }
    }

    /// Judges a page by the header of its picture.
    private func look(_ picture: PictureHead, _ content: inout EntryContent) {
        switch picture.reading {
        case .found(let image):
            content.image = image
            if image.isTooLarge { content.message = "it claims \(image.width) × \(image.height) pixels" }
        case .beyond(let format, _) where picture.isFull:
            content.message = "its \(format.rawValue) header gives no size in its first \(PictureHead.most >> 20) MiB"
        case .beyond: content.message = "its picture is cut short"
        case .damaged(let format, let reason): content.message = "its \(format.rawValue) header is damaged: \(reason)"
        case .unknown: content.message = "it is no picture"
        }
    }

    /// libarchive returns the bytes of a stored RAR entry without verifying their checksum.
    private func complaint(about content: EntryContent, _ rar: RarFile?, _ blake2sp: [UInt8]?) -> String? {
        guard let rar else { return "its header cannot be found again, so that nothing proves its bytes" }
        if rar.unpackedSize != UInt64(content.size), rar.unpackedSize < UInt64(Int64.max) {
            return "it has \(content.size) bytes where its header says \(rar.unpackedSize)"
        }
        if rar.isStored, rar.crc32 == nil, blake2sp == nil {
            return "its header holds no checksum, so that nothing proves its stored bytes"
        }
        let isWhole = (rar.crc32 ?? content.crc32) == content.crc32 && (blake2sp ?? rar.blake2sp) == rar.blake2sp
        return isWhole ? nil : "its checksum differs from the one in its header"
    }

    private func bad(_ position: Int, _ message: String) -> EntryContent {
        EntryContent(position: position, state: .damaged, size: 0, crc32: 0, hash: nil, image: nil, message: message)
    }

    private func finish(_ end: WorkerEnd) {
        var end = end
        if let (reason, message) = archive.streamFailure { end = WorkerEnd(reason, message) }
        if end.reason == .unreadable, end.message.isEmpty, archive.hasEncryptedEntries { end.message = "encrypted" }
        output.send(.end(end))
    }
}

extension WorkerEnd {
    fileprivate static let complete = WorkerEnd(.complete)

    fileprivate init(_ reason: Reason, _ message: String = "") { self.init(reason: reason, message: message) }
}

/// The beginning of a picture: as much as its header needs; the rest is discarded.
private struct PictureHead {
    /// Enough for the headers of images with profiles, thumbnails and depth maps.
    static let most = 8 << 20
    private static let least = 4096

    private var bytes: [UInt8] = []
    private var wanted = Self.least
    /// Bytes to skip before keeping more: the directory of a TIFF may follow its picture.
    private var passing = 0
    private var found: ImageHeader.Reading?

    /// Whether the file had more than is examined.
    var isFull: Bool { found != nil }

    mutating func consume(_ part: UnsafeRawBufferPointer) {
        var rest = part[...]
        while found == nil, !rest.isEmpty {
            if passing > 0 {
                let passed = min(passing, rest.count)
                passing -= passed
                rest = rest.dropFirst(passed)
                continue
            }
            let more = rest.prefix(wanted - bytes.count)
            bytes += more
            rest = rest.dropFirst(more.count)
            if bytes.count == wanted { examine() }
        }
    }

    /// More bytes never change a result, unless they were too few.
    private mutating func examine() {
        let reading = ImageHeader.examine(bytes)
        if let (head, directory) = ImageHeader.farDirectory(bytes) {
            passing = directory - bytes.count
            bytes = head
        } else if case .beyond(_, let needs) = reading, wanted < Self.most {
            wanted = min(Self.most, max(needs, 2 * wanted))
        } else {
            found = reading
        }
    }

    var reading: ImageHeader.Reading { found ?? ImageHeader.examine(bytes) }
}
