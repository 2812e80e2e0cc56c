import Platform

/// Conditions on a file's name and path.
extension ConditionSpec {
    static let nameConditions: [ConditionSpec] = [
        ConditionSpec(
            "name", "The file's name, by globs: `*`, `?`, `[a-z]`, `{a,b}`. Case counts. A list: one must match.",
            example: "name: \"*.{cbz,cbr}\"", schema: oneOrMoreTexts, takes: .both
        ) { node, context in
            guard let globs = context.globs(node, "name") else { return nil }
            return Loaded(extensions: ends(of: globs), literals: literals(of: globs)) { facts, _ in
                Observation(globs.contains { $0.matches(facts.path.name) }, seen: BytePath.escape(facts.path.name))
            }
        },
        ConditionSpec(
            "stem",
            "The name without its ending (`report.tar` of `report.tar.gz`), by globs, as `name`. A letter and its accent "
                + "count as one character, however the name writes them; a name with a line break in it matches nothing.",
            example: "stem: \"*draft*\"", schema: oneOrMoreTexts, takes: .both
        ) { node, context in
            guard let globs = context.globs(node, "stem") else { return nil }
            return Loaded { facts, _ in
                let bytes = facts.path.stemAndExtension.stem
                let seen = BytePath.escape(bytes)
                guard !bytes.contains(UInt8(ascii: "\n")) else { return Observation(false, seen: seen) }
                return Observation(globs.contains { $0.matches(bytes) }, seen: seen)
            }
        },
        ConditionSpec(
            "path",
            "The path below the place, by globs; `*` stops at `/`, `**` does not. Case counts. A list: one must match.",
            example: "path: \"scans/**/*.png\"", schema: oneOrMoreTexts, takes: .both
        ) { node, context in
            guard let globs = context.globs(node, "path") else { return nil }
            return Loaded(extensions: ends(of: globs)) { facts, _ in
                Observation(globs.contains { $0.matches(facts.path.bytes) }, seen: facts.path.description)
            }
        },
        ConditionSpec(
            "extension", "The name's extension, without the dot; case does not count. A list: one must match.",
            example: "extension: [md, txt]", schema: oneOrMoreTexts, takes: .both
        ) { node, context in
            guard let texts = context.texts(node, "extension") else { return nil }
            let wanted = texts.map { lowered(Array(($0.hasPrefix(".") ? $0 : "." + $0).composed.utf8)) }
            return Loaded(extensions: RuleIndex.keys(ofSuffixes: wanted)) { facts, _ in
                let name = lowered(facts.path.name.composed)
                let held = wanted.contains { name.count > $0.count && name.suffix($0.count).elementsEqual($0) }
                let seen = facts.path.stemAndExtension.extension.map { BytePath.escape($0) }
                return Observation(held, seen: seen ?? "none")
            }
        },
        ConditionSpec(
            "depth", "The number of folders between the place and the file; 0 is the place itself. A list is a range.",
            example: "depth: \"<= 1\"", schema: comparisons, takes: .both
        ) { node, context in
            guard let comparisons = context.comparisons(node, "depth", such: "<= 1", bound: { Int($0) }) else {
                return nil
            }
            return Loaded { facts, _ in
                Observation(comparisons.allSatisfy { $0.holds(facts.depth) }, seen: String(facts.depth))
            }
        },
        ConditionSpec(
            "hidden", "Whether the name, or a folder's above it, begins with a dot.", example: "hidden: false",
            schema: ["type": "boolean"], takes: .both
        ) { node, context in
            guard let wanted = context.reader.boolean(node, "`hidden`") else { return nil }
            return Loaded { facts, _ in
                Observation(facts.isHidden == wanted, seen: facts.isHidden ? "hidden" : "not hidden")
            }
        },
        ConditionSpec(
            "place", "The place's name, for rules of several places. A list: one must match.", example: "place: comics",
            schema: oneOrMoreTexts, takes: .both
        ) { node, context in
            guard let names = context.texts(node, "place") else { return nil }
            let known = context.places.map(\.name)
            var good = true
            for (item, name) in zip(context.reader.oneOrMore(node), names) where !known.contains(name) {
                let hint = Suggest.hint(for: name, among: known)
                context.reader.reportLack(item.position, "unknown place `\(printable(name))`", hint: hint)
                good = false
            }
            return good
                ? Loaded { facts, _ in Observation(names.contains(facts.place.name), seen: facts.place.name) } : nil
        },
        ConditionSpec(
            "anchor",
            "Holds once for each anchored block with this prefix that a changed note has gained; "
                + "a glob, or a list of them. Gives `block.*`.",
            example: "anchor: jrnl", schema: oneOrMoreTexts, usesBlocks: true
        ) { node, context in
            guard let globs = context.globs(node, "anchor") else { return nil }
            return Loaded { _, block in
                guard let block else { return Observation(false, seen: "no gained block") }
                return Observation(globs.contains { $0.matches(block.prefix) }, seen: printable(block.token))
            }
        },
    ]

    /// ASCII letters only, as in the index.
    private static func lowered(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
    }

    private static func literals(of globs: [TextGlob]) -> [[UInt8]]? {
        var all: [[UInt8]] = []
        for glob in globs {
            guard let found = glob.literals else { return nil }
            all += found
        }
        return all
    }

    private static func ends(of globs: [TextGlob]) -> Set<String>? {
        var suffixes: [[UInt8]] = []
        for glob in globs {
            guard let found = glob.literalSuffixes else { return nil }
            suffixes += found
        }
        return RuleIndex.keys(ofSuffixes: suffixes)
    }
}
