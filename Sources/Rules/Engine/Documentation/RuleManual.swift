/// The manual of rule files, `docs/rules.md`, generated from the same declarations as the loader.
package enum RuleManual {
    package static func markdown(registry: ActionRegistry) -> String {
        ([introduction, keys, conditions, templates, values] + [actions(registry)]).joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # Rules

        This page is made from the declarations in the code (`steward rules manual`); do not edit it.

        Rules stand in files `NN-name.yaml`. They are read in the order of their file names from
        `/usr/share/steward/rules.d`, `/etc/steward/rules.d` and `~/.config/steward/rules.d`, and run in the order of
        file name, then position. The same file name in a later folder replaces the earlier file; an empty file, or a
        link to `/dev/null`, switches it off. Other endings are not read.

        `steward check` reports everything that is wrong with all files at once; a reload that does not validate keeps
        the rules in force. `steward explain FILE` shows each rule, each condition and the value that was seen.

        ```yaml
        - rule: Import comics
          in: comics
          where:
            name: "*.{cbz,cbr}"
            size: "<= 2 GiB"
          settle: 2s
          do:
            - trash
        ```
        """

    private static var keys: String {
        "## Keys of a rule\n\n"
            + table(
                ["Key", "Meaning", "Example"],
                RuleKey.all.map { key in
                    ["`\(key.name)`" + (key.required ? " (required)" : ""), key.summary, "`\(key.example)`"]
                })
    }

    private static var conditions: String {
        let tests = ConditionSpec.all.map { ["`\($0.name)`", $0.summary, "`\($0.example)`"] }
        let nesting = ConditionSpec.nesting.map { "- `\($0.name)`: \($0.summary)" }.joined(separator: "\n")
        return """
            ## Conditions

            All conditions of `where` must hold. They nest:

            \(nesting)

            Quote values that begin with `*`, `>`, `{`, `[`, `&`, `!` or `%`: they mean something else in YAML.

            \(table(["Condition", "Holds for", "Example"], tests))
            """
    }

    private static var templates: String {
        let filters = TemplateFilter.all.map { ["`\($0.name)`", $0.summary, "`\($0.example)`"] }
        return """
            ## Templates

            Parameters that take values are templates: `{{ name }}` shows a value, `{{ name | filter: argument }}`
            changes it first; filters follow each other. There is no logic, and what a value holds is never read as
            a template. Names that no step can provide are refused when rules are loaded; a value that a file does not have shows as
            nothing, or as what `default` says. `\\{{`, or `{{ "{{" }}`, stands for the braces themselves. An argument stands as it
            is, up to the next `|`, or in quotes, with `\\"`, `\\\\` and `\\n` in it; options follow one in quotes:
            `{{ arrived | format: "d MMMM", locale: fr }}`. Times are the file's, or those of its arrival, never those of the
            clock: a second try gives the same.

            Where a template is Markdown (`text` and `heading` of `append-block`, `text` of `write-note`), a value stands in
            one line, is shown and does nothing: it cannot begin a heading, list, quotation, fence, table or anchor; tags,
            pictures and links to anything but files and the web (`http:`, `https:`, `mailto:`) are escaped. Emphasis
            and links to the web work, unless `md` says otherwise; `raw` lets all of it work. A value within a template's
            own `[…](<…>)` cannot leave it, and a picture's address leads to a file. In a template's own front matter values
            are one line of YAML: write `{{ file.title | json }}` there.

            \(table(["Filter", "Makes", "Example"], filters))
            """
    }

    private static var values: String {
        let always = BuiltInValues.file + BuiltInValues.inside + BuiltInValues.job + [BuiltInValues.front]
        return """
            ## Values

            \(table(["Value", "Holds"], always.map { ["`\($0.name)`", $0.summary] }))

            In rules with `match: folders`, instead of `file.*` and what is read in files:

            \(table(["Value", "Holds"], BuiltInValues.folder.map { ["`\($0.name)`", $0.summary] }))

            In rules with the condition `anchor`:

            \(table(["Value", "Holds"], BuiltInValues.block.map { ["`\($0.name)`", $0.summary] }))

            In the steps of `for-each`:

            \(table(["Value", "Holds"], BuiltInValues.items.map { ["`\($0.name)`", $0.summary] }))

            Fixed when a job is planned, for all of its steps and tries:

            \(table(["Value", "Holds"], BuiltInValues.planned.map { ["`\($0.name)`", $0.summary] }))

            Where a condition holds, it gives what it has found; one in `not` gives nothing, and of `any` only the first
            that holds:

            \(table(["Condition", "Value", "Holds"], found))
            """
    }

    private static var found: [[String]] {
        ConditionSpec.all.flatMap { spec in
            spec.provides.map { ["`\(spec.name)`", "`\($0.name)`", $0.summary] }
        }
    }

    private static func actions(_ registry: ActionRegistry) -> String {
        "## Actions\n\n" + registry.definitions.map { action($0.declaration) }.joined(separator: "\n\n")
    }

    private static func action(_ declaration: ActionDeclaration) -> String {
        var parts = [
            "### \(declaration.name)", declaration.summary,
            "Done \(declaration.guarantee.rawValue), whatever happens in between. "
                + (declaration.canUndo ? "`steward undo` takes it back." : "It cannot be taken back.")
                + " Counts as \(declaration.work.rawValue) work."
                + (declaration.takes == .both ? " It also takes folders (`match: folders`)." : ""),
        ]
        if declaration.parameters.isEmpty {
            parts.append("No parameters.")
        } else {
            let rows = declaration.parameters.map { spec in
                [
                    "`\(spec.name)`" + (spec.required ? " (required)" : ""), kind(spec.kind),
                    spec.defaultValue.map { "`\($0)`" } ?? "", spec.summary,
                ]
            }
            parts.append(table(["Parameter", "Takes", "Default", "Meaning"], rows))
        }
        if !declaration.provides.isEmpty {
            let rows = declaration.provides.map { ["`\($0.name)`", $0.summary] }
            let own = declaration.provides.filter { !$0.isForOwnStep }
            let usesOwn = own.count < declaration.provides.count
            let except =
                usesOwn && !own.isEmpty ? ", but for \(own.map { "`\($0.name)`" }.joined(separator: ", "))" : ""
            parts.append(
                (usesOwn ? "Later steps, and this one's own templates\(except), may use:" : "Later steps may use:")
                    + "\n\n" + table(["Value", "Holds"], rows))
        }
        parts.append("```yaml\n\(declaration.example.trimmedSpaces)\n```")
        return parts.joined(separator: "\n\n")
    }

    private static func kind(_ kind: ParameterSpec.Kind) -> String {
        switch kind {
        case .template: "text with `{{ }}`"
        case .templateList: "texts with `{{ }}`"
        case .literal: "text"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .boolean: "`true` or `false`"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .duration: "a duration: `2s`, `500ms`, `1h`"
        case .place: "the name of a place"
        case .templateMap: "names, each with text with `{{ }}`"
        case .steps: "a step, or a list of steps"
        }
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        let lines = [head, head.map { _ in "---" }] + rows.map { $0.map(cell) }
        return lines.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }

    private static func cell(_ text: String) -> String {
        text.replacing("|", with: "\\|").split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}
