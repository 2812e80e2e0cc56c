import Platform
import TKCore

/// Splits a byte stream into JSON-RPC messages.
struct MessageReader {
    enum Framing: Sendable {
        /// As in the Language Server Protocol: headers with `Content-Length`, an empty line, and the content.
        case headers
        /// As in the Model Context Protocol: one message per line.
        case lines
    }

    enum Message {
        case value(JSON)
        /// The content was not JSON. The next message is unaffected.
        case invalid(String)
    }

    /// Upper limit in bytes; a draft of 16 MiB whose characters are all escaped has less.
    static let longest = 256 << 20
    private static let longestHead = 8 << 10
    private static let blankLine = Array("\r\n\r\n".utf8)

    private let framing: Framing
    private var bytes: [UInt8] = []
    /// How much of ``bytes`` holds no line end.
    private var searched = 0

    init(_ framing: Framing = .headers) { self.framing = framing }

    /// The messages completed by `chunk`.
    ///
    /// - Throws: `Fault` if the stream is not framed like this. Nothing after that can be understood.
    mutating func take(_ chunk: ArraySlice<UInt8>) throws -> [Message] {
        bytes += chunk
        if framing == .lines { return try takeLines() }
        var messages: [Message] = []
        var start = 0
        while let head = try Self.head(bytes[start...]), bytes.count - head.upperBound >= head.length {
            let end = head.upperBound + head.length
            messages.append(Self.message(bytes[head.upperBound..<end]))
            start = end
        }
        bytes.removeFirst(start)
        return messages
    }

    private mutating func takeLines() throws -> [Message] {
        var messages: [Message] = []
        var start = 0
        while let end = bytes[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = bytes[start..<end]
            if !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) { messages.append(Self.message(line)) }
            start = end + 1
        }
        bytes.removeFirst(start)
        searched = bytes.count
        guard searched <= Self.longest else {
            throw Fault(.refused, "a line of more than \(Self.longest) bytes; is it a client of this protocol?")
        }
        return messages
    }

    private static func message(_ content: ArraySlice<UInt8>) -> Message {
        do {
            return .value(try JSON(parsing: Array(content)))
        } catch {
            return .invalid("line \(error.line): \(error.message)")
        }
    }

    /// The length of the content after the headers, and where it begins; nil if the headers are not complete.
    private static func head(_ bytes: ArraySlice<UInt8>) throws -> (upperBound: Int, length: Int)? {
        guard let end = bytes.prefix(longestHead).firstRange(of: blankLine) else {
            if bytes.count >= longestHead {
                throw Fault(.refused, "standard input has no Content-Length header; is it a language client?")
            }
            return nil
        }
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n") {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "content-length" else { continue }
            guard let length = Int(parts[1].filter { $0 != " " }), (0...longest).contains(length) else {
                throw Fault(
                    .refused, "Content-Length is `\(Printable.line(String(parts[1])))`, not a number up to \(longest)")
            }
            return (end.upperBound, length)
        }
        throw Fault(.refused, "a message without Content-Length")
    }

    /// The bytes of a message.
    static func framed(_ message: JSON, _ framing: Framing = .headers) -> [UInt8] {
        // Line ends within strings are escaped.
        let content = Array(message.sent.utf8)
        if framing == .lines { return content + [UInt8(ascii: "\n")] }
        return Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
    }
}
