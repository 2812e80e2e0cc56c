import Platform
import TestSupport
import Testing

@testable import TKCore

/// What scopes select in formats that Vale converts to HTML first.
@Suite("Scopes of house rules")
struct StyleScopeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("scopes") }

    private static let rest = """
        An old title
        ============

        - an old item

        An old one.

           An old quotation.

        ===  ========
        a    old
        ===  ========
        b    ``old``
        c    an old
             old one
        ===  ========

        +-----+-----+
        | old | b   |
        +=====+=====+
        | c   | old |
        |     +-----+
        | old | so  |
        +-----+-----+

        .. list-table::
           :header-rows: 1

           * - old
             - b
           * - c
             - an old
        """
    private static let asciiDoc = """
        = An old title

        .An old caption
        |===
        |a |old

        |b
        |an old one

        2+|old `old`
        |===

        * an old item

        ____
        An old quotation.
        ____

        [options="header"]
        |===
        |old
        |c
        |===
        """

    @Test(
        "Scopes tell headings, lists, quotations and tables apart in other formats, too",
        arguments: [
            (DraftSyntax.restructuredText, "heading.h1", [1]), (.restructuredText, "list", [4]),
            (.restructuredText, "paragraph", [6, 8]), (.restructuredText, "blockquote", [8]),
            (.restructuredText, "table.header", [11, 19, 29]),
            (.restructuredText, "table.cell", [14, 15, 21, 23, 32]),
            (.restructuredText, "text & ~table", [1, 4, 6, 8]),
            (.asciidoc, "heading.h1", [1]), (.asciidoc, "list", [13]), (.asciidoc, "blockquote", [16]),
            (.asciidoc, "table.header", [5, 21]), (.asciidoc, "table.cell", [8, 10]),
            (.asciidoc, "text & ~table", [1, 3, 13]),
        ])
    func scopes(syntax: DraftSyntax, scope: String, expected: [Int]) throws {
        try folder.write(
            "styles/House/Rule.yml", "extends: substitution\nmessage: x\nscope: \(scope)\nswap: {old: new}\n")
        let library = try StyleLibrary(
            settings: folder.write(".vale.ini", "StylesPath = styles\n[*]\nBasedOnStyles = House\n"))
        #expect(library.problems == [])
        let draft = DraftText(syntax == .asciidoc ? Self.asciiDoc : Self.rest, syntax: syntax)
        let found = StylePass(library, quick: try quickPass()).review(draft, file: "draft").suggestions
        #expect(found.map(\.anchor.line) == expected)
        #expect(found.allSatisfy { $0.originalText == "old" })
        // Words of tables are never changed.
        if scope.hasPrefix("table") { #expect(found.allSatisfy { !$0.hasReplacement }) }
    }
}
