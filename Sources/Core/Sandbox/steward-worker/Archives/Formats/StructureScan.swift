import Platform
import Sandbox

/// What a RAR header says about one file. libarchive does not verify stored entries, so the worker does.
struct RarFile: Equatable {
    var isStored: Bool
    var isEncrypted: Bool
    var unpackedSize: UInt64
    /// nil if the archive has none.
    var crc32: UInt32?
    /// The alternative in newer archives, 32 bytes.
    var blake2sp: [UInt8]?
    /// Why nothing here can unpack it; nil if libarchive may be able to.
    var obstacle: String?
    /// Name and kind: only for RAR 4, and only if requested.
    var name: [UInt8] = []
    var kind = EntryHeader.Kind.file
}

/// A scan of a container's own headers, in the worker.
struct StructureScan {
    var structure: ArchiveStructure
    /// In header order; nil if the container is no RAR.
    var rarFiles: [RarFile]?
    /// A ZIP's own list, in the order of its entries in the file; nil for others.
    var zipEntries: [ZipDirectory.Entry]?
    /// Where the archive ends; nil for the end of the file. libarchive searches only the last 16 KiB for a ZIP's end
    /// record, though a comment may have 64.
    var end: Int64?
    /// The number of entries by the container's own directory or headers; nil if not counted.
    var entries: Int?
    /// Whether the container's end mark is present. Without it, the file may be truncated between two entries, which
    /// libarchive takes for the end.
    var hasEnd = true
    /// Whether a file without the mark ends between two entries: then it was truncated just there, or comes from one of
    /// the programs that write no mark.
    var endsBetweenEntries = false
    /// Whether a header has a wrong checksum, if they are verified.
    var hasDamagedHeader = false

    /// What libarchive missed although it reached the end without an error; nil if nothing.
    ///
    /// - Parameters:
    ///   - count: the number of headers it returned.
    ///   - format: the format it detected.
    func missing(entries count: Int, format: ArchiveFormat) -> String? {
        if structure.format != .unknown, format != structure.format, count > 0 {
            return "it is two archives in one file"
        }
        if hasDamagedHeader { return "one of its headers is damaged" }
        if let entries, entries != count { return "it lists \(entries) entries and holds \(count)" }
        if !hasEnd, endsBetweenEntries { return ArchiveStructure.noEnd }
        return hasEnd ? nil : "the mark at its end is missing, so that more may be"
    }

    /// Never throws because of the contents: anything that cannot be parsed is left to libarchive.
    static func of(_ file: HandedFile) throws -> StructureScan {
        let head = try file.read(at: 0, count: ArchiveFormat.headLength)
        if Compression.detect(head) != nil {
            // Each entry requires all before it.
            return StructureScan(structure: ArchiveStructure(format: .tar, traits: .solid), rarFiles: nil)
        }
        let format = ArchiveFormat.detect(head)
        switch format {
        case .rar5:
            return try Rar5Headers.scan(file, start: 0)
        case .rar:
            return try Rar4Headers.scan(file, start: 0)
        case .tar:
            // GNU tar's mark of a volume that starts within an entry of the previous one.
            let traits: ArchiveStructure.Traits = head[156] == UInt8(ascii: "M") ? .multiVolume : []
            let last = try file.read(at: max(0, file.size - 512), count: 512)
            return StructureScan(
                structure: ArchiveStructure(format: format, traits: traits), rarFiles: nil,
                hasEnd: last.allSatisfy { $0 == 0 })
        case .zip, .epub, .pdf, .unknown:
            if let listing = try ZipDirectory.scan(file) {
                return StructureScan(
                    structure: ArchiveStructure(format: .zip, traits: listing.traits), rarFiles: nil,
                    zipEntries: listing.entries, end: listing.end, entries: listing.count)
            }
            // The mark of a split ZIP, whose directory is in the last part.
            if head.starts(with: [0x50, 0x4B, 7, 8, 0x50, 0x4B]) {
                return StructureScan(structure: ArchiveStructure(format: .zip, traits: .multiVolume), rarFiles: nil)
            }
            // A self-extracting program has the archive after its own code.
            let front = try file.read(at: 0, count: 262_144)
            if let start = find(Rar5Headers.signature, in: front) {
                return try Rar5Headers.scan(file, start: Int64(start))
            }
            if let start = find(Rar4Headers.signature, in: front) {
                return try Rar4Headers.scan(file, start: Int64(start))
            }
            let plain = format == .epub ? .zip : format
            return StructureScan(structure: ArchiveStructure(format: plain, traits: []), rarFiles: nil)
        default:
            let traits: ArchiveStructure.Traits = format.traits.isSolid ? .solid : []
            return StructureScan(structure: ArchiveStructure(format: format, traits: traits), rarFiles: nil)
        }
    }

    private static func find(_ needle: [UInt8], in bytes: [UInt8]) -> Int? {
        guard let first = needle.first, bytes.count >= needle.count else { return nil }
        return (0...(bytes.count - needle.count)).first {
            bytes[$0] == first && bytes[$0...].starts(with: needle)
        }
    }
}
