/// The fixed parts of a WordprocessingML package.
enum DocxParts {
    private static let word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    private static let offices = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    private static let packages = "http://schemas.openxmlformats.org/package/2006"

    static let contentTypes = """
        <Types xmlns="\(packages)/content-types"><Default Extension="rels" \
        ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" \
        ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="\(kind("document.main"))"/>\
        <Override PartName="/word/styles.xml" ContentType="\(kind("styles"))"/><Override \
        PartName="/word/numbering.xml" ContentType="\(kind("numbering"))"/><Override PartName="/docProps/core.xml" \
        ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>
        """

    private static func kind(_ part: String) -> String {
        "application/vnd.openxmlformats-officedocument.wordprocessingml.\(part)+xml"
    }

    static let relationships = """
        <Relationships xmlns="\(packages)/relationships"><Relationship Id="document" \
        Type="\(offices)/officeDocument" Target="word/document.xml"/><Relationship Id="core" \
        Type="\(packages)/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>
        """

    static func properties(title: String) -> String {
        """
        <cp:coreProperties xmlns:cp="\(packages)/metadata/core-properties" \
        xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>\(title)</dc:title></cp:coreProperties>
        """
    }

    static func document(_ body: String) -> String {
        """
        <w:document xmlns:w="\(word)" xmlns:r="\(offices)"><w:body>\(body)<w:sectPr><w:pgSz w:w="11906" \
        w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="708" w:footer="708" \
        w:gutter="0"/></w:sectPr></w:body></w:document>
        """
    }

    static func documentRelationships(_ links: [String]) -> String {
        let all = links.enumerated().map { index, url in
            "<Relationship Id=\"link\(index + 1)\" Type=\"\(offices)/hyperlink\" Target=\"\(url)\" "
                + "TargetMode=\"External\"/>"
        }.joined()
        return """
            <Relationships xmlns="\(packages)/relationships"><Relationship Id="styles" Type="\(offices)/styles" \
            Target="styles.xml"/><Relationship Id="numbering" Type="\(offices)/numbering" Target="numbering.xml"/>\
            \(all)</Relationships>
            """
    }

    static let styles: String = {
        func paragraph(_ id: String, _ name: String, _ text: String, _ run: String = "") -> String {
            "<w:style w:type=\"paragraph\" w:styleId=\"\(id)\"><w:name w:val=\"\(name)\"/><w:basedOn w:val=\"Normal\"/>"
                + "<w:qFormat/><w:pPr>\(text)</w:pPr><w:rPr>\(run)</w:rPr></w:style>"
        }
        var all = "<w:style w:type=\"paragraph\" w:default=\"1\" w:styleId=\"Normal\"><w:name w:val=\"Normal\"/>"
        all += "<w:qFormat/><w:pPr><w:spacing w:after=\"160\" w:line=\"276\" w:lineRule=\"auto\"/></w:pPr></w:style>"
        for (level, size) in [(1, 36), (2, 30), (3, 26), (4, 24), (5, 22), (6, 22)] {
            all += paragraph(
                "Heading\(level)", "heading \(level)",
                "<w:keepNext/><w:spacing w:before=\"320\" w:after=\"120\"/><w:outlineLvl w:val=\"\(level - 1)\"/>",
                "<w:b/><w:sz w:val=\"\(size)\"/>")
        }
        all += paragraph("Quote", "Quote", "<w:ind w:left=\"720\" w:right=\"720\"/>", "<w:i/>")
        all += paragraph(
            "SourceCode", "Source Code", "<w:spacing w:after=\"160\" w:line=\"240\" w:lineRule=\"auto\"/>",
            "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/><w:sz w:val=\"20\"/>")
        all += "<w:style w:type=\"character\" w:styleId=\"VerbatimChar\"><w:name w:val=\"Verbatim Char\"/><w:rPr>"
        all += "<w:rFonts w:ascii=\"Courier New\" w:hAnsi=\"Courier New\" w:cs=\"Courier New\"/></w:rPr></w:style>"
        all += "<w:style w:type=\"character\" w:styleId=\"Hyperlink\"><w:name w:val=\"Hyperlink\"/><w:rPr>"
        all += "<w:color w:val=\"0563C1\"/><w:u w:val=\"single\"/></w:rPr></w:style>"
        all += "<w:style w:type=\"table\" w:styleId=\"TableGrid\"><w:name w:val=\"Table Grid\"/><w:tblPr><w:tblBorders>"
        for side in ["top", "left", "bottom", "right", "insideH", "insideV"] {
            all += "<w:\(side) w:val=\"single\" w:sz=\"4\" w:space=\"0\" w:color=\"auto\"/>"
        }
        return "<w:styles xmlns:w=\"\(word)\">\(all)</w:tblBorders></w:tblPr></w:style></w:styles>"
    }()

    /// Two abstract lists, and an instance of one of them for each list of the draft; nil: without numbers.
    static func numbering(_ starts: [Int?]) -> String {
        func abstract(_ id: Int, _ format: (Int) -> (String, String)) -> String {
            let levels = (0..<9).map { level in
                let (name, text) = format(level)
                return "<w:lvl w:ilvl=\"\(level)\"><w:start w:val=\"1\"/><w:numFmt w:val=\"\(name)\"/><w:lvlText "
                    + "w:val=\"\(text)\"/><w:lvlJc w:val=\"left\"/><w:pPr><w:ind w:left=\"\(720 * (level + 1))\" "
                    + "w:hanging=\"360\"/></w:pPr></w:lvl>"
            }.joined()
            return "<w:abstractNum w:abstractNumId=\"\(id)\"><w:multiLevelType w:val=\"hybridMultilevel\"/>\(levels)"
                + "</w:abstractNum>"
        }
        let bullets = abstract(0) { _ in ("bullet", "•") }
        let numbers = abstract(1) { ("decimal", "%\($0 + 1).") }
        let lists = starts.enumerated().map { index, start in
            let overrides = start.map { first in
                (0..<9).map {
                    "<w:lvlOverride w:ilvl=\"\($0)\"><w:startOverride w:val=\"\(first)\"/></w:lvlOverride>"
                }.joined()
            }
            return
                "<w:num w:numId=\"\(index + 1)\"><w:abstractNumId w:val=\"\(start == nil ? 0 : 1)\"/>\(overrides ?? "")"
                + "</w:num>"
        }.joined()
        return "<w:numbering xmlns:w=\"\(word)\">\(bullets)\(numbers)\(lists)</w:numbering>"
    }
}
