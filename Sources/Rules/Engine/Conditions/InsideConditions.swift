import Platform

/// Conditions on a parser's findings; the parser runs in its own process (docs/design/contents.md).
extension ConditionSpec {
    static let insideConditions: [ConditionSpec] = [
        containsSpec, pagesSpec, exifSpec, mediaSpec, archiveSpec, languageSpec,
    ]

    private static let oneOfThem =
        "It does not hold for a file that is damaged or takes too long to be read."

    // MARK: - contains

    private static let containsSpec = ConditionSpec(
        "contains",
        "What the text of a document contains: of plain text, HTML, PDF, DOCX, ODT, EPUB and their like. A text, a list "
            + "of which one must occur, or `text` and `matches` (regular expressions; `^` and `$` are ends of lines) with `case: match` "
            + "where capitals count. In `text` white space of any length is one blank. The first mebibyte is looked at. A "
            + "group `(?<number>…)` gives the value `match.number`. " + oneOfThem,
        example: "contains: { text: Invoice, matches: \"(?<number>INV-[0-9]+)\" }",
        schema: [
            "oneOf": [
                ["type": "string", "minLength": 1],
                ["type": "array", "minItems": 1, "items": ["type": "string", "minLength": 1]],
                [
                    "type": "object", "additionalProperties": false, "minProperties": 1,
                    "properties": [
                        "text": oneOrMoreTexts, "matches": oneOrMoreTexts, "case": ["enum": ["match", "ignore"]],
                    ],
                ],
            ]
        ]
    ) { node, context in
        guard let search = TextSearch(node, context) else { return nil }
        return Loaded(provides: search.provides) { facts, _ in
            guard let found = try facts.findings(.document) else { return Observation(false, seen: "no document") }
            guard let text = found.text else { return Observation(false, seen: found.trouble ?? "no text") }
            return search.look(in: text, isCut: found.isCut)
        }
    }

    // MARK: - pages

    private static let pagesSpec = ConditionSpec(
        "pages",
        "How many pages a PDF has, or an office document says that it has: `> 10`. A list is a range. " + oneOfThem,
        example: "pages: [\"> 1\", \"< 10\"]", schema: comparisons
    ) { node, context in
        guard let wanted = context.comparisons(node, "pages", such: "> 10", bound: { Int($0) }) else { return nil }
        return Loaded { facts, _ in
            guard let found = try facts.findings(.document) else { return Observation(false, seen: "no document") }
            guard case .integer(let count)? = found.values["document.pages"] else {
                return Observation(false, seen: found.trouble ?? "it does not say how many")
            }
            return Observation(
                wanted.allSatisfy { $0.holds(count) }, seen: count == 1 ? "1 page" : "\(count) pages")
        }
    }

    // MARK: - exif

    private static let exifSpec = ConditionSpec(
        "exif",
        "What a camera wrote into a picture, as `front-matter`: `make`, `model`, `lens`, `taken`, `offset`, `gps`, `width`, "
            + "`height`, `orientation`, with a value, a glob, a list of them, `present` or `absent`; of `width` and `height` "
            + "a comparison. `taken` is written `2026-11-23 09:30:15`. All must hold. " + oneOfThem,
        example: "exif: { model: \"Canon*\", taken: present, gps: present }", schema: presence
    ) { node, context in
        let keys = ["make", "model", "lens", "taken", "offset", "gps", "width", "height", "orientation"]
        guard let wanted = FindingsTest(node, context, "exif", keys: keys, numbers: ["width", "height"]) else {
            return nil
        }
        return Loaded { facts, _ in
            guard let found = try facts.findings(.picture) else { return Observation(false, seen: "no picture") }
            return wanted.look(at: found, prefix: "photo.", others: ["gps": "latitude"])
        }
    }

    // MARK: - media

    private static let mediaSpec = ConditionSpec(
        "media",
        "What sound or a film says of itself, as `front-matter`: `title`, `artist`, `album`, `albumArtist`, `genre` with a "
            + "value, a glob, a list of them, `present` or `absent`; `duration` (`> 3m`), `width`, `height`, `track` and "
            + "`year` with a comparison, or a list of them that is a range. All must hold. " + oneOfThem,
        example: "media: { artist: \"*Quartet*\", duration: \"> 3m\" }", schema: presence
    ) { node, context in
        let numbers = ["duration", "width", "height", "track", "year"]
        let keys = ["title", "artist", "album", "albumArtist", "genre"] + numbers
        guard let wanted = FindingsTest(node, context, "media", keys: keys, numbers: numbers) else { return nil }
        return Loaded { facts, _ in
            guard let found = try facts.findings(.media) else {
                return Observation(false, seen: "neither sound nor film")
            }
            return wanted.look(at: found, prefix: "media.", others: [:])
        }
    }

    // MARK: - archive

    private static let archiveSpec = ConditionSpec(
        "archive",
        "What a \(ArchiveFormat.archiveNames.alternatives) holds, a TAR also compressed: `holds` (globs of entries' paths or "
            + "names; one must match an entry), `type` (globs of MIME types, by the entries' names) and `encrypted` (whether "
            + "an entry is). All must hold. " + oneOfThem,
        example: "archive: { holds: \"*.cbz\", encrypted: false }",
        schema: [
            "type": "object", "additionalProperties": false, "minProperties": 1,
            "properties": ["holds": oneOrMoreTexts, "type": oneOrMoreTexts, "encrypted": ["type": "boolean"]],
        ]
    ) { node, context in
        guard let wanted = ArchiveTest(node, context) else { return nil }
        return Loaded { facts, _ in
            guard let found = try facts.findings(.entries) else { return Observation(false, seen: "no archive") }
            return wanted.look(at: found)
        }
    }

    // MARK: - language

    private static let languageSpec = ConditionSpec(
        "language",
        "The language of a document's text, by its two letters: `de`. A list: one must match. Short texts have none. "
            + oneOfThem,
        example: "language: [de, en]", schema: oneOrMoreTexts
    ) { node, context in
        guard let names = context.texts(node, "language") else { return nil }
        let isGood = zip(context.reader.oneOrMore(node), names).allSatisfy { item, name in
            let isCode = (2...3).contains(name.utf8.count) && name.utf8.allSatisfy { (0x61...0x7A).contains($0) }
            if !isCode {
                context.reader.report(
                    item.position,
                    "`language` must be a code of two or three small letters such as `de`, not "
                        + context.reader.shown(item))
            }
            return isCode
        }
        guard isGood else { return nil }
        return Loaded { facts, _ in
            guard let found = try facts.findings(.language) else { return Observation(false, seen: "no document") }
            guard case .text(let language)? = found.values["document.language"] else {
                return Observation(false, seen: found.trouble ?? "no language")
            }
            return Observation(names.contains(language), seen: language)
        }
    }
}
