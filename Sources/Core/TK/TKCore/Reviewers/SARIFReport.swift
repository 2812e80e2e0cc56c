import Platform

/// A run of SARIF 2.1.0. Columns and offsets count UTF-16 code units unless the run says otherwise (3.14.17); lines and
/// columns count from 1, and a region's end is exclusive.
struct SARIFReport {
    private let run: JSON
    private let places: ReportedPlaces
    private let unit: ReportedPlaces.Unit
    private let driver: JSON?

    init(_ run: JSON, _ places: ReportedPlaces) {
        self.run = run
        self.places = places
        unit = run["columnKind"]?.text == "unicodeCodePoints" ? .scalars : .utf16
        driver = run["tool"]?["driver"]
    }

    var findings: [ReportedFinding] { (run["results"]?.items ?? []).map(finding) }

    private func finding(_ result: JSON) -> ReportedFinding {
        let rule = rule(of: result)
        let id = result["ruleId"]?.text ?? result["rule"]?["id"]?.text ?? rule?["id"]?.text
        let physical = result["locations"]?.items.first?["physicalLocation"]
        let region = physical?["region"]
        let level = result["level"]?.text ?? rule?["defaultConfiguration"]?["level"]?.text
        var finding = ReportedFinding(
            author: driver?["name"]?.text, rule: id, message: message(result["message"], rule),
            file: uri(physical?["artifactLocation"]), range: region.flatMap(range),
            priority: level == "error" ? 1 : level == "note" || level == "none" ? 4 : 3,
            place: ReportedPlaces.shown(region?["startLine"]?.whole, region?["startColumn"]?.whole))
        // Some tools quote whole lines: then the position counts.
        if let snippet = region?["snippet"]?["text"]?.text {
            let isWithin = finding.range.map { snippet.contains(places.draft[$0]) } ?? false
            if !isWithin { finding.quote = snippet }
        }
        let changes = (result["fixes"]?.items ?? []).compactMap(change)
        if let first = changes.first {
            if finding.quote == nil || first.range == finding.range {
                finding.range = first.range
                finding.replacement = first.text
            }
            finding.alternatives = changes.dropFirst().filter { $0.range == first.range }.map(\.text)
        }
        return finding
    }

    private func rule(of result: JSON) -> JSON? {
        let rules = driver?["rules"]?.items ?? []
        if let index = (result["ruleIndex"] ?? result["rule"]?["index"])?.whole, rules.indices.contains(index) {
            return rules[index]
        }
        let id = result["ruleId"]?.text
        return id == nil ? nil : rules.first { $0["id"]?.text == id }
    }

    private func message(_ message: JSON?, _ rule: JSON?) -> String {
        var text = message?["text"]?.text ?? message?["markdown"]?.text
        if text == nil, let id = message?["id"]?.text { text = rule?["messageStrings"]?[id]?["text"]?.text }
        let arguments = message?["arguments"]?.items ?? []
        // In one pass: an argument may look like a place for another.
        text = text?.replacing(/\{([0-9]{1,6})\}/) { match -> String in
            let index = Int(match.output.1) ?? 0
            return arguments.indices.contains(index) ? arguments[index].text ?? "" : String(match.output.0)
        }
        return text ?? rule?["shortDescription"]?["text"]?.text ?? ""
    }

    private func uri(_ location: JSON?) -> String? {
        if let uri = location?["uri"]?.text { return uri }
        let artifacts = run["artifacts"]?.items ?? []
        guard let index = location?["index"]?.whole, artifacts.indices.contains(index) else { return nil }
        return artifacts[index]["location"]?["uri"]?.text
    }

    private func range(_ region: JSON) -> Range<Int>? {
        if let line = region["startLine"]?.whole {
            let last = region["endLine"]?.whole ?? line
            return places.range(
                line: line, column: region["startColumn"]?.whole ?? 1, endLine: last,
                endColumn: region["endColumn"]?.whole, unit)
        }
        guard let start = region["charOffset"]?.whole else { return nil }
        let length = region["charLength"]?.whole ?? 0
        if unit == .utf16 { return places.range(utf16: start, length: length) }
        let all = 0...places.draft.count
        guard all.contains(start), all.contains(length), all.contains(start + length) else { return nil }
        return start..<start + length
    }

    /// A fix's replacements as one; nil if it changes several files, or places that are not in the draft.
    private func change(_ fix: JSON) -> (range: Range<Int>, text: String)? {
        let changes = fix["artifactChanges"]?.items ?? []
        guard changes.count == 1 else { return nil }
        let parts = (changes[0]["replacements"]?.items ?? []).map { replacement in
            (
                range: replacement["deletedRegion"].flatMap(range),
                text: replacement["insertedContent"]?["text"]?.text ?? ""
            )
        }
        var edits: [(range: Range<Int>, text: String)] = []
        for part in parts {
            guard let range = part.range else { return nil }
            edits.append((range, part.text))
        }
        edits.sort { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
        guard let first = edits.first else { return nil }
        var (text, end) = (first.text, first.range.upperBound)
        for edit in edits.dropFirst() {
            guard edit.range.lowerBound >= end else { return nil }
            text += places.draft[end..<edit.range.lowerBound] + edit.text
            end = edit.range.upperBound
        }
        return (first.range.lowerBound..<end, text)
    }
}
