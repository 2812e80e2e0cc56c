/// The colours of a picture.
package enum SVGTheme: String, CaseIterable, Sendable {
    /// Light, or dark if the viewer prefers that.
    case automatic
    /// Ink on paper.
    case light
    /// Chalk on slate. For a PNG: its renderer has no colour preference.
    case dark

    /// CSS rules for the classes in ``SVGGrid``'s output.
    var style: String {
        switch self {
        case .automatic:
            Self.paper.rules.joined(separator: "\n") + "\n@media (prefers-color-scheme: dark) {\n"
                + Self.slate.rules.joined(separator: "\n") + "\n}"
        case .light: Self.paper.rules.joined(separator: "\n")
        case .dark: Self.slate.rules.joined(separator: "\n")
        }
    }

    private struct Colours {
        let ground: String
        let ink: String
        let accent: String
        /// The opacity of a dot without experiences.
        let empty: String

        // Custom properties would be shorter, but librsvg does not support them.
        var rules: [String] {
            [
                ".ground { fill: \(ground); }",
                "text { fill: \(ink); }",
                ".faint { fill-opacity: 0.65; }",
                ".empty { fill: \(ink); fill-opacity: \(empty); }",
                ".one { fill: \(ink); fill-opacity: 0.85; }",
                ".two { fill: \(ink); fill-opacity: 0.9; }",
                ".many { fill: \(ink); }",
                ".later { fill: none; stroke: \(ink); stroke-opacity: 0.25; }",
                ".planned { fill: \(ink); fill-opacity: 0.5; }",
                ".now { fill: \(accent); }",
                ".now-empty { fill: \(accent); fill-opacity: 0.12; stroke: \(accent); stroke-width: 2; }",
                ".ring { fill: none; stroke: \(ink); stroke-opacity: 0.35; stroke-width: 1.5; }",
                ".now-ring { stroke: \(accent); }",
                ".count { fill: \(ground); }",
            ]
        }
    }

    private static let paper = Colours(ground: "#faf8f3", ink: "#23211d", accent: "#c4532b", empty: "0.12")
    private static let slate = Colours(ground: "#1a1a1c", ink: "#ece8df", accent: "#f2915f", empty: "0.16")
}
