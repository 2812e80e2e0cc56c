/// Warns about rules that write down what another step, or another rule on the same files, keeps hidden.
enum HiddenNameCheck {
    /// Values that do not identify the file.
    private static let harmless: Set<String> = [
        "file.extension", "file.place", "file.size", "file.kind", "file.mime", "file.modified",
        "file.created", "file.accessed", "comic.pages",
        "comic.format", "comic.outcome", "comic.vault", "comic.state", "comic.sealed", "comic.language",
    ]
    private static let telling = ["file.", "comic.", "front.", "target.", "match.", "duplicate.", "download."]
    /// Actions that leave the file's name elsewhere, whatever their parameters.
    private static let keeping: Set<String> = ["copy", "move", "rename", "trash", "index-capture", "import-comic"]
    /// Values that exist only for comics in a library.
    private static let ofLibraries: Set<String> = ["comic.path", "target.path", "target.name", "target.stem"]

    static func warnings(_ rules: [Rule]) -> [Diagnostic] {
        let hiding = rules.filter(\.hidesNames)
        guard !hiding.isEmpty else { return [] }
        return rules.flatMap { rule in
            rule.allSteps.filter { !$0.action.hidesNames }.compactMap { step in
                warning(step, of: rule, hiding)
            }
        }
    }

    private static func warning(_ step: StepTemplate, of rule: Rule, _ hiding: [Rule]) -> Diagnostic? {
        let isOwn = rule.hidesNames
        guard let other = isOwn ? rule : hiding.first(where: { overlap($0, rule) }) else { return nil }
        let action = step.declaration.name
        let used = step.valueNames.filter { name in
            telling.contains(where: name.hasPrefix) && !harmless.contains(name)
        }.sorted()
        let empty = isOwn ? used.filter(ofLibraries.contains) : []
        if let first = empty.first {
            return Diagnostic(
                file: rule.file, at: step.position,
                "`\(action)` uses `\(first)`, which a comic in a vault does not have: it is empty",
                hint: "use `comic.title` or `comic.state`", severity: .warning)
        }
        let what: String
        if let first = used.first {
            what = "`\(action)` writes `\(first)` in the clear"
        } else if keeping.contains(action) {
            what = "`\(action)` leaves the file's name in the clear"
        } else {
            return nil
        }
        return Diagnostic(
            file: rule.file, at: step.position,
            "\(what), while `\(other.name)` seals such files in a vault and hides their names",
            hint: isOwn
                ? "leave the step out, or say `names: keep` if names may be seen"
                : "narrow one of the rules by `where`, or say `names: keep` there if names may be seen",
            severity: .warning)
    }

    /// Whether both could match the same file, judging by places and extensions.
    private static func overlap(_ one: Rule, _ other: Rule) -> Bool {
        guard !Set(one.places.map(\.name)).isDisjoint(with: other.places.map(\.name)) else { return false }
        guard let ends = one.condition.extensions, let others = other.condition.extensions else { return true }
        return !Set(ends).isDisjoint(with: others)
    }
}
