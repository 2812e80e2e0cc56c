import Platform

/// The worker's messages to the agent, one per frame: length (4 bytes, little-endian), kind (1 byte), content.
///
/// The agent trusts none of it: every length, name and number is checked.
package enum ContentRecord: Sendable, Equatable {
    /// A property; a later one of the same name wins.
    case field(ContentField, String)
    /// More of the text, in UTF-8.
    case text([UInt8])
    /// An entry of an archive.
    case entry(path: [UInt8], isFolder: Bool, isEncrypted: Bool)
    /// For a file with new tags, in order: a piece of the old one.
    case kept(offset: Int64, length: Int64)
    /// Bytes not in the old file at that point; at most ``textLength``.
    case own([UInt8])
    /// The last record.
    case end(ContentEnd)

    /// Bytes of the largest frame.
    package static let frameLimit = 70_000
    /// Bytes of text in one frame.
    package static let textLength = 65_536
    /// Bytes of a field's text; longer ones are truncated.
    package static let fieldLength = 1_000
    /// Bytes of an entry's name; longer ones are invalid.
    package static let nameLength = 4_096

    /// The whole frame, length first.
    package func encoded() -> [UInt8] {
        var body: [UInt8]
        switch self {
        case .field(let field, let value):
            body = [1, UInt8(field.rawValue.utf8.count)]
            body += field.rawValue.utf8
            body += value.utf8.prefix(Self.fieldLength)
        case .text(let bytes):
            body = [2]
            body += bytes
        case .entry(let path, let isFolder, let isEncrypted):
            let flags: UInt8 = (isFolder ? 1 : 0) + (isEncrypted ? 2 : 0)
            body = [3, flags]
            body += path
        case .kept(let offset, let length):
            body = [5]
            for number in [offset, length] { body += (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
        case .own(let bytes):
            body = [6]
            body += bytes
        case .end(let end):
            body = [4, end.reason.rawValue]
            body += end.message.utf8.prefix(300)
        }
        return (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
    }

    /// Reads a frame's body, without its length.
    ///
    /// - Returns: nil if it is not part of the protocol.
    package init?(body: [UInt8]) {
        guard let kind = body.first else { return nil }
        let rest = body.dropFirst()
        switch kind {
        case 1:
            guard let length = rest.first, rest.count > Int(length) else { return nil }
            let name = String(decoding: rest.dropFirst().prefix(Int(length)), as: UTF8.self)
            let value = rest.dropFirst(1 + Int(length))
            guard let field = ContentField(rawValue: name), value.count <= Self.fieldLength else { return nil }
            // Truncation may have split a character.
            self = .field(field, String(decoding: value, as: UTF8.self))
        case 2:
            guard rest.count <= Self.textLength else { return nil }
            self = .text(Array(rest))
        case 3:
            guard let flags = rest.first, flags < 4, rest.count <= 1 + Self.nameLength else { return nil }
            self = .entry(
                path: Array(rest.dropFirst()), isFolder: flags & 1 != 0, isEncrypted: flags & 2 != 0)
        case 4:
            guard let reason = rest.first.flatMap(ContentEnd.Reason.init) else { return nil }
            self = .end(ContentEnd(reason, BytePath.escape(Array(rest.dropFirst()))))
        case 5:
            guard rest.count == 16 else { return nil }
            let bytes = Array(rest)
            func number(_ start: Int) -> Int64 { (0..<8).reduce(0) { $0 | Int64(bytes[start + $1]) << (8 * $1) } }
            self = .kept(offset: number(0), length: number(8))
        case 6:
            guard rest.count <= Self.textLength else { return nil }
            self = .own(Array(rest))
        default: return nil
        }
    }
}

/// Why the worker stopped.
package struct ContentEnd: Sendable, Equatable {
    package enum Reason: UInt8, Sendable {
        case complete = 1
        /// There was more than the limit.
        case cut
        /// The file is damaged, password-protected, or of another type.
        case unreadable
        /// The worker could not lock itself down, and read nothing.
        case noCage
        /// A library's data files are not installed.
        case notInstalled
    }

    package let reason: Reason
    /// The problem, for people; begins in lower case.
    package let message: String

    package init(_ reason: Reason, _ message: String = "") {
        (self.reason, self.message) = (reason, message)
    }
}

/// How much of a file is examined, on both sides.
package enum ContentLimits {
    /// Bytes of text, in UTF-8.
    package static let text = 1 << 20
    /// Entries of an archive.
    package static let entries = 20_000
    /// Bytes of all entries' names.
    package static let names = 4 << 20
    /// Unpacked bytes of one part of a document, and of all its parts.
    package static let part = 16 << 20
    package static let unpacked = 64 << 20
    /// Bytes that setting tags may rewrite, and the most pieces of the file between them.
    package static let ownTagBytes: Int64 = 192 << 20
    package static let tagPieces = 1 << 20
    /// CPU seconds.
    package static let processorSeconds: UInt64 = 10
    /// Bytes of address space.
    package static let memory: UInt64 = 768 << 20
}

/// The worker's exit statuses if a program that it needs is unusable; numbers of sysexits.h.
package enum ContentStatus {
    package static let notInstalled: Int32 = 69
    package static let notCaged: Int32 = 70
}
