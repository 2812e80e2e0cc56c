import TKCore

/// The sidecar's line about the draft's journey: kind of text, stage, cycle, counts, cost.
enum SidecarHeader {
    private static let beginning = "Journey: "
    private static let separator = " · "

    /// - Returns: nil for a draft that no review has counted yet.
    static func line(_ state: ReviewState) -> String? {
        guard let journey = state.journey else { return nil }
        var parts = [journey.place, "cycle \(journey.cycle)"]
        if let type = journey.storyType {
            parts.insert(ReviewSidecar.inline(type.replacing("_", with: " ")), at: 0)
        }
        let edited = state.edited == 0 ? "" : " (\(state.edited) edited)"
        parts.append(
            "\(journey.received) received, \(state.count(.accepted)) taken\(edited), \(state.count(.skipped)) skipped")
        if let cost = journey.cost {
            parts.append(cost.description)
        } else if !state.answers.isEmpty {
            parts.append("cost unknown")
        }
        return beginning + parts.joined(separator: separator)
    }

    /// Whether a line is one of these. It changes with the journey, and is nobody's own words.
    static func isHeader(_ line: some StringProtocol) -> Bool {
        line.hasPrefix(beginning) && line.contains("\(separator)cycle ") && line.contains(" received, ")
    }
}
