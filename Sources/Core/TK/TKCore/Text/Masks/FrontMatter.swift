import Platform

/// The metadata at the beginning of a draft, in YAML or TOML (docs/design/front-matter.md).
enum FrontMatter {
    /// Its lines including both fences, counted from 0; nil if there is none.
    static func lines(of draft: DraftText) -> ClosedRange<Int>? {
        FrontMatterSpan(draft.string.utf8.span).map { 0...($0.lineCount - 1) }
    }
}
