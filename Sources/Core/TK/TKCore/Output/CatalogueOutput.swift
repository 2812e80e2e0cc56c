import Platform

/// Advisors and story types as `tk` prints them; every text ends with a line break.
package enum CatalogueOutput {
    package static func rolesText(_ roles: [Role], _ style: TerminalStyle) -> String {
        let rows = roles.map { [$0.id, Printable.line($0.name), Printable.line($0.expertise)] }
        return table(["ID", "NAME", "EXPERTISE"], rows, style)
    }

    package static func rolesJSON(_ roles: [Role]) -> String {
        document(["roles": .list(roles) { .object(brief($0)) }])
    }

    package static func roleText(_ role: Role, _ style: TerminalStyle) -> String {
        var lines = [
            style.coloured("\(role.icon)  \(Printable.line(role.name))", role.color) + "  " + style.dim(role.id)
        ]
        lines.append(Printable.line(role.expertise))
        lines += [""] + style.wrapped(Printable.text(role.description))
        lines += ["", style.bold("Voice and tone")] + style.wrapped(Printable.text(role.voiceAndTone), indent: "  ")
        lines += ["", style.bold("Focus")] + bullets(role.focusAreas, style)
        lines += ["", style.bold("Guidelines")] + bullets(role.guidelines, style)
        if let example = role.example {
            lines += ["", style.bold("Example")]
            if let bad = example.bad { lines += style.wrapped("- " + Printable.text(bad), indent: "  ").map(style.red) }
            if let good = example.good {
                lines += style.wrapped("+ " + Printable.text(good), indent: "  ").map(style.green)
            }
            if let why = example.why { lines += style.wrapped(Printable.text(why), indent: "  ") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func bullets(_ texts: [String], _ style: TerminalStyle) -> [String] {
        texts.flatMap { text in
            let lines = style.wrapped(Printable.line(text), indent: "    ")
            return lines.prefix(1).map { "  - " + $0.dropFirst(4) } + lines.dropFirst()
        }
    }

    package static func roleJSON(_ role: Role) -> String {
        var example = JSON.null
        if let own = role.example {
            example = ["bad": .optional(own.bad), "good": .optional(own.good), "why": .optional(own.why)]
        }
        return document([
            "role": .object(
                brief(role) + [
                    ("voice_and_tone", .string(role.voiceAndTone)), ("focus_areas", .strings(role.focusAreas)),
                    ("guidelines", .strings(role.guidelines)), ("example", example),
                ])
        ])
    }

    package static func storyTypesText(_ types: [StoryType], _ style: TerminalStyle) -> String {
        table(
            ["ID", "NAME", "ADVISORS"], types.map { [$0.id, $0.name, $0.defaultAdvisors.joined(separator: ", ")] },
            style)
    }

    package static func storyTypesJSON(_ types: [StoryType]) -> String {
        document(["story_types": .list(types) { .object(brief($0)) }])
    }

    package static func storyTypeText(_ type: StoryType, _ style: TerminalStyle) -> String {
        var lines = [style.bold("\(type.icon)  \(type.name)") + "  " + style.dim(type.id)]
        lines += style.wrapped(type.description)
        lines += ["", style.bold("Advisors"), "  " + type.defaultAdvisors.joined(separator: ", ")]
        lines += ["", style.bold("Genre context")] + style.wrapped(type.genreContext, indent: "  ")
        return lines.joined(separator: "\n") + "\n"
    }

    package static func storyTypeJSON(_ type: StoryType) -> String {
        document(["story_type": .object(brief(type) + [("genre_context", .string(type.genreContext))])])
    }

    private static func brief(_ role: Role) -> [(String, JSON)] {
        [
            ("id", .string(role.id)), ("name", .string(role.name)), ("icon", .string(role.icon)),
            ("color", .string(role.color)), ("expertise", .string(role.expertise)),
            ("description", .string(role.description)), ("custom", .bool(role.isCustom)),
        ]
    }

    private static func brief(_ type: StoryType) -> [(String, JSON)] {
        [
            ("id", .string(type.id)), ("name", .string(type.name)), ("icon", .string(type.icon)),
            ("description", .string(type.description)), ("default_advisors", .strings(type.defaultAdvisors)),
        ]
    }

    private static func table(_ heading: [String], _ rows: [[String]], _ style: TerminalStyle) -> String {
        var lines = TerminalStyle.table([heading] + rows)
        lines[0] = style.bold(lines[0])
        return lines.joined(separator: "\n") + "\n"
    }

    /// Starts with the version of the format.
    package static func document(_ members: KeyValuePairs<String, JSON>) -> String {
        JSON.object([("version", .string(SuggestionJSON.version))] + members.map { ($0.key, $0.value) }).indented + "\n"
    }
}
