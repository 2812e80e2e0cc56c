import Platform

/// A team of advisors, as `tk story-types assemble` prints it.
package enum TeamOutput {
    package static func text(_ team: AdvisorTeam, _ setting: ReviewSetting, _ style: TerminalStyle) -> String {
        var lines = team.advisors.flatMap { id -> [String] in
            let reason = team.reasons[id].map { style.wrapped(Printable.text($0), indent: "    ") } ?? []
            return [style.bold(Printable.line(setting.name(of: id))) + "  " + style.dim(id)] + reason
        }
        lines.append("")
        if let storyType = team.storyType { lines.append("Story type: \(storyType)") }
        let kind = team.storyType.map { " --story-type \($0)" } ?? ""
        lines.append("Use it: tk suggest draft.md --advisors \(team.advisors.joined(separator: ","))\(kind)")
        return lines.joined(separator: "\n") + "\n"
    }

    package static func json(_ team: AdvisorTeam, _ setting: ReviewSetting) -> String {
        CatalogueOutput.document([
            "advisors": .list(team.advisors) { id in
                [
                    "id": .string(id), "name": .string(setting.name(of: id)), "reason": .optional(team.reasons[id]),
                ]
            },
            "story_type": .optional(team.storyType), "source": .string(team.source.rawValue),
            "notices": .strings(team.notices), "usage": SuggestionJSON.usage(team.calls, setting),
        ])
    }
}
