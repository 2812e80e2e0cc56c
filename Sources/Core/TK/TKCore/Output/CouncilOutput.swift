import Platform

/// The result of a council, as `tk council` prints it.
package struct CouncilOutput: Sendable {
    private let name: String
    private let draft: DraftText
    private let report: CouncilReport
    private let question: String?
    private let setting: ReviewSetting

    package init(
        name: String, draft: DraftText, report: CouncilReport, question: String?, setting: ReviewSetting
    ) {
        (self.name, self.draft, self.report, self.question, self.setting) = (name, draft, report, question, setting)
    }

    // MARK: For people

    /// Each advisor's view, then the comparison.
    package func text(_ style: TerminalStyle) -> String {
        var lines = [
            style.bold(Printable.line(name)) + ": " + TextFormatter.counted(report.perspectives.count, "perspective")
        ]
        if let question { lines += style.wrapped("Question: " + Printable.text(question)) }
        for perspective in report.perspectives { lines += self.perspective(perspective, style) }
        lines += ["", style.bold("Synthesis") + "  " + style.dim("overall \(report.overallSentiment.rawValue)")]
        lines += section("Consensus", report.consensus.map(group), style)
        lines += section("Disagreements", report.disagreements.map(group), style)
        lines += section("Seen by one alone", report.uniqueInsights.map { [point($0)] }, style)
        return lines.joined(separator: "\n") + "\n"
    }

    private func perspective(_ perspective: CouncilPerspective, _ style: TerminalStyle) -> [String] {
        let colour = setting.advisors.first { $0.id == perspective.advisorID }?.color ?? ""
        var lines = [
            "",
            "  " + style.coloured(who(perspective.advisorID), colour) + "  "
                + style.dim(perspective.sentiment.rawValue),
        ]
        lines += style.wrapped(Printable.text(perspective.summary), indent: "    ")
        for point in perspective.points {
            let mark = point.stance == .favourable ? style.green("+") : point.stance == .against ? style.red("-") : "·"
            let text = style.wrapped(Printable.line(point.claim) + place(point), indent: "      ")
            lines.append("    \(mark) " + (text.first ?? "").drop { $0 == " " })
            lines += text.dropFirst()
        }
        return lines
    }

    private func section(_ title: String, _ entries: [[String]], _ style: TerminalStyle) -> [String] {
        guard !entries.isEmpty else { return [] }
        return ["", "  " + title]
            + entries.flatMap { entry in entry.flatMap { style.wrapped($0, indent: "    ") } }
    }

    private func group(_ group: CouncilGroup) -> [String] {
        group.points.map { point in
            let mark = point.stance == .favourable ? "for" : point.stance == .against ? "against" : "neutral"
            return "\(who(point.advisorID)) (\(mark)): \(Printable.line(point.claim))\(place(point))"
        }
    }

    private func point(_ point: CouncilPoint) -> String {
        "\(who(point.advisorID)): \(Printable.line(point.claim))\(place(point))"
    }

    private func place(_ point: CouncilPoint) -> String {
        point.anchor.map { " (line \(draft.line(at: $0.start)))" } ?? ""
    }

    private func who(_ id: String) -> String { Printable.line(setting.name(of: id)) }

    // MARK: For programs

    package func json() -> String {
        CatalogueOutput.document([
            "file": .string(name), "question": .optional(question),
            "perspectives": .list(report.perspectives) { perspective in
                [
                    "advisor_id": .string(perspective.advisorID),
                    "advisor_name": .string(setting.name(of: perspective.advisorID)),
                    "sentiment": .string(perspective.sentiment.rawValue),
                    "summary": .string(perspective.summary), "partial": .bool(perspective.isPartial),
                    "points": .list(perspective.points, json),
                ]
            },
            "synthesis": [
                "overall_sentiment": .string(report.overallSentiment.rawValue),
                "consensus": .list(report.consensus, json), "disagreements": .list(report.disagreements, json),
                "unique_insights": .strings(report.uniqueInsights.map(\.id)),
            ],
            "metadata": [
                "advisors": .strings(setting.advisors.map(\.id)), "story_type": .optional(setting.storyType?.id),
                "stage": .optional(setting.stage?.rawValue), "range_unit": "unicode-scalar",
                "provider": .optional(report.calls.first?.provider), "model": .optional(report.calls.first?.model),
                "usage": SuggestionJSON.usage(report.calls, setting),
                "failures": SuggestionJSON.failures(report.failures), "notices": .strings(report.notices),
            ],
        ])
    }

    private func json(_ point: CouncilPoint) -> JSON {
        [
            "id": .string(point.id), "advisor_id": .string(point.advisorID), "aspect": .string(point.aspect.rawValue),
            "stance": .integer(point.stance.rawValue), "claim": .string(point.claim),
            "quote": .optional(point.anchor?.exact), "range_start": .optional(point.anchor?.start),
            "range_end": .optional(point.anchor?.end),
        ]
    }

    private func json(_ group: CouncilGroup) -> JSON {
        [
            "aspect": .string(group.aspect.rawValue), "ground": .string(group.ground.rawValue),
            "points": .strings(group.points.map(\.id)), "favourable": .strings(group.advisors(.favourable)),
            "against": .strings(group.advisors(.against)),
        ]
    }
}

extension CouncilOutput {
    /// Only the points of the synthesis, one per line.
    package func quiet() -> String {
        let groups = report.consensus.map { ("consensus", $0) } + report.disagreements.map { ("disagreement", $0) }
        let lines =
            groups.flatMap { kind, group in group.points.map { "\(kind): \(point($0))" } }
            + report.uniqueInsights.map { "insight: \(point($0))" }
        return lines.map { $0 + "\n" }.joined()
    }
}
