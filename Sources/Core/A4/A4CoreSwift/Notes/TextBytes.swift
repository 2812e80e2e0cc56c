import Foundation

/// The rules for all text of a vault: UTF-8, LF, a final newline (docs/design/a4.md).
enum TextBytes {
    /// - Parameter what: names the bytes in the message.
    /// - Throws: `A4Error.encoding`, with the offset of the first byte that is not UTF-8.
    static func requireUTF8(_ bytes: [UInt8], _ what: String) throws {
        if String(validating: bytes, as: UTF8.self) != nil { return }
        throw A4Error.encoding(
            "\(what) is not UTF-8 (the first wrong byte is number \(validPrefix(bytes))); convert it, then try again")
    }

    /// CRLF and lone CR become LF.
    static func normalized(_ bytes: [UInt8]) -> [UInt8] {
        var cut = bytes.firstIndex(of: carriageReturn, from: 0)
        if cut == bytes.count { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var position = 0
        while cut < bytes.count {
            result += bytes[position..<cut]
            result.append(lineFeed)
            position = cut + 1
            if position < bytes.count, bytes[position] == lineFeed { position += 1 }
            cut = bytes.firstIndex(of: carriageReturn, from: position)
        }
        result += bytes[position...]
        return result
    }

    /// Adds a missing final newline; an empty text becomes one newline.
    static func endedByNewline(_ bytes: [UInt8]) -> [UInt8] {
        bytes.last == lineFeed ? bytes : bytes + [lineFeed]
    }

    private static func validPrefix(_ bytes: [UInt8]) -> Int {
        var decoder = UTF8()
        var iterator = bytes.makeIterator()
        var read = 0
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            read += UTF8.width(scalar)
        }
        return read
    }
}
