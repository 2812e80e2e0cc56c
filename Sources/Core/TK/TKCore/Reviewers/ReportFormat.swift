import Platform

/// The formats in which other reviewers report findings.
package enum ReportFormat: String, Sendable, CaseIterable {
    /// reviewdog's, as one document.
    case rdjson
    /// reviewdog's, one diagnostic per line.
    case rdjsonl
    case sarif
    /// `vale --output=JSON`.
    case vale
    /// The answer of LanguageTool's `/v2/check`.
    case languagetool
    /// A copy of the draft with CriticMarkup in it.
    case criticmarkup

    /// Reads a report about a draft.
    ///
    /// - Parameter format: nil to tell it by the report.
    /// - Throws: `Fault(.usage)` if the report is in no known format, or not in that one.
    package static func read(
        _ bytes: [UInt8], as format: ReportFormat? = nil, about draft: DraftText
    ) throws -> [ReportedFinding] {
        switch format {
        case nil: return try detected(bytes, draft)
        case .criticmarkup: return try criticMarkup(bytes, draft)
        case .rdjsonl: return try rdjsonl(bytes, draft)
        case .rdjson, .sarif, .vale, .languagetool:
            do {
                let value = try JSON(parsing: bytes)
                guard let format, let found = findings(value, as: format, draft) else {
                    throw isNot(format)
                }
                return found
            } catch let mistake as JSON.Mistake {
                throw Fault(.usage, "the report is no JSON: line \(mistake.line): \(mistake.message)")
            }
        }
    }

    /// Reads what a program has printed on both its streams: lines before and after the report are left out.
    package static func read(output bytes: [UInt8], about draft: DraftText) throws -> [ReportedFinding] {
        do {
            return try read(bytes, about: draft)
        } catch let fault as Fault where fault.kind == .usage {
            let lines = bytes.split(separator: UInt8(ascii: "\n"))
            let isStart = { (line: ArraySlice<UInt8>) in line.first.map { "{[".utf8.contains($0) } ?? false }
            let isEnd = { (line: ArraySlice<UInt8>) in line.last { $0 > 0x20 }.map { "}]".utf8.contains($0) } ?? false }
            guard let first = lines.firstIndex(where: isStart), let last = lines.lastIndex(where: isEnd), first <= last,
                last - first + 1 < lines.count
            else { throw fault }
            return try read(Array(lines[first...last].joined(separator: [UInt8(ascii: "\n")])), about: draft)
        }
    }

    private static func detected(_ bytes: [UInt8], _ draft: DraftText) throws -> [ReportedFinding] {
        // A program without findings may print nothing at all.
        guard let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return [] }
        if [UInt8(ascii: "{"), UInt8(ascii: "["), 0xEF].contains(first) {
            let value: JSON?
            do { value = try JSON(parsing: bytes) } catch { value = nil }
            if let value {
                for format in [ReportFormat.sarif, .rdjson, .languagetool, .vale] {
                    if let found = findings(value, as: format, draft) { return found }
                }
                for (member, format) in [("runs", ReportFormat.sarif), ("diagnostics", .rdjson)] {
                    if value[member] != nil { throw isNot(format) }
                }
                if let text = value["Text"]?.text, value["Code"] != nil { throw Fault(.failed, "vale says: \(text)") }
            }
            do {
                return try rdjsonl(bytes, draft)
            } catch {
                // If it is no JSON at all: a copy of the draft may begin with a bracket, too.
                if value != nil { throw error }
            }
        }
        let findings = try criticMarkup(bytes, draft)
        if findings.isEmpty {
            throw Fault(
                .usage,
                "the report is in none of the known formats, and there is no CriticMarkup in it; name its format, one of "
                    + allCases.map(\.rawValue).joined(separator: ", "))
        }
        return findings
    }

    private static func isNot(_ format: ReportFormat?) -> Fault {
        Fault(.usage, "the report is JSON, but not \(format?.rawValue ?? "")")
    }

    private static func criticMarkup(_ bytes: [UInt8], _ draft: DraftText) throws -> [ReportedFinding] {
        CriticMarkup(try DraftText(bytes, "the copy").string, of: draft).findings
    }

    private static func rdjsonl(_ bytes: [UInt8], _ draft: DraftText) throws -> [ReportedFinding] {
        let places = ReportedPlaces(draft)
        var findings: [ReportedFinding] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.allSatisfy({ [0x20, 0x09, 0x0D].contains($0) }) {
            let value: JSON
            do {
                value = try JSON(parsing: Array(line))
            } catch {
                throw Fault(.usage, "line \(index + 1) of the report is no JSON: \(error.message)")
            }
            guard let found = RDJSONReport.findings(value, places) else {
                throw Fault(.usage, "line \(index + 1) of the report is no diagnostic of reviewdog's")
            }
            findings += found
        }
        return findings
    }

    /// nil if the value is not in that format.
    private static func findings(_ value: JSON, as format: ReportFormat, _ draft: DraftText) -> [ReportedFinding]? {
        let places = ReportedPlaces(draft)
        switch format {
        case .sarif:
            guard case .array(let runs)? = value["runs"] else { return nil }
            return runs.flatMap { SARIFReport($0, places).findings }
        case .rdjson:
            guard case .array(let diagnostics)? = value["diagnostics"] else { return nil }
            var findings: [ReportedFinding] = []
            for diagnostic in diagnostics {
                guard let found = RDJSONReport.findings(diagnostic, places, source: value["source"]) else { return nil }
                findings += found
            }
            return findings
        case .languagetool:
            guard case .array(let matches)? = value["matches"], value["software"] != nil || value["language"] != nil
            else { return nil }
            let name = value["software"]?["name"]?.text ?? "LanguageTool"
            return matches.map { LanguageToolReport.finding($0, by: name, places) }
        case .vale: return ValeReport.findings(value, places)
        case .rdjsonl, .criticmarkup: return nil
        }
    }
}

extension JSON {
    /// An object's member; nil for another value, and for `null`.
    subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self, let found = members.first(where: { $0.0 == name })?.1 else {
            return nil
        }
        if case .null = found { return nil }
        return found
    }

    /// An array's elements; none for another value.
    var items: [JSON] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }

    /// A whole number; nil for another value.
    var whole: Int? { double.flatMap { Int(exactly: $0) } }
}
