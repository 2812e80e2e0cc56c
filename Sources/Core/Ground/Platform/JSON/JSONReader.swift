extension JSON {
    /// The error in a text, and its line, counted from 1.
    package struct Mistake: Error {
        package let line: Int
        package let message: String
    }

    /// Parses JSON (RFC 8259) strictly: duplicate keys are errors. Unlike Foundation's decoder, it reports the line of
    /// an error.
    ///
    /// - Parameter bytes: UTF-8.
    package init(parsing bytes: [UInt8]) throws(Mistake) { self = try JSONReader.value(bytes) }
}

private struct JSONReader {
    typealias Mistake = JSON.Mistake

    private static let deepest = 64
    private let bytes: [UInt8]
    private var position = 0

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    static func value(_ bytes: [UInt8]) throws(Mistake) -> JSON {
        var reader = JSONReader(bytes)
        // RFC 8259 lets a parser ignore a byte order mark, which some editors write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.current == nil else { throw reader.mistake("something follows behind the last bracket") }
        return value
    }

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func mistake(_ message: String) -> Mistake {
        Mistake(line: 1 + bytes.prefix(position).count { $0 == UInt8(ascii: "\n") }, message: message)
    }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func consume(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(Mistake) -> JSON {
        guard depth < Self.deepest else { throw mistake("brackets are nested deeper than \(Self.deepest)") }
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .string(try string())
        case nil: throw mistake("it ends where a value is expected")
        default: return try word()
        }
    }

    private mutating func object(_ depth: Int) throws(Mistake) -> JSON {
        position += 1
        var members: [(String, JSON)] = []
        var keys: Set<String> = []
        if consume("}") { return .object(members) }
        repeat {
            skipSpace()
            guard current == UInt8(ascii: "\"") else {
                throw mistake("a key in double quotes is expected (no comma is allowed before a closing brace)")
            }
            let key = try string()
            guard keys.insert(key).inserted else { throw mistake("the key \"\(key)\" is repeated here") }
            guard consume(":") else { throw mistake("a colon is expected behind \"\(key)\"") }
            members.append((key, try value(depth: depth + 1)))
        } while consume(",")
        guard consume("}") else { throw mistake("a comma or a closing brace is expected") }
        return .object(members)
    }

    private mutating func array(_ depth: Int) throws(Mistake) -> JSON {
        position += 1
        var values: [JSON] = []
        if consume("]") { return .array(values) }
        repeat { values.append(try value(depth: depth + 1)) } while consume(",")
        guard consume("]") else { throw mistake("a comma or a closing bracket is expected") }
        return .array(values)
    }

    private mutating func word() throws(Mistake) -> JSON {
        let start = position
        while let byte = current, !"{}[]:,\" \t\r\n".utf8.contains(byte) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        switch text {
        case "true": return .bool(true)
        case "false": return .bool(false)
        case "null": return .null
        default:
            position = start
            guard Self.isNumber(text.utf8), let number = Double(text), number.isFinite else {
                throw mistake("a value is expected: a text must be in double quotes")
            }
            position = start + text.utf8.count
            return Int(text).map { .integer($0) } ?? .number(number)
        }
    }

    /// By JSON's grammar, which is stricter than Swift's.
    private static func isNumber(_ text: String.UTF8View) -> Bool {
        var rest = text[...]
        func skip(_ bytes: String) -> Bool {
            guard let first = rest.first, bytes.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        func skipDigits() -> Bool {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest[digits.endIndex...]
            return !digits.isEmpty
        }
        _ = skip("-")
        if !skip("0"), !skipDigits() { return false }
        if skip("."), !skipDigits() { return false }
        if skip("eE") {
            _ = skip("+-")
            if !skipDigits() { return false }
        }
        return rest.isEmpty
    }

    private mutating func string() throws(Mistake) -> String {
        position += 1
        var out: [UInt8] = []
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return String(decoding: out, as: UTF8.self)
            case UInt8(ascii: "\\"):
                position += 1
                out += String(try escape()).utf8
            case 0..<0x20: throw mistake("a text ends within its line; a line end is written \\n")
            default:
                out.append(byte)
                position += 1
            }
        }
        throw mistake("a text has no closing quote")
    }

    private mutating func escape() throws(Mistake) -> Unicode.Scalar {
        let kind = current
        position += 1
        switch kind {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try codeUnit()
            guard (0xD800...0xDBFF).contains(first) else {
                guard let scalar = Unicode.Scalar(first) else { throw mistake("half of a surrogate pair is missing") }
                return scalar
            }
            guard bytes[position...].starts(with: "\\u".utf8) else {
                throw mistake("half of a surrogate pair is missing")
            }
            position += 2
            let second = try codeUnit()
            guard (0xDC00...0xDFFF).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
            else { throw mistake("half of a surrogate pair is missing") }
            return scalar
        default: throw mistake("unknown escape in a text; a backslash is written \\\\")
        }
    }

    private mutating func codeUnit() throws(Mistake) -> UInt32 {
        let digits = bytes[position...].prefix(4)
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 4, text.allSatisfy(\.isHexDigit), let value = UInt32(text, radix: 16) else {
            throw mistake("four hexadecimal digits are expected behind \\u")
        }
        position += 4
        return value
    }
}
