import ComicTestSupport
import Platform
import TestSupport

/// An action as attackers meet it: the rule that uses it on the files of `dropbox/ACTION`, and what such a file holds.
struct AttackedAction: Sendable, CustomStringConvertible {
    let name: String
    let steps: String
    /// The file's name, for which the attacker's and the victim's are the same.
    var file = "id_ed25519"
    /// What there is around a text so that the action takes the file.
    var content: @Sendable (String) throws -> [UInt8] = { Array("# \($0)\n".utf8) }
    /// A folder of a place into which the rule puts something.
    var target: BytePath?
    /// Whether each file may get a last line of its own.
    var isText = true
    /// Whether a program opens the file by the name that it was given: then a file that is exchanged for a link after the
    /// agent's last look is followed by the program, and only folders and targets can be proven.
    var opensByName = false

    var description: String { name }

    static let all: [AttackedAction] = [
        AttackedAction(
            name: "index-capture",
            steps: "[index-capture, append-block: { text: \"{{ capture.text }}\" }]"),
        AttackedAction(
            name: "append-block", steps: "[append-block: { note: shared/inbox, text: \"{{ file.text }}\" }]",
            target: "notes/shared"),
        AttackedAction(
            name: "write-note",
            steps: "[write-note: { place: out, folder: written, name: \"{{ job.id }}\", text: \"{{ file.text }}\" }]",
            target: "out/written"),
        AttackedAction(name: "move", steps: "[move: { place: out, folder: moved }]", target: "out/moved"),
        AttackedAction(name: "copy", steps: "[copy: { place: out, folder: copied }]", target: "out/copied"),
        AttackedAction(name: "rename", steps: "[rename: { name: \"renamed {{ file.name }}\" }]"),
        AttackedAction(name: "trash", steps: "[trash]"),
        AttackedAction(name: "tag", steps: "[tag: { add: [seen] }]"),
        AttackedAction(
            name: "run",
            steps: "[run: { command: [cat, \"./{{ file.name }}\"] }, append-block: { text: \"{{ run.output }}\" }]",
            opensByName: true),
        AttackedAction(name: "review", steps: "[review]", file: "essay.md") {
            Array("# \($0)\n\nWe met in order to talk.\n".utf8)
        },
        AttackedAction(
            name: "import-comic", steps: "[import-comic: { place: out, folder: comics, duplicates: keep }]",
            file: "Saga 01.cbz",
            content: { text in
                try packed([
                    Packed(name: "1.png", bytes: picture(text.count)), Packed(name: "a.txt", bytes: Array(text.utf8)),
                ])
            }, target: "out/comics", isText: false),
        // No action, but what follows where one refuses the file.
        AttackedAction(
            name: "quarantine", steps: "[index-capture]", content: { [0xFF, 0xFE, 0] + Array("\($0)\n".utf8) }),
    ]

    /// Its files that are met in `dropbox`, whatever the folder below is called.
    ///
    /// - Parameter settle: as in rules, `100ms`.
    func rule(settle: String) -> String {
        """
        - rule: Try \(name)
          in: dropbox
          on: [arrived]
          where: { path: "\(name)/**", hidden: false }
          settle: \(settle)
          do: \(steps)
          refused: \(name == "quarantine" ? "quarantine" : "leave")

        """
    }
}
