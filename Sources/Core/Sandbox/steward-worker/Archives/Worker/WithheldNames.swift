import Sandbox

/// Replaces in the worker's records whatever names or quotes the archive, and keeps what a verdict is made of
/// (docs/design/cage.md, "Names that the agent need not know").
struct WithheldNames {
    /// Paths by the order in which they came: one that is given twice must be seen to be.
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
        // What a link is called is judged as a file's name is.
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

    /// A message may quote a name. Which of those that decide something it is stays.
    private static func plain(_ message: String) -> String {
        if message.isEmpty || message == ArchiveStructure.noEnd { return message }
        if let word = UnsupportedPacking.word(in: message) { return word }
        return message.lowercased().contains("encrypt") ? "encrypted" : "it is damaged"
    }
}
