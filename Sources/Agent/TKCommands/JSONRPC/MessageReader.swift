import Platform
import TKCore

/// Splits a byte stream into JSON-RPC messages, as the Language Server Protocol frames them: headers with
/// `Content-Length`, an empty line, and the content.
struct MessageReader {
    enum Message {
        case value(JSON)
        /// The content was not JSON. The next message is unaffected.
        case invalid(String)
    }

    /// Upper limit in bytes; a draft of 16 MiB whose characters are all escaped has less.
    static let longest = 256 << 20
    private static let longestHead = 8 << 10
    private static let blankLine = Array("\r\n\r\n".utf8)

    private var bytes: [UInt8] = []

    /// The messages completed by `chunk`.
    ///
    /// - Throws: `Fault` if the stream is not framed like this. Nothing after that can be understood.
    mutating func take(_ chunk: ArraySlice<UInt8>) throws -> [Message] {
        bytes += chunk
        var messages: [Message] = []
        var start = 0
        while let head = try Self.head(bytes[start...]), bytes.count - head.upperBound >= head.length {
            let end = head.upperBound + head.length
            do {
                messages.append(.value(try JSON(parsing: Array(bytes[head.upperBound..<end]))))
            } catch {
                messages.append(.invalid("line \(error.line): \(error.message)"))
            }
            start = end
        }
        bytes.removeFirst(start)
        return messages
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
    static func framed(_ message: JSON) -> [UInt8] {
        let content = Array(message.sent.utf8)
        return Array("Content-Length: \(content.count)\r\n\r\n".utf8) + content
    }
}
