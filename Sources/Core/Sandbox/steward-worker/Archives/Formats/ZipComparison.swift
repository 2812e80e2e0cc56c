import Platform
import Sandbox

/// Compares a ZIP's own list with libarchive's view of each entry, in the worker. Otherwise a page could go missing
/// because a damaged header gives it another name or kind: its bytes would never be examined.
struct ZipComparison {
    /// In file order, which is the order in which libarchive returns them.
    let entries: [ZipDirectory.Entry]
    let bytes: HandedFile

    /// The finding about one entry.
    struct Finding {
        /// For a page; nil if unknown.
        var place: ZipPlace?
        /// The problem; nil if there is none, or it does not matter.
        var complaint: String?
    }

    /// The name byte for byte; nil if unknown.
    func name(at position: Int) -> [UInt8]? { entries.indices.contains(position) ? entries[position].name : nil }

    /// - Parameter linkLength: the length of a link's target.
    func look(at header: EntryHeader, linkLength: Int) -> Finding {
        guard entries.indices.contains(header.position) else { return Finding() }
        let entry = entries[header.position]
        // A read failure here is reported when the entry itself is read.
        guard let local = try? ZipLocalHeader(of: entry, in: bytes) else { return Finding() }
        let names = Set([header.path, entry.name, local.name, Self.slashed(entry.name)])
        let isWanted = names.contains { Self.isWanted(EntryRole(of: header.named($0))) }
        guard isWanted else { return Finding() }
        let name = BytePath(bytes: entry.name)
        if let what = entry.contradiction(local) {
            return Finding(complaint: "\(name): its own header and the archive's list disagree in \(what)")
        }
        let role = EntryRole(of: header.named(header.path))
        if role != EntryRole(of: header.named(entry.name)),
            role != EntryRole(of: header.named(Self.slashed(entry.name)))
        {
            return Finding(complaint: "\(name): it has a second name, \(BytePath(bytes: header.path)), of another kind")
        }
        if header.kind != .file, entry.unpackedSize > 0,
            header.kind != .link || UInt64(linkLength) != entry.unpackedSize
        {
            return Finding(complaint: "\(name): it is called \(header.kind.word) and holds what a file does")
        }
        let isPlain = header.kind == .file && !header.isEncrypted && header.path == entry.name && role == .page
        return Finding(place: isPlain ? entry.place(local, size: bytes.size) : nil)
    }

    private static func isWanted(_ role: EntryRole) -> Bool { role == .page || role == .metadata }

    /// Converts names from DOS as libarchive does.
    private static func slashed(_ name: [UInt8]) -> [UInt8] {
        name.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
    }
}

extension EntryHeader {
    /// The header as if it were a file of this name.
    fileprivate func named(_ name: [UInt8]) -> EntryHeader {
        var other = self
        (other.kind, other.path) = (.file, name)
        return other
    }
}

extension EntryHeader.Kind {
    fileprivate var word: String {
        switch self {
        case .file: "a file"
        case .folder: "a folder"
        case .link: "a link"
        case .other, .unreadable: "a device"
        }
    }
}
