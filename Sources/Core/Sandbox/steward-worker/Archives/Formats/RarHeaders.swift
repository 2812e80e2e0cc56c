import Platform
import Sandbox

extension Rar4Headers {
    /// - Parameter withNames: whether to collect the files' names and kinds. No other code reads these headers, so each
    ///   is read whole and its checksum verified.
    static func scan(_ file: HandedFile, start: Int64, withNames: Bool = false) throws -> StructureScan {
        var traits: ArchiveStructure.Traits = []
        var files: [RarFile] = []
        var hasEnd = false
        var isBetween = false
        var isDamaged = false
        var offset = start + Int64(signature.count)
        for count in 0... {
            if count > 2 * ArchiveLimits.maxHeaderCount {
                traits.insert(.tooManyHeaders)
                break
            }
            isBetween = offset == file.size && !files.isEmpty
            guard offset < file.size else { break }
            var block = ByteCursor(try file.read(at: offset, count: 64))
            guard block.skip(2), let type = block.number(1), let flags = block.number(2), let length = block.number(2),
                length >= 7
            else { break }
            if withNames {
                let header = try file.read(at: offset, count: Int(length))
                guard isSound(header, type: type, flags: flags) else {
                    isDamaged = true
                    break
                }
                block = ByteCursor(header, at: block.position)
            }
            var dataSize: UInt64 = 0
            switch type {
            case 0x73:
                if flags & 0x0001 != 0 { traits.insert(.multiVolume) }
                if flags & 0x0008 != 0 { traits.insert(.solid) }
                if flags & 0x0080 != 0 { traits.formUnion([.encrypted, .encryptedHeaders]) }
            case 0x74, 0x7A:
                guard let found = readFile(&block, flags: flags, isNamed: withNames && type == 0x74) else {
                    return result(traits, files, hasEnd: hasEnd)
                }
                dataSize = found.packedSize
                guard type == 0x74 else { break }
                if found.file.isEncrypted { traits.insert(.encrypted) }
                if flags & 0x0003 != 0 { traits.insert(.multiVolume) }
                if flags & 0x0010 != 0 { traits.insert(.solid) }
                files.append(found.file)
            default:
                if flags & 0x8000 != 0 {
                    guard let added = block.number(4) else { return result(traits, files, hasEnd: hasEnd) }
                    dataSize = added
                }
            }
            hasEnd = type == 0x7B
            if hasEnd || traits.contains(.encryptedHeaders) { break }
            guard dataSize <= UInt64(file.size) else { break }
            offset += Int64(length) + Int64(dataSize)
        }
        var scan = result(traits, files, hasEnd: hasEnd, isBetween)
        scan.hasDamagedHeader = isDamaged
        return scan
    }

    /// Whether a header is intact, judged by the lower half of its CRC-32.
    private static func isSound(_ header: [UInt8], type: UInt64, flags: UInt64) -> Bool {
        guard header.count >= 7 else { return false }
        func isSum(_ part: ArraySlice<UInt8>) -> Bool {
            CRC32.of(Array(part)) & 0xFFFF == UInt32(header[0]) | UInt32(header[1]) << 8
        }
        if isSum(header[2...]) { return true }
        // RAR 2 stored comments in headers, after the part that the checksum covers.
        if type == 0x74 { return flags & 0x0008 != 0 }
        return [0x73, 0x75].contains(type) && header.count > 13 && isSum(header[2..<13])
    }

    private static func readFile(
        _ block: inout ByteCursor, flags: UInt64, isNamed: Bool
    ) -> (file: RarFile, packedSize: UInt64)? {
        guard var packed = block.number(4), var unpacked = block.number(4), let system = block.number(1),
            let crc = block.number(4), block.skip(4), let version = block.number(1),
            let method = block.number(1), let nameLength = block.number(2), let attributes = block.number(4)
        else { return nil }
        if flags & 0x0100 != 0 {
            guard let highPacked = block.number(4), let highUnpacked = block.number(4) else { return nil }
            packed |= highPacked << 32
            unpacked |= highUnpacked << 32
        }
        var file = RarFile(
            isStored: method == 0x30, isEncrypted: flags & 0x0004 != 0, unpackedSize: unpacked, crc32: UInt32(crc))
        // libarchive takes older streams for those of RAR 2.9 and reports damage.
        if method != 0x30, version < 29 { file.obstacle = "its compression method is that of RAR 1.5 or 2" }
        if isNamed {
            guard let name = block.bytes(Int(nameLength)) else { return nil }
            file.name = Rar4Name.read(name, isUnicode: flags & 0x0200 != 0)
            file.kind = kind(flags: flags, system: system, attributes: attributes)
        }
        return (file, packed)
    }

    private static func kind(flags: UInt64, system: UInt64, attributes: UInt64) -> EntryHeader.Kind {
        if flags & 0x00E0 == 0x00E0 { return .folder }
        // Only for Unix are the attributes a mode.
        guard system == 3 else { return .file }
        switch attributes & 0xF000 {
        case 0, 0x8000: return .file
        case 0x4000: return .folder
        case 0xA000: return .link
        default: return .other
        }
    }

    private static func result(
        _ traits: ArchiveStructure.Traits, _ files: [RarFile], hasEnd: Bool, _ isBetween: Bool = false
    ) -> StructureScan {
        StructureScan(
            structure: ArchiveStructure(format: .rar, traits: traits), rarFiles: files, entries: files.count,
            hasEnd: hasEnd, endsBetweenEntries: isBetween)
    }
}

extension Rar5Headers {
    static func scan(_ file: HandedFile, start: Int64) throws -> StructureScan {
        var traits: ArchiveStructure.Traits = []
        var files: [RarFile] = []
        var hasEnd = false
        var isBetween = false
        var offset = start + Int64(signature.count)
        for count in 0... {
            if count > 2 * ArchiveLimits.maxHeaderCount {
                traits.insert(.tooManyHeaders)
                break
            }
            isBetween = offset == file.size && !files.isEmpty
            guard offset < file.size, let block = try Block(file, at: offset) else { break }
            var cursor = block.body
            switch block.type {
            case 1:
                let flags = cursor.variable() ?? 0
                if flags & 1 != 0 { traits.insert(.multiVolume) }
                if flags & 4 != 0 { traits.insert(.solid) }
            case 2:
                guard let found = readFile(block) else { return result(traits, files, hasEnd: hasEnd) }
                if found.file.isEncrypted { traits.insert(.encrypted) }
                if block.flags & 0x18 != 0 { traits.insert(.multiVolume) }
                if found.isSolid { traits.insert(.solid) }
                files.append(found.file)
            case 4:
                traits.formUnion([.encrypted, .encryptedHeaders])
            default:
                break
            }
            hasEnd = block.type == 5
            if hasEnd || traits.contains(.encryptedHeaders) { break }
            guard block.dataSize <= UInt64(file.size) else { break }
            offset += Int64(block.length) + Int64(block.dataSize)
        }
        return result(traits, files, hasEnd: hasEnd, isBetween)
    }

    private struct Block {
        var type: UInt64
        var flags: UInt64
        var dataSize: UInt64
        /// Bytes of the whole header, from its checksum on.
        var length: UInt64
        /// Positioned after the common fields.
        var body: ByteCursor
        /// The optional records at the header's end.
        var extra: ByteCursor?

        init?(_ file: HandedFile, at offset: Int64) throws {
            var start = ByteCursor(try file.read(at: offset, count: 16), at: 4)
            guard let size = start.variable(), size > 0, size <= 2 << 20 else { return nil }
            length = UInt64(start.position) + size
            let bytes = try file.read(at: offset, count: Int(length))
            var cursor = ByteCursor(bytes, at: start.position)
            guard bytes.count == Int(length), let type = cursor.variable(), let flags = cursor.variable() else {
                return nil
            }
            self.type = type
            self.flags = flags
            dataSize = 0
            if flags & 1 != 0 {
                guard let extraSize = cursor.variable(), extraSize <= length else { return nil }
                extra = ByteCursor(bytes, at: Int(length - extraSize))
            }
            if flags & 2 != 0 {
                guard let size = cursor.variable() else { return nil }
                dataSize = size
            }
            body = cursor
        }
    }

    private static func readFile(_ block: Block) -> (file: RarFile, isSolid: Bool)? {
        var cursor = block.body
        guard let flags = cursor.variable(), let unpacked = cursor.variable(), cursor.variable() != nil else {
            return nil
        }
        if flags & 2 != 0, !cursor.skip(4) { return nil }
        var crc: UInt32?
        if flags & 4 != 0 {
            guard let value = cursor.number(4) else { return nil }
            crc = UInt32(value)
        }
        guard let compression = cursor.variable() else { return nil }
        var isEncrypted = false
        var blake2sp: [UInt8]?
        var obstacle: String?
        var extra = block.extra
        while let size = extra?.variable(), let start = extra?.position, let type = extra?.variable() {
            if type == 1 { isEncrypted = true }
            if type == 2, var hash = extra, hash.variable() == 0 { blake2sp = hash.bytes(32) }
            // A junction and a copy; libarchive takes them for separate, empty files.
            if type == 5, var link = extra, let kind = link.variable(), [3, 5].contains(kind) {
                obstacle = "its bytes are those of another file, by redir type \(kind)"
            }
            let used = UInt64((extra?.position ?? start) - start)
            guard size >= used, extra?.skip(size - used) == true else { break }
        }
        let file = RarFile(
            isStored: compression >> 7 & 7 == 0, isEncrypted: isEncrypted, unpackedSize: unpacked, crc32: crc,
            blake2sp: blake2sp, obstacle: obstacle)
        return (file, compression & 64 != 0)
    }

    private static func result(
        _ traits: ArchiveStructure.Traits, _ files: [RarFile], hasEnd: Bool, _ isBetween: Bool = false
    ) -> StructureScan {
        StructureScan(
            structure: ArchiveStructure(format: .rar5, traits: traits), rarFiles: files, entries: files.count,
            hasEnd: hasEnd, endsBetweenEntries: isBetween)
    }
}
