import TKCore

/// Shows changes to a draft, for people and for `patch -p1`.
enum DraftDiff {
    /// Prints the diff; on a terminal, with the colours of `git diff`.
    static func show(_ draft: Draft, changedTo text: String) {
        let name = draft.name.drop { $0 == "/" }
        let (old, new) = draft.path == nil ? (draft.name, draft.name) : ("a/\(name)", "b/\(name)")
        let diff = UnifiedDiff.text(from: draft.text, to: text, oldName: old, newName: new)
        let style = Terminal.style
        guard style.hasColour else { return Terminal.draft(diff) }
        let lines = diff.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
        let coloured = lines.map { line in
            let text = Printable.text(String(line))
            if text.hasPrefix("+++") || text.hasPrefix("---") { return style.bold(text) }
            if text.hasPrefix("@@") { return style.cyan(text) }
            if text.hasPrefix("+") { return style.green(text) }
            return text.hasPrefix("-") ? style.red(text) : text
        }
        Terminal.write(coloured.joined(separator: "\n"))
    }
}
