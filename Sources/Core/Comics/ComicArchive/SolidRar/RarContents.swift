import Platform

/// Splits the concatenated contents of an archive's files by the sizes that its headers claim, and writes them as the
/// stored entries of a ZIP.
struct RarContents {
    typealias Put = (UnsafeRawBufferPointer) throws -> Void

    private let entries: [RarClaims.Entry]
    private var zip = ZipWriter()
    /// Entries whose headers were written.
    private var begun = 0
    /// Bytes still missing from the last of them.
    private var wanted: Int64 = 0
    /// Bytes received.
    private(set) var count: Int64 = 0

    /// - Parameter entries: each below 4 GiB.
    init(_ entries: [RarClaims.Entry]) { self.entries = entries }

    var isWhole: Bool { begun == entries.count && wanted == 0 }

    /// Call before the first bytes.
    mutating func begin(_ put: Put) throws {
        while wanted == 0, begun < entries.count {
            let entry = entries[begun]
            try zip.begin(ZipWriter.Entry(entry)).withUnsafeBytes(put)
            wanted = entry.size
            begun += 1
        }
    }

    /// - Returns: false if there are more bytes than the headers claim.
    mutating func consume(_ part: [UInt8], _ put: Put) throws -> Bool {
        var rest = part[...]
        while !rest.isEmpty {
            guard wanted > 0 else { return false }
            let piece = rest.prefix(Int(min(wanted, Int64(rest.count))))
            try piece.withUnsafeBytes(put)
            rest = rest.dropFirst(piece.count)
            wanted -= Int64(piece.count)
            count += Int64(piece.count)
            try begin(put)
        }
        return true
    }

    /// Call after the last bytes.
    func finish(_ put: Put) throws { try zip.finished().withUnsafeBytes(put) }
}

extension ZipWriter.Entry {
    fileprivate init(_ entry: RarClaims.Entry) {
        let mode: UInt16 =
            switch entry.header.kind {
            case .file, .unreadable: 0o100_644
            case .folder: 0o040_755
            case .link: 0o120_777
            case .other: 0o020_644
            }
        var name = entry.header.path
        if entry.header.kind == .folder, name.last != UInt8(ascii: "/") { name.append(UInt8(ascii: "/")) }
        self.init(name, crc32: entry.crc32, size: UInt32(truncatingIfNeeded: entry.size), mode: mode)
    }
}
