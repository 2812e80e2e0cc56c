import Platform

/// How a command's JSON is written: members in a fixed order, so that two runs are the same bytes.
///
/// What could steer a terminal (controls, marks that turn the direction of text) is escaped by its code point (`\u001b`).
extension WireJSON {
    /// In one line.
    package var line: String {
        var out = ""
        write(to: &out, indent: nil)
        return ShownText.json(out)
    }

    /// For people: two spaces a level, without a line end at its end.
    package var pretty: String {
        var out = ""
        write(to: &out, indent: 0)
        return ShownText.json(out)
    }

    /// The text, or `null`.
    package static func optional(_ text: String?) -> WireJSON { text.map(WireJSON.string) ?? .null }

    /// The number, or `null`.
    package static func optional(_ number: Int?) -> WireJSON { number.map(WireJSON.integer) ?? .null }

    package static let null = WireJSON.verbatim("null")

    package static func strings(_ texts: some Sequence<String>) -> WireJSON { .array(texts.map(WireJSON.string)) }

    /// US dollars, or `null` where the price is not known.
    package static func dollars(_ cost: Cost?) -> WireJSON { cost.map { .number($0.dollars) } ?? .null }

    private func write(to out: inout String, indent: Int?) {
        switch self {
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
        _ entries: [(String?, WireJSON)], _ open: String, _ close: String, to out: inout String, indent: Int?
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

    /// A whole number stands without a point.
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
            default: out.unicodeScalars.append(scalar)
            }
        }
        out += "\""
    }
}
