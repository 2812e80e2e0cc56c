/// A strict reader of delimited records: any deviation from RFC 4180 is an error with line and column.
struct DelimitedReader {
    struct Record {
        let position: SourcePosition
        let fields: [String]
    }

    private let scalars: [Unicode.Scalar]
    private let separator: Unicode.Scalar
    private let hasQuotes: Bool
    private var index = 0
    private var line = 1
    private var lineStart = 0

    init(_ text: String, isTabbed: Bool) {
        var scalars = Array(text.unicodeScalars)
        if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
        self.scalars = scalars
        let header = scalars.prefix { $0 != "\n" }
        separator = isTabbed ? "\t" : header.contains(";") && !header.contains(",") ? ";" : ","
        hasQuotes = !isTabbed
    }

    /// The next record that is not blank; nil at the end.
    mutating func record() throws(LookupTable.Fault) -> Record? {
        while index < scalars.count {
            let start = position
            var fields: [String] = []
            repeat { fields.append(try field()) } while skip(separator)
            try endLine()
            if fields.count > 1 || !fields[0].trimmedSpaces.isEmpty { return Record(position: start, fields: fields) }
        }
        return nil
    }

    private var position: SourcePosition { SourcePosition(line: line, column: index - lineStart + 1) }
    private var isAtLineEnd: Bool {
        index >= scalars.count || scalars[index] == "\n"
            || scalars[index] == "\r" && (index + 1 >= scalars.count || scalars[index + 1] == "\n")
    }

    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard index < scalars.count, scalars[index] == scalar else { return false }
        index += 1
        return true
    }

    private mutating func endLine() throws(LookupTable.Fault) {
        guard isAtLineEnd else { throw LookupTable.Fault(position, "a field ends with its closing quote") }
        _ = skip("\r")
        if skip("\n") { newLine() }
    }

    private mutating func newLine() {
        line += 1
        lineStart = index
    }

    private mutating func field() throws(LookupTable.Fault) -> String {
        if hasQuotes, index < scalars.count, scalars[index] == "\"" { return try quoted() }
        var text = String.UnicodeScalarView()
        while !isAtLineEnd, scalars[index] != separator {
            if hasQuotes, scalars[index] == "\"" {
                throw LookupTable.Fault(
                    position, "a quote stands inside a field that does not begin with one",
                    hint: "put the whole field in quotes and double those inside: `\"5\"\" disk\"`")
            }
            text.append(scalars[index])
            index += 1
        }
        return String(text)
    }

    private mutating func quoted() throws(LookupTable.Fault) -> String {
        let start = position
        index += 1
        var text = String.UnicodeScalarView()
        while index < scalars.count {
            let scalar = scalars[index]
            index += 1
            if scalar == "\"", !skip("\"") { return String(text) }
            text.append(scalar)
            if scalar == "\n" { newLine() }
        }
        throw LookupTable.Fault(start, "the quote is never closed")
    }
}
