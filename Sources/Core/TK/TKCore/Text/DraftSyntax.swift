import Platform

/// The syntax of a draft, which determines what is prose.
public enum DraftSyntax: String, Sendable, Hashable, CaseIterable {
    case markdown, mdx, asciidoc, restructuredText, org, latex, plain
    /// The syntax is not supported: none of it counts as prose, and no proposal changes it.
    case unknown

    /// For display.
    public var title: String {
        switch self {
        case .markdown: "Markdown"
        case .mdx: "MDX"
        case .asciidoc: "AsciiDoc"
        case .restructuredText: "reStructuredText"
        case .org: "Org"
        case .latex: "LaTeX"
        case .plain: "plain text"
        case .unknown: "a format whose prose cannot be told from the rest"
        }
    }

    /// By the extension of its name, else by its beginning; Markdown by default. Plain text may be in any of them, and
    /// many extensions belong to no format.
    ///
    /// - Parameter name: the file's; nil if there is none.
    package static func of(_ name: BytePath?, _ text: String) -> DraftSyntax {
        let suffix = name?.stemAndExtension.extension.map { String(decoding: $0, as: UTF8.self).lowercased() }
        if let suffix, let known = endings[suffix], known != .plain { return known }
        if let told = told(by: text) { return told }
        return suffix.flatMap { endings[$0] } ?? .markdown
    }

    /// The endings of drafts' names, without the dot, in lower case: of every syntax whose prose can be told.
    package static var draftEndings: Set<String> { Set(endings.filter { $0.value != .unknown }.keys) }

    private static let endings: [String: DraftSyntax] = {
        let known: [(DraftSyntax, String)] = [
            (.markdown, "md markdown mdown mkd mkdn mdwn mdtext qmd rmd"), (.mdx, "mdx"),
            (.asciidoc, "adoc asciidoc asc"), (.restructuredText, "rst rest"), (.org, "org"),
            (.latex, "tex latex ltx"), (.plain, "txt text"),
            (
                .unknown,
                "html htm xhtml xml svg json jsonl yaml yml toml ini conf csv tsv js jsx ts tsx py rb pl php go rs swift c "
                    + "h cc cpp hpp java kt cs sh bash zsh fish sql css scss typ textile wiki mediawiki creole pod man mdoc "
                    + "roff troff ms me texi texinfo bib sty cls rtf ipynb po pot srt vtt docbook dbk dita fodt nix lua r jl "
                    + "hs ml el lisp clj ex exs erl vue svelte erb ejs njk j2 hbs diff patch log"
            ),
        ]
        var endings: [String: DraftSyntax] = [:]
        for (syntax, names) in known { for name in names.split(separator: " ") { endings[String(name)] = syntax } }
        return endings
    }()

    /// The syntax suggested by a text's first lines; nil if they could be Markdown.
    private static func told(by text: String) -> DraftSyntax? {
        let head = text.prefix(4_096).split(separator: "\n", omittingEmptySubsequences: false).prefix(60)
            .map { $0.drop { $0 == "\u{FEFF}" } }
        guard let first = head.first(where: { !$0.allSatisfy(\.isWhitespace) })?.lowercased() else { return nil }
        if ["<!doctype", "<html", "<?xml", "#!/", "%pdf", "{\\rtf"].contains(where: first.hasPrefix) {
            return .unknown
        }
        if first.hasPrefix("\\documentclass") || head.contains(where: { $0.hasPrefix("\\begin{document}") }) {
            return .latex
        }
        if head.contains(where: { $0.hasPrefix("#+TITLE:") || $0.hasPrefix("#+title:") || $0.hasPrefix("#+BEGIN_") }) {
            return .org
        }
        // A document's title with attributes below, or a block of code.
        if first.hasPrefix("= "), head.contains(where: { $0.contains(/^:[\w-]+:( |$)/) || $0.hasPrefix("[source") }) {
            return .asciidoc
        }
        if head.contains(where: { $0.contains(/^\.\. [\w-]+::/) || $0.contains(/^\.\. _[^:]+:/) }) {
            return .restructuredText
        }
        return nil
    }
}
