import Platform

/// One walk over an archive's headers, in the worker. Stops by itself where a limit is passed; the agent counts again.
final class UnpackPass {
    private let archive: LibraryArchive
    private let file: Descriptor
    private let size: Int64
    private let output: RecordOutput
    private let buffer: UnsafeMutableRawBufferPointer
    private var rarFiles: [RarFile]?
    private var rarIndex = 0
    private var inflated: Int64 = 0
    private var names = 0
    private var pages = 0

    /// Enough for the headers of images that carry profiles and thumbnails.
    private static let headLength = 262_144

    init(archive: LibraryArchive, file: Descriptor, size: Int64, output: RecordOutput) {
        self.archive = archive
        self.file = file
        self.size = size
        self.output = output
        buffer = .allocate(byteCount: 262_144, alignment: 64)
    }

    deinit { buffer.deallocate() }

    /// What is done with the bytes of an entry.
    private enum Use { case judge(hash: Bool), hand, skip }

    func inspect(hashes: Bool) throws {
        try walk { header in
            switch EntryRole(of: header) {
            case .page: header.isEncrypted ? .skip : .judge(hash: hashes)
            case .metadata: header.isEncrypted ? .skip : .hand
            case .skipped, .refused: .skip
            }
        }
    }

    func list() throws { try walk { _ in .skip } }

    func extract(_ positions: Set<Int>) throws {
        var left = positions.count
        try walk(until: { left == 0 }) { header in
            guard positions.contains(header.position) else { return .skip }
            left -= 1
            return header.kind == .file && !header.isEncrypted ? .hand : .skip
        }
    }

    private func walk(until isDone: () -> Bool = { false }, use: (EntryHeader) -> Use) throws {
        let scan = try StructureScan.of(file, size: size)
        rarFiles = scan.rarFiles
        output.send(.structure(scan.structure))
        if let stop = refusal(scan.structure) { return finish(stop) }
        guard archive.open() else { return finish(.unreadable, archive.error) }
        var position = 0
        while !isDone() {
            let step = archive.next()
            switch step {
            case .end: return finish(.complete)
            case .fatal: return finish(.unreadable, archive.error)
            case .header, .badEntry: break
            }
            let rar = step == .header ? nextRarFile() : nil
            var header = archive.header(at: position)
            if rar?.isEncrypted == true { header.isEncrypted = true }
            output.send(.header(header))
            position += 1
            names += header.path.count
            if position > ArchiveLimits.maxHeaderCount { return finish(.tooManyHeaders) }
            if names > ArchiveLimits.maxNamesLength { return finish(.tooManyNames) }
            if step == .badEntry {
                output.send(.content(bad(header.position, archive.error)))
                continue
            }
            if let stop = read(header, rar, use(header)) { return finish(stop) }
        }
        finish(.complete)
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

    /// Reads an entry as `use` says and reports on it; a limit that was passed, else nil.
    private func read(_ header: EntryHeader, _ rar: RarFile?, _ use: Use) -> WorkerEnd.Reason? {
        var wantsHash = false
        var hands = false
        switch use {
        case .skip: return nil
        case .hand: hands = true
        case .judge(let hash):
            wantsHash = hash
            pages += 1
            if pages > ArchiveLimits.maxEntryCount { return .tooManyPages }
        }
        let isMetadata = EntryRole(of: header) == .metadata
        let most = isMetadata ? ArchiveLimits.maxMetadataSize : ArchiveLimits.maxUncompressedEntrySize
        let isRar = rarFiles != nil
        var content = EntryContent(
            position: header.position, state: .whole, size: 0, crc32: 0, hash: nil, image: nil, message: "")
        var crc = CRC32()
        var hash = StreamingHash()
        var head: [UInt8] = []
        reading: while true {
            let got = archive.read(into: buffer)
            if got == 0 { break }
            if got < 0 {
                content.state = .damaged
                content.message = archive.error
                break
            }
            content.size += Int64(got)
            inflated += Int64(got)
            if inflated > ArchiveLimits.maxTotalUncompressedSize { return .tooManyBytes }
            if inflated > ArchiveLimits.ratioFloor, inflated / ArchiveLimits.maxRatio > size { return .ratio }
            if content.size > most {
                content.state = .oversize
                break reading
            }
            let part = UnsafeRawBufferPointer(rebasing: buffer[..<got])
            if isRar { crc.update(part) }
            if wantsHash { hash.update(part) }
            if hands {
                output.send(.bytes(position: header.position, Array(part)))
            } else if head.count < Self.headLength {
                head += part.prefix(Self.headLength - head.count)
            }
        }
        content.crc32 = isRar ? crc.value : 0
        if content.state == .whole {
            if isRar, let complaint = complaint(about: content, rar) {
                content.state = .damaged
                content.message = complaint
            }
            if wantsHash { content.hash = hash.finish() }
            if !hands, content.state == .whole { look(head, &content) }
        }
        output.send(.content(content))
        return nil
    }

    /// Judges a page by the header of its picture.
    private func look(_ head: [UInt8], _ content: inout EntryContent) {
        switch ImageHeader.examine(head) {
        case .found(let image):
            content.image = image
            if image.isTooLarge { content.message = "it claims \(image.width) × \(image.height) pixels" }
        case .beyond where content.size > Int64(head.count): break
        case .beyond: content.message = "its picture is cut short"
        case .damaged(let format, let reason): content.message = "its \(format.rawValue) header is damaged: \(reason)"
        case .unknown: content.message = "it is no picture"
        }
    }

    /// libarchive returns the bytes of a stored RAR entry without comparing their checksum.
    private func complaint(about content: EntryContent, _ rar: RarFile?) -> String? {
        guard let rar else { return "its header cannot be found again, so that nothing proves its bytes" }
        if rar.unpackedSize != UInt64(content.size), rar.unpackedSize < UInt64(Int64.max) {
            return "it has \(content.size) bytes where its header says \(rar.unpackedSize)"
        }
        guard let expected = rar.crc32 else {
            return rar.isStored ? "its header holds no CRC-32, so that nothing proves its stored bytes" : nil
        }
        return expected == content.crc32 ? nil : "its checksum differs from the one in its header"
    }

    private func bad(_ position: Int, _ message: String) -> EntryContent {
        EntryContent(position: position, state: .damaged, size: 0, crc32: 0, hash: nil, image: nil, message: message)
    }

    private func finish(_ reason: WorkerEnd.Reason, _ message: String = "") {
        var message = message
        if reason == .unreadable, message.isEmpty, archive.hasEncryptedEntries { message = "encrypted" }
        output.send(.end(WorkerEnd(reason: reason, message: message)))
    }
}
