/// Escapes line beginnings that make a heading, list, quotation, fence, table, definition or anchor.
enum MarkdownBlockStart {
    /// - Parameter piece: `source` with its inline markup escaped.
    static func disarm(_ piece: inout [Unicode.Scalar], _ source: [Unicode.Scalar]) {
        guard let first = source.first, piece.first != "\\" else { return }
        if "^#-+*>`~=|_<[".unicodeScalars.contains(first) || first == ":" && source.dropFirst().first == "-" {
            piece.insert("\\", at: 0)
            return
        }
        disarmNumber(&piece, isGoingOn: false)
    }

    /// `1.` and `1)` begin a list too.
    ///
    /// - Parameter isGoingOn: whether digits come before it.
    static func disarmNumber(_ piece: inout [Unicode.Scalar], isGoingOn: Bool) {
        let digits = piece.prefix { ("0"..."9").contains($0) }.count
        let rest = piece[digits...]
        guard isGoingOn || digits > 0, rest.first == "." || rest.first == ")", rest.dropFirst().first ?? " " == " "
        else { return }
        piece.insert("\\", at: digits)
    }
}
