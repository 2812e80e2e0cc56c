import Platform

/// Conditions on a file's folder or, in rules about folders, on the folder itself. They are evaluated when that is
/// judged; later changes next to a file do not trigger it again.
extension ConditionSpec {
    static let folderConditions: [ConditionSpec] = [
        ConditionSpec(
            "count",
            "The number of files in the file's folder, including itself: `> 100`. A list is a range. Hidden names and files "
                + "in subfolders do not count. With `match: folders`, the number of files in the folder itself, at any "
                + "depth, except those that are hidden or in hidden folders.",
            example: "count: \"> 100\"", schema: comparisons, takes: .both
        ) { node, context in
            guard let wanted = context.comparisons(node, "count", such: "> 100", bound: { Int($0) }) else { return nil }
            return Loaded { facts, _ in
                let count = try facts.folder()?.shown.count ?? facts.neighbours().count
                return Observation(wanted.allSatisfy { $0.holds(count) }, seen: files(count))
            }
        },
        ConditionSpec(
            "total-size",
            "How many bytes the files of its folder have, counted as `count` does: `> 10 GiB`. A list is a range.",
            example: "total-size: \"> 10 GiB\"", schema: comparisons, takes: .both
        ) { node, context in
            guard let wanted = context.comparisons(node, "total-size", such: "> 10 GiB", bound: Quantity.bytes) else {
                return nil
            }
            return Loaded { facts, _ in
                let sizes = try facts.folder()?.shown.map(\.fingerprint.size) ?? facts.neighbours().map(\.size)
                let total = FolderContents.sum(sizes)
                return Observation(
                    wanted.allSatisfy { $0.holds(total) }, seen: "\(total) bytes in \(files(sizes.count))")
            }
        },
        ConditionSpec(
            "first-of",
            "Whether it is the first of the files in its folder, or one of the first `count`: in the order of `by` (`name`, "
                + "`modified` or `size`; names byte by byte) and of `order` (`ascending`, the default, or `descending`), of "
                + "those whose names match `matching` (all but hidden ones, by default). Where two are the same, their names "
                + "decide.",
            example: "first-of: { by: modified, order: descending, matching: \"*.jpg\", count: 3 }",
            schema: [
                "type": "object", "additionalProperties": false, "required": ["by"],
                "properties": [
                    "by": ["enum": ["name", "modified", "size"]], "order": ["enum": ["ascending", "descending"]],
                    "matching": oneOrMoreTexts, "count": ["type": "integer", "minimum": 1],
                ],
            ], load: loadFirstOf),
    ]

    /// For rules about folders.
    static let holdsCondition = ConditionSpec(
        "holds",
        "Whether the folder holds a file whose name matches, all the way down; a glob with a `/` is compared with the path "
            + "below the folder. A list: one must match. Hidden files count. Only with `match: folders`.",
        example: "holds: \"*.{jpg,jpeg,heic}\"", schema: oneOrMoreTexts, takes: .folders
    ) { node, context in
        guard let globs = context.globs(node, "holds") else { return nil }
        return Loaded { facts, _ in
            guard let folder = try facts.folder() else { return Observation(false, seen: "the folder is gone") }
            let found = folder.files.first { file in
                globs.contains { $0.matches($0.pattern.contains("/") ? file.path.bytes : file.path.name) }
            }
            return Observation(found != nil, seen: found?.path.description ?? "none of \(files(folder.files.count))")
        }
    }

    private enum FileOrder: String, CaseIterable {
        case name, modified, size

        /// Whether one comes before the other in ascending order; nil if only their names can decide.
        func isBefore(_ one: Neighbour, _ other: Neighbour) -> Bool? {
            switch self {
            case .name: nil
            case .modified: one.modified == other.modified ? nil : one.modified < other.modified
            case .size: one.size == other.size ? nil : one.size < other.size
            }
        }
    }

    private static func files(_ count: Int) -> String { count == 1 ? "1 file" : "\(count) files" }

    @Sendable private static func loadFirstOf(_ node: YamlNode, _ context: ConditionReader) -> Loaded? {
        let keys = ["by", "order", "matching", "count"]
        guard let mapping = context.reader.mapping(node, "`first-of`", keys: keys) else { return nil }
        guard let by = mapping["by"] else {
            context.reader.report(node.position, "`first-of` needs `by`", hint: "say `by: name`, `modified` or `size`")
            return nil
        }
        let order = context.reader.choice(by, "`by`", among: FileOrder.allCases.map(\.rawValue)).flatMap(FileOrder.init)
        let direction: String? =
            mapping["order"].map { context.reader.choice($0, "`order`", among: ["ascending", "descending"]) }
            ?? "ascending"
        let globs: [TextGlob]? = mapping["matching"].map { context.globs($0, "matching") } ?? []
        let count: Int? = mapping["count"].map { context.reader.integer($0, "`count`", in: 1...1_000_000) } ?? 1
        guard let order, let direction, let globs, let count else { return nil }
        return Loaded { facts, _ in
            let all = try facts.neighbours().filter { file in
                globs.isEmpty || globs.contains { $0.matches(file.name) }
            }
            guard let own = all.first(where: { $0.name == facts.path.name }) else {
                return Observation(false, seen: "not among the \(files(all.count)) meant")
            }
            let before = all.filter { other in
                guard other.name != own.name else { return false }
                let isBefore = order.isBefore(other, own) ?? other.name.lexicographicallyPrecedes(own.name)
                return isBefore == (direction == "ascending")
            }
            return Observation(before.count < count, seen: "number \(before.count + 1) of \(files(all.count))")
        }
    }
}
