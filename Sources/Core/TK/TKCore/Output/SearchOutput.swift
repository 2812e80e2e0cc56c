import Platform

/// Search results, as `tk search` prints them.
package enum SearchOutput {
    /// - Parameter below: the folder that is omitted from paths.
    package static func text(_ hits: [DraftIndex.Hit], below: BytePath?, _ style: TerminalStyle) -> String {
        guard !hits.isEmpty else { return "Nothing found.\n" }
        return hits.map { hit in
            let path = below.flatMap { hit.path.relative(to: $0) } ?? hit.path
            let project = hit.project.isEmpty ? "" : "  " + style.dim(Printable.line(hit.project))
            return style.bold(path.description) + "  " + Printable.line(hit.title) + project + "\n    "
                + marked(hit.snippet, style.yellow) + "\n"
        }.joined()
    }

    package static func json(_ hits: [DraftIndex.Hit], query: String) -> String {
        CatalogueOutput.document([
            "query": .string(query),
            "hits": .list(hits) { hit in
                [
                    "path": .string(hit.path.description), "title": .string(hit.title),
                    "project": .string(hit.project), "snippet": .string(marked(hit.snippet) { $0 }),
                    "score": .number(hit.score),
                ]
            },
        ])
    }

    /// The snippet in one line, with matches in colour.
    private static func marked(_ snippet: String, _ colour: (String) -> String) -> String {
        let start = Character(DraftIndex.matchStart)
        let end = Character(DraftIndex.matchEnd)
        var out = ""
        var rest = snippet[...]
        while let from = rest.firstIndex(of: start) {
            out += plain(rest[..<from])
            rest = rest[from...].dropFirst()
            let to = rest.firstIndex(of: end) ?? rest.endIndex
            out += colour(plain(rest[..<to]))
            rest = rest[to...].dropFirst()
        }
        return out + plain(rest)
    }

    private static func plain(_ text: Substring) -> String {
        Printable.text(String(text).replacing("\n", with: " ").replacing("\r", with: " "))
    }
}
