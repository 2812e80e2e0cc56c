import Foundation
import Platform

/// The structure of a name, as in `name-like`: `{vendor}_{date:yyyy-MM-dd}_{number:0000}.pdf`. Text outside of braces
/// matches itself; each field becomes a value once the whole name has matched.
struct NamePattern: Sendable {
    /// Why a pattern is invalid, and where.
    struct Fault: Error, Equatable {
        let message: String
        /// In characters (Unicode scalars) before the error.
        let offset: Int
    }

    private enum Kind: Sendable {
        /// One or more characters, as few as possible.
        case text
        /// That many digits; nil for one or more, as many as possible.
        case digits(Int?)
        case date(NameDate)
    }

    private enum Part: Sendable {
        case literal([Character])
        case field(String, Kind)
    }

    private let parts: [Part]
    private let timeZone: Zone

    /// - Throws: ``Fault`` for an unclosed brace, a field without a name, a duplicate field, an invalid format, or
    ///   adjacent fields with no clear boundary.
    init(_ pattern: String, timeZone: Zone) throws(Fault) {
        var scanner = NamePatternScanner(pattern)
        var parts: [Part] = []
        var names: Set<String> = []
        while let piece = try scanner.next() {
            switch piece {
            case .literal(let text): parts.append(.literal(Array(text)))
            case .field(let name, let form, let offset, let formOffset):
                guard names.insert(name).inserted else {
                    throw Fault(message: "the field `\(printable(name))` is there twice", offset: offset)
                }
                let kind = try Self.kind(form, offset: formOffset)
                if case .text = kind, case .field(let before, .text)? = parts.last {
                    throw Fault(
                        message:
                            "there is no separator between `{\(printable(before))}` and `{\(printable(name))}`, so it "
                            + "is unclear where the first one ends", offset: offset)
                }
                parts.append(.field(name, kind))
            }
        }
        self.parts = parts
        self.timeZone = timeZone
    }

    /// `match.vendor` for each field.
    var provides: [ValueSpec] {
        parts.compactMap { part in
            guard case .field(let name, let kind) = part else { return nil }
            let what =
                switch kind {
                case .text: "What stands in the name for `{\(name)}`."
                case .digits: "The digits that stand in the name for `{\(name)}`, with their zeros."
                case .date: "The date that stands in the name for `{\(name)}`."
                }
            return ValueSpec("match.\(name)", what)
        }
    }

    /// The fixed end of matching names; nil if the pattern ends in a field.
    var literalSuffix: [UInt8]? {
        guard case .literal(let text)? = parts.last else { return nil }
        return Array(String(text).utf8)
    }

    /// The values of the fields; nil if the name does not match.
    func match(_ name: String) -> Values? {
        var attempt = Attempt(parts: parts, name: Array(name), timeZone: timeZone)
        return attempt.match(0, at: 0) ? attempt.values : nil
    }

    private static func kind(_ form: String?, offset: Int) throws(Fault) -> Kind {
        guard let form else { return .text }
        if form == "#" { return .digits(nil) }
        if !form.isEmpty, form.allSatisfy({ $0 == "0" }) { return .digits(form.count) }
        if let date = try NameDate(form, offset: offset) { return .date(date) }
        throw Fault(
            message:
                "`\(printable(form))` is no form of a field; write `0000` for so many digits, `#` for any number of "
                + "them, or a date such as `yyyy-MM-dd`", offset: offset)
    }

    /// One match attempt. Failed positions are remembered, so it takes at most the length of the pattern times that
    /// of the name.
    private struct Attempt {
        let parts: [Part]
        let name: [Character]
        let timeZone: Zone
        var values: Values = [:]
        private var failed: Set<Int> = []

        init(parts: [Part], name: [Character], timeZone: Zone) {
            (self.parts, self.name, self.timeZone) = (parts, name, timeZone)
        }

        mutating func match(_ part: Int, at start: Int) -> Bool {
            guard part < parts.count else { return start == name.count }
            let key = part * (name.count + 1) + start
            if failed.contains(key) { return false }
            let held: Bool
            switch parts[part] {
            case .literal(let text):
                let fits = name[start...].starts(with: text)
                held = fits ? match(part + 1, at: start + text.count) : false
            case .field(let field, let kind): held = take(field, kind, part, start)
            }
            if !held { failed.insert(key) }
            return held
        }

        private mutating func take(_ field: String, _ kind: Kind, _ part: Int, _ start: Int) -> Bool {
            switch kind {
            case .text:
                guard start < name.count else { return false }
                for end in (start + 1)...name.count {
                    if match(part + 1, at: end) { return give(field, .text(String(name[start..<end]))) }
                }
                return false
            case .digits(let count):
                let run = name[start...].prefix { $0.isASCII && $0.isNumber }.prefix(count ?? .max).count
                guard run == count ?? run, run > 0 else { return false }
                // Backtracks if the following part begins with a digit.
                for end in stride(from: start + run, through: start + (count ?? 1), by: -1) {
                    if match(part + 1, at: end) { return give(field, .text(String(name[start..<end]))) }
                }
                return false
            case .date(let date):
                let end = start + date.length
                guard end <= name.count, let time = date.read(name[start..<end], timeZone), match(part + 1, at: end)
                else { return false }
                return give(field, .date(time))
            }
        }

        private mutating func give(_ field: String, _ value: Value) -> Bool {
            values["match.\(field)"] = value
            return true
        }
    }
}

/// Splits a ``NamePattern`` into its parts.
private struct NamePatternScanner {
    enum Piece {
        case literal(String)
        case field(String, form: String?, offset: Int, formOffset: Int)
    }

    private static let letters = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".unicodeScalars)
    private static let others = Set("0123456789-".unicodeScalars)

    private let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ pattern: String) { scalars = Array(pattern.unicodeScalars) }

    mutating func next() throws(NamePattern.Fault) -> Piece? {
        guard position < scalars.count else { return nil }
        if scalars[position] == "{", !isDoubled { return try field() }
        var text = String.UnicodeScalarView()
        while position < scalars.count {
            let scalar = scalars[position]
            if scalar == "{" || scalar == "}" {
                guard isDoubled else {
                    if scalar == "{" { break }
                    throw NamePattern.Fault(
                        message: "`}` closes nothing; write `}}` for the brace itself", offset: position)
                }
                position += 1
            }
            text.append(scalar)
            position += 1
        }
        return .literal(String(text))
    }

    private var isDoubled: Bool { position + 1 < scalars.count && scalars[position + 1] == scalars[position] }

    private mutating func field() throws(NamePattern.Fault) -> Piece {
        let open = position
        guard let close = scalars[open...].firstIndex(of: "}") else {
            throw NamePattern.Fault(message: "`{` is not closed; write `{{` for the brace itself", offset: open)
        }
        position = close + 1
        let inner = scalars[(open + 1)..<close]
        let colon = inner.firstIndex(of: ":")
        let name = text(inner[..<(colon ?? close)])
        guard let first = name.unicodeScalars.first, Self.letters.contains(first),
            name.unicodeScalars.allSatisfy({ Self.letters.contains($0) || Self.others.contains($0) })
        else {
            throw NamePattern.Fault(
                message: "a field needs a name of letters, digits and `-`, as in `{vendor}`", offset: open + 1)
        }
        return .field(
            name, form: colon.map { text(inner[($0 + 1)...]) }, offset: open, formOffset: (colon ?? open) + 1)
    }

    private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }
}
