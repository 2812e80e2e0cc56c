/// A JSON value. Parsed strictly, and written in its construction order, so that equal values give equal texts.
package indirect enum JSON: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    case null
    case bool(Bool)
    case integer(Int)
    /// Written without a decimal point if integral, and as `null` if not finite.
    case number(Double)
    case string(String)
    case array([JSON])
    case object([(String, JSON)])
    /// Must be JSON.
    case verbatim(String)

    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSON)...) { self = .object(elements) }

    /// A number of either kind; nil for another value.
    package var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// A string; nil for another value.
    package var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// An object's members by name; nil for another value.
    package var members: [String: JSON]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members) { first, _ in first }
    }

    /// For programs, in one line without spaces; escapes only what JSON requires.
    package var sent: String {
        var out = ""
        write(to: &out, indent: nil)
        return out
    }

    /// In one line without spaces, safe to print: escapes controls and bidirectional marks, which could manipulate a
    /// terminal, by code point (`\u001b`).
    package var line: String { ShownText.json(sent) }

    /// Indented by two spaces per level, safe to print, without a final line end.
    package var indented: String {
        var out = ""
        write(to: &out, indent: 0)
        return ShownText.json(out)
    }

    private func write(to out: inout String, indent: Int?) {
        switch self {
        case .null: out += "null"
        case .bool(let value): out += value ? "true" : "false"
        case .integer(let value): out += String(value)
        case .number(let value): Self.write(value, to: &out)
        case .string(let value): Self.write(value, to: &out)
        case .verbatim(let json): out += json
        case .array(let elements):
            Self.write(elements.map { (nil, $0) }, "[", "]", to: &out, indent: indent)
        case .object(let members):
            Self.write(members.map { ($0.0, $0.1) }, "{", "}", to: &out, indent: indent)
        }
    }

    private static func write(
        _ entries: [(String?, JSON)], _ open: String, _ close: String, to out: inout String, indent: Int?
    ) {
        guard !entries.isEmpty else {
            out += open + close
            return
        }
        out += open
        for (index, entry) in entries.enumerated() {
            if index > 0 { out += "," }
            if let indent { out += "\n" + String(repeating: "  ", count: indent + 1) }
            if let name = entry.0 {
                write(name, to: &out)
                out += indent == nil ? ":" : ": "
            }
            entry.1.write(to: &out, indent: indent.map { $0 + 1 })
        }
        if let indent { out += "\n" + String(repeating: "  ", count: indent) }
        out += close
    }

    private static func write(_ value: Double, to out: inout String) {
        guard value.isFinite else {
            out += "null"
            return
        }
        if value == value.rounded(), abs(value) < 1e15 { out += String(Int(value)) } else { out += "\(value)" }
    }

    private static func write(_ value: String, to out: inout String) {
        out += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": out += "\\\""
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\r": out += "\\r"
            case "\t": out += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}

extension JSON: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value):
            if let whole = Int64(exactly: value) { try container.encode(whole) } else { try container.encode(value) }
        case .string(let value): try container.encode(value)
        case .array(let elements): try container.encode(elements)
        case .object: try container.encode(members)
        case .verbatim(let json): try container.encode(JSON(parsing: Array(json.utf8)))
        }
    }
}
