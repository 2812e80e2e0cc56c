import ComicArchive
import Platform

/// Turns an entry's name into a path to unpack to.
enum EntryPath {
    /// Maximum nesting depth of an entry.
    static let mostFolders = 32
    /// Metadata that macOS adds to archives.
    private static let system = "__MACOSX"

    /// The entry's path below the target folder; nil if the entry is skipped.
    ///
    /// - Throws: `Fault(.refused)` if the entry is neither file nor folder, if its name would escape the folder, or if
    ///   the name is invalid here. One such entry refuses the whole archive.
    static func of(_ header: EntryHeader, in archive: BytePath) throws -> BytePath? {
        func refused(_ what: String, _ reason: RefusalReason = .badName) -> Fault {
            Fault(
                .refused, "\(archive): \(EntryRole.refusal(BytePath(bytes: header.path), what)); nothing was unpacked",
                path: archive, code: reason.rawValue)
        }
        if let refusal = PageRules.refusal(header.path) {
            let reason: RefusalReason =
                refusal == .traversal ? .traversal : refusal == .absolute ? .absolutePath : .badName
            throw refused(refusal.reason, reason)
        }
        guard header.kind == .file || header.kind == .folder else {
            throw Fault(
                .refused,
                "\(archive): its entry \(BytePath(bytes: header.path)) is \(header.kind == .link ? "a link" : "no file"), "
                    + "and only files and folders are unpacked; nothing was. Unpack it by hand if you trust it",
                path: archive, code: RefusalReason.unsupported.rawValue)
        }
        // tar prefixes every name with `./`.
        let parts = header.path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        guard let first = parts.first else {
            if header.kind == .folder { return nil }
            throw refused("has no name")
        }
        if first.elementsEqual(system.utf8) { return nil }
        guard parts.count <= mostFolders + 1 else { throw refused("is in more than \(mostFolders) folders") }
        guard parts.allSatisfy({ $0.count <= 255 }) else { throw refused("has a name of more than 255 bytes") }
        guard !parts.contains(where: { $0.starts(with: ".steward-".utf8) }) else {
            throw refused("has a name that only the agent gives")
        }
        return BytePath(bytes: Array(parts.map { $0.map(visible) }.joined(separator: [UInt8(ascii: "/")])))
    }

    /// Control characters would act on terminals.
    private static func visible(_ byte: UInt8) -> UInt8 { byte < 0x20 || byte == 0x7F ? UInt8(ascii: "_") : byte }
}
