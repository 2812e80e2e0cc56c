import Platform

/// Answers that wait because an editor has the draft open, and the line at the sidecar's top that says so.
package struct ReviewWaiting: Codable, Sendable, Equatable {
    /// How many.
    package var answers: Int
    /// Local date and time when the first of them was saved: `2026-11-28 14:02`.
    package var since: String
    /// What has the draft open, for people: `nano (process 4711)`.
    package var editor: String
    /// Whether that says so itself when everything is saved.
    package var endsWithASave: Bool
    /// How to save there; nil if not known.
    package var saving: String?

    package init(answers: Int, since: String, editor: String, endsWithASave: Bool, saving: String? = nil) {
        (self.answers, self.since, self.editor) = (answers, since, editor)
        (self.endsWithASave, self.saving) = (endsWithASave, saving)
    }

    /// Blocks.
    ///
    /// - Parameter sign: what keeps the answers from the draft.
    init(_ answers: Int, since: String, for sign: UnsavedSign) {
        let editor = sign.editor
        let command = editor.flatMap { Self.commands[$0.name] }
        let name: String
        switch (editor, sign) {
        case (let editor?, _): name = "\(editor.name) (process \(editor.id))"
        case (nil, .file(let path)): name = "an editor (see \(path.nameText))"
        case (nil, .process(let program, let id)): name = "\(program) (process \(id))"
        }
        self.init(
            answers: answers, since: since, editor: name, endsWithASave: sign.endsWithASave, saving: command)
    }

    /// As the line shows it: the local date and time, to the minute.
    static func time(_ time: Timestamp, _ zone: Zone) -> String {
        let civil = zone.local(at: time).civil
        return "\(civil.date) \(civil.time.prefix(5))"
    }

    private static let commands = ["vim": ":w", "nvim": ":w", "vi": ":w", "nano": "^O", "emacs": "C-x C-s"]

    private static let opening = "> **Answers wait** "

    func line(of draft: BytePath) -> String {
        let (draft, editor) = (ReviewSidecar.inline(draft.nameText), ReviewSidecar.inline(self.editor))
        let save = saving.map { "save it there (`\($0)`)" } ?? "save it there"
        return Self.opening + "since \(since): "
            + (endsWithASave
                ? "\(draft) has unsaved changes in \(editor)."
                : "\(draft) is open in \(editor), which does not tell whether all is saved.")
            + (answers == 1 ? " 1 answer goes" : " \(answers) answers go") + " into the draft once you "
            + (endsWithASave ? "\(save) or close it" : "close it there")
            + "; `[x!]` applies what is ticked at once."
    }

    /// Whether a line of a sidecar is such a line, of this version or an earlier one. It is nobody's words.
    static func isLine(_ line: Substring) -> Bool { line.hasPrefix(opening) }
}
