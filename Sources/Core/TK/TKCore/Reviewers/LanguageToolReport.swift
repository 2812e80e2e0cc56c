import Platform

/// LanguageTool's matches. Offsets count UTF-16 code units, as Java's strings do.
enum LanguageToolReport {
    static func finding(_ match: JSON, by author: String, _ places: ReportedPlaces) -> ReportedFinding {
        let rule = match["rule"]
        let offset = match["offset"]?.whole
        let words = match["replacements"]?.items.compactMap { $0["value"]?.text } ?? []
        let isSlip = ["misspelling", "grammar"].contains(rule?["issueType"]?.text)
        var finding = ReportedFinding(
            author: author, rule: rule?["id"]?.text, message: match["message"]?.text ?? "",
            range: offset.flatMap { places.range(utf16: $0, length: match["length"]?.whole ?? 0) },
            replacement: words.first, alternatives: Array(words.dropFirst().prefix(4)), priority: isSlip ? 2 : 3,
            place: offset.map { "at offset \($0)" })
        if let context = match["context"], let text = context["text"]?.text {
            let units = Array(text.utf16)
            let (start, length) = (context["offset"]?.whole ?? 0, context["length"]?.whole ?? 0)
            if units.indices.contains(start), length > 0, length <= units.count - start {
                let end = start + length
                finding.quote = String(decoding: units[start..<end], as: UTF16.self)
                finding.prefix = Self.side(units[..<start]).trimmingPrefix("...").description
                var suffix = Self.side(units[end...])
                if suffix.hasSuffix("...") { suffix.removeLast(3) }
                finding.suffix = suffix
            }
        }
        return finding
    }

    private static func side(_ units: ArraySlice<UInt16>) -> String { String(decoding: units, as: UTF16.self) }
}
