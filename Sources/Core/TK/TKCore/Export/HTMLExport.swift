import CCmarkGfm
import Glibc

/// A self-contained page. Safe: raw HTML is left out, and links to scripts are disabled.
package enum HTMLExport {
    /// - Parameter isForRenderer: leaves out pictures that a renderer would fetch from elsewhere, or from any place on
    ///   this machine.
    package static func page(_ draft: DraftExport, isForRenderer: Bool = false) -> String {
        """
        <!DOCTYPE html>
        <html lang="\(language)">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="generator" content="tk">
        <title>\(escaped(draft.title))</title>
        <style>
        \(style)
        </style>
        </head>
        <body>
        <main>
        \(body(draft.markdown, isForRenderer: isForRenderer))</main>
        </body>
        </html>

        """
    }

    /// The language of drafts is unknown, and a wrong one is worse for screen readers than none.
    private static let language = "und"

    private static let style = """
        body { margin: 0; font: 1.05rem/1.6 Georgia, "Times New Roman", serif; color: #1b1b1b; background: #fff; }
        main { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
        h1, h2, h3, h4, h5, h6 { line-height: 1.25; font-family: system-ui, sans-serif; }
        pre { overflow-x: auto; padding: 0.8rem; background: #f4f4f2; }
        code { font-family: ui-monospace, monospace; font-size: 0.9em; }
        blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid #ccc; color: #444; }
        table { border-collapse: collapse; } th, td { border: 1px solid #ccc; padding: 0.3rem 0.6rem; }
        img { max-width: 100%; }
        @media print { main { margin: 0 auto; } a { color: inherit; } }
        """

    static func body(_ markdown: String, isForRenderer: Bool) -> String {
        CmarkDocument.with(markdown) { document, extensions in
            if isForRenderer { dropDistantImages(document) }
            guard let html = cmark_render_html(document, CmarkDocument.options, extensions) else { return "" }
            defer { free(html) }
            return String(cString: html)
        } ?? ""
    }

    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }

    private static func dropDistantImages(_ document: OpaquePointer) {
        guard let iterator = cmark_iter_new(document) else { return }
        var found: [OpaquePointer] = []
        while cmark_iter_next(iterator) != CMARK_EVENT_DONE {
            if let node = cmark_iter_get_node(iterator), cmark_node_get_type(node) == CMARK_NODE_IMAGE,
                found.last != node
            {
                found.append(node)
            }
        }
        cmark_iter_free(iterator)
        for image in found {
            let url = cmark_node_get_url(image).map { String(cString: $0) } ?? ""
            guard url.hasPrefix("/") || url.hasPrefix("\\") || url.contains(":") || url.contains("..") else { continue }
            // Its description stays in place.
            while let child = cmark_node_first_child(image) {
                cmark_node_unlink(child)
                guard cmark_node_insert_before(image, child) != 0 else {
                    cmark_node_free(child)
                    continue
                }
            }
            cmark_node_set_url(image, "")
            cmark_node_unlink(image)
            cmark_node_free(image)
        }
    }
}
