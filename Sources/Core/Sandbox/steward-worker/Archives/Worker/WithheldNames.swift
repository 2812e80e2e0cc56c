import Sandbox

/// Replaces every name and quotation from the archive in the worker's records, and preserves what the verdict depends
/// on (docs/design/cage.md, "Names that the agent need not know").
struct WithheldNames {
    /// Paths by order of appearance: duplicates must remain recognizable.
    private var numbers: [[UInt8]: Int] = [:]

    mutating func replacing(_ record: WorkerRecord) -> WorkerRecord {
        switch record {
        case .structure: return record
        case .header(var header):
            header.path = standIn(for: header)
            header.place = nil
            return .header(header)
        case .bytes(let position, let bytes):
            return .bytes(position: position, [UInt8](repeating: UInt8(ascii: " "), count: bytes.count))
        case .content(var content):
            content.message = Self.plain(content.message)
            return .content(content)
        case .order(var order):
            order.damage = order.damage.map(Self.plain)
            return .order(order)
        case .end(let end):
            return .end(WorkerEnd(reason: end.reason, message: Self.plain(end.message)))
        }
    }

    private mutating func standIn(for header: EntryHeader) -> [UInt8] {
        let number = numbers[header.path] ?? numbers.count
        numbers[header.path] = number
        // A link's name is judged like a file's.
        var called = header
        if [.link, .other].contains(header.kind) { called.kind = .file }
        let name: String =
            switch EntryRole(of: called) {
            case .page: "\(number).png"
            case .metadata: "\(number)/ComicInfo.xml"
            case .skipped(.systemFolder): "__MACOSX/\(number)"
            case .skipped(.hidden): ".\(number)"
            case .skipped(.underscore): "_\(number)"
            case .skipped where header.kind == .unreadable: ""
            case .skipped: "\(number)"
            case .refused(.traversal, _): "../\(number)"
            case .refused(.absolutePath, _): "/\(number)"
            case .refused: "\(number)\\"
            }
        return Array(name.utf8)
    }

    /// Removes names that a message may quote, but keeps the words that classify it.
    private static func plain(_ message: String) -> String {
        if message.isEmpty || message == ArchiveStructure.noEnd { return message }
        if let word = UnsupportedPacking.word(in: message) { return word }
        return message.lowercased().contains("encrypt") ? "encrypted" : "it is damaged"
    }
}
