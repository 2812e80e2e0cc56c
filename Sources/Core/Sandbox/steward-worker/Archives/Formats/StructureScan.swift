import Platform
import Sandbox

/// What a RAR header says of one file: libarchive does not check stored entries, so the worker does.
struct RarFile: Equatable {
    var isStored: Bool
    var isEncrypted: Bool
    var unpackedSize: UInt64
    /// nil where the archive holds none.
    var crc32: UInt32?
    /// What newer archives may hold in its place, 32 bytes.
    var blake2sp: [UInt8]?
    /// Why nothing here unpacks it; nil where libarchive may.
    var obstacle: String?
    /// Name and kind: of RAR 4 alone, and only where they are asked for.
    var name: [UInt8] = []
    var kind = EntryHeader.Kind.file
}

/// A look at a container's own headers, in the worker.
struct StructureScan {
    var structure: ArchiveStructure
    /// In the order of the headers; nil where the container is no RAR.
    var rarFiles: [RarFile]?
    /// A ZIP's own list, in the order in which its entries stand in the file; nil for others.
    var zipEntries: [ZipDirectory.Entry]?
    /// Where the archive ends; nil where that is the end of the file. libarchive looks for a ZIP's end record in the
    /// last 16 KiB alone, and a comment may have 64.
    var end: Int64?
    /// How many entries the container's own directory or headers hold; nil where it was not counted.
    var entries: Int?
    /// Whether the mark stands that ends such a container; without it the rest may be cut off between two entries,
    /// which libarchive takes for the end.
    var hasEnd = true
    /// Whether, where the mark is missing, the file ends between two entries: then it was cut just there, or made by one
    /// of the programs that wrote no such mark.
    var endsBetweenEntries = false
    /// Whether a header's checksum is wrong, where these are compared.
    var hasDamagedHeader = false

    /// What libarchive did not find although it came to the end without complaint; nil where nothing is missing.
    ///
    /// - Parameters:
    ///   - count: the headers that it gave.
    ///   - format: what it took the archive for.
    func missing(entries count: Int, format: ArchiveFormat) -> String? {
        if structure.format != .unknown, format != structure.format, count > 0 {
            return "it is two archives in one file"
        }
        if hasDamagedHeader { return "one of its headers is damaged" }
        if let entries, entries != count { return "it lists \(entries) entries and holds \(count)" }
        if !hasEnd, endsBetweenEntries { return ArchiveStructure.noEnd }
        return hasEnd ? nil : "the mark at its end is missing, so that more may be"
    }

    /// Never throws for what the bytes say: what cannot be followed is left to libarchive's judgement.
    static func of(_ file: ArchiveBytes) throws -> StructureScan {
        let head = try file.read(at: 0, count: ArchiveFormat.headLength)
        if Compression.detect(head) != nil {
            // Each entry costs all before it.
            return StructureScan(structure: ArchiveStructure(format: .tar, traits: .solid), rarFiles: nil)
        }
        let format = ArchiveFormat.detect(head)
        switch format {
        case .rar5:
            return try Rar5Headers.scan(file, start: 0)
        case .rar:
            return try Rar4Headers.scan(file, start: 0)
        case .tar:
            // GNU tar's mark of a volume that goes on with an entry of the one before.
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
            // The mark of a ZIP that was split; its directory is in the last part.
            if head.starts(with: [0x50, 0x4B, 7, 8, 0x50, 0x4B]) {
                return StructureScan(structure: ArchiveStructure(format: .zip, traits: .multiVolume), rarFiles: nil)
            }
            // A program that unpacks itself carries the archive behind its own code.
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
