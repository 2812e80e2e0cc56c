/// Which entries of an archive are pages, which are skipped, and which make the whole archive unacceptable
/// (docs/design/comic-archives.md, "Verdicts").
package enum PageRules {
    /// The extensions of pages, in lower case.
    package static let allowedExtensions: Set<String> = [
        "jpg", "jpeg", "png", "gif", "webp", "tiff", "tif", "heic", "heif", "avif",
    ]

    /// Why an entry is no page, without consequences for the archive.
    package enum Skip: String, Sendable, Codable {
        /// In `__MACOSX`: resource forks from a Mac.
        case systemFolder
        /// It or a folder above it begins with a dot.
        case hidden
        /// It or the first folder of its path begins with an underscore.
        case underscore
        /// Not one of ``allowedExtensions``.
        case notAPicture
    }

    /// Why an archive with such an entry is refused.
    package enum Refusal: String, Sendable, Codable {
        case empty, nul, traversal, absolute, backslash, driveLetter

        /// The problem, to follow the entry's name.
        package var reason: String {
            switch self {
            case .empty: "has no name"
            case .nul: "has a NUL in its name"
            case .traversal: "leads out of the archive with `..`"
            case .absolute: "is an absolute path"
            case .backslash: "has a backslash in its name, which some systems take for a folder"
            case .driveLetter: "begins with a drive letter"
            }
        }
    }

    /// - Parameter path: the entry's name as stored in the archive.
    package static func refusal(_ path: some Collection<UInt8>) -> Refusal? {
        let bytes = Array(path)
        if bytes.isEmpty { return .empty }
        if bytes.contains(0) { return .nul }
        if bytes[0] == UInt8(ascii: "/") { return .absolute }
        let parts = bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
        if parts.contains(where: { $0.elementsEqual("..".utf8) }) { return .traversal }
        if bytes.count > 1, bytes[1] == UInt8(ascii: ":"), isLetter(bytes[0]) { return .driveLetter }
        return hasBackslash(bytes) ? .backslash : nil
    }

    /// Whether the name contains a real backslash. In Shift-JIS, which old archives use without declaring it, 0x5C is
    /// also the second byte of characters such as 表 and ソ: after a lead byte it is part of the character; 0x2F never
    /// is. UTF-8 has no such ambiguity. A path that leads out of the archive is refused in either reading.
    private static func hasBackslash(_ bytes: [UInt8]) -> Bool {
        let backslash = UInt8(ascii: "\\")
        if !bytes.contains(backslash) { return false }
        if String(validating: bytes, as: UTF8.self) != nil { return true }
        var isSecond = false
        for byte in bytes {
            if isSecond {
                isSecond = false
            } else if byte == backslash {
                return true
            } else {
                isSecond = (0x81...0x9F).contains(byte) || (0xE0...0xFC).contains(byte)
            }
        }
        return false
    }

    /// - Parameter path: of a file, not a folder; accepted by ``refusal(_:)``.
    package static func skip(_ path: some BidirectionalCollection<UInt8>) -> Skip? {
        // tar writes `./` before every name.
        let parts = path.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
        guard let name = parts.last, let first = parts.first else { return .notAPicture }
        if parts.contains(where: { $0.starts(with: "__MACOSX".utf8) }) { return .systemFolder }
        if parts.contains(where: { $0.first == UInt8(ascii: ".") }) { return .hidden }
        if [first, name].contains(where: { $0.first == UInt8(ascii: "_") }) { return .underscore }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return .notAPicture }
        let ending = String(decoding: name[name.index(after: dot)...], as: UTF8.self).lowercased()
        return allowedExtensions.contains(ending) ? nil : .notAPicture
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}
