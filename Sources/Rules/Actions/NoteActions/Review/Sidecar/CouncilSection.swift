import TKCore

/// Renders a council's debate for the sidecar: consensus, disagreements, insights of a single advisor, and each one's
/// view. It has no boxes.
enum CouncilSection {
    static func lines(_ council: ReviewCouncil, of state: ReviewState) -> [String] {
        let report = council.report
        let who = report.perspectives.map(\.advisorID).joined(separator: ", ")
        var lines = [
            "", "## Council", "", "\(ReviewSidecar.inline(who)): \(report.overallSentiment.rawValue) on the whole.",
        ]
        if council.content != state.content { lines += ["", "> This is about an earlier version of the draft."] }
        for failure in report.failures {
            lines += ["", "> \(ReviewSidecar.inline("\(failure.advisorID) gave no answer: \(failure.message)"))"]
        }
        lines += groups("Consensus", report.consensus)
        lines += groups("Disagreements", report.disagreements)
        if !report.uniqueInsights.isEmpty {
            lines += ["", "### Seen by one alone", ""] + report.uniqueInsights.map { "- " + point($0) }
        }
        let views = report.perspectives.filter { !$0.summary.isEmpty }
        if !views.isEmpty {
            lines += ["", "### Views", ""]
            lines += views.map {
                "- \(ReviewSidecar.inline($0.advisorID)) (\($0.sentiment.rawValue)): \(ReviewSidecar.inline($0.summary))"
            }
        }
        return lines
    }

    private static func groups(_ title: String, _ groups: [CouncilGroup]) -> [String] {
        guard !groups.isEmpty else { return [] }
        return ["", "### \(title)", ""]
            + groups.flatMap { group in
                ["- \(group.aspect.rawValue)"] + group.points.map { "  - " + point($0) }
            }
    }

    private static func point(_ point: CouncilPoint) -> String {
        let stance =
            switch point.stance {
            case .favourable: "for"
            case .against: "against"
            case .neutral: "neutral"
            }
        let place = point.anchor.map { ", L\($0.line)" } ?? ""
        return "\(ReviewSidecar.inline(point.advisorID)) (\(stance)\(place)): \(ReviewSidecar.inline(point.claim))"
    }
}
