import ComicTestSupport
import Platform
import TestSupport

/// An action under attack: the rule that applies it to the files of `dropbox/ACTION`, and the content of such a file.
struct AttackedAction: Sendable, CustomStringConvertible {
    let name: String
    let steps: String
    /// The file name, the same for the attacker's and the victim's file.
    var file = "id_ed25519"
    /// Wraps a text so that the action accepts the file.
    var content: @Sendable (String) throws -> [UInt8] = { Array("# \($0)\n".utf8) }
    /// A folder of a place that the rule writes into.
    var target: BytePath?
    /// Whether a line of its own can be appended to each file.
    var isText = true
    /// Whether a program opens the file by name. If a file is then exchanged for a link after the agent's last look,
    /// the program follows the link, so only folders and targets can be checked.
    var opensByName = false
    /// The final state of its job.
    var outcome = "done"

    var description: String { name }

    /// The configuration that the actions need in `steward.yaml`: events go to a webhook without a listener.
    static let configuration = """
        run: { allow: true }
        publish: { nowhere: { kind: webhook, url: "https://127.0.0.1:1/" } }
        """

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
        AttackedAction(
            name: "publish",
            steps: "[publish: { to: nowhere, payload: '{\"text\": \"{{ file.text }}\"}' }]"),
        AttackedAction(name: "link", steps: "[link: { place: out, folder: linked }]", target: "out/linked"),
        AttackedAction(
            name: "hard-link", steps: "[link: { kind: hard, place: out, folder: named }]", target: "out/named"),
        AttackedAction(name: "pack", steps: "[pack: { place: out, folder: packed }]", target: "out/packed"),
        AttackedAction(
            name: "unpack", steps: "[unpack: { place: out, folder: unpacked }]", file: "papers.zip",
            content: { text in try packed([Packed(name: "a/b.txt", bytes: Array(text.utf8))]) }, target: "out/unpacked",
            isText: false),
        AttackedAction(name: "set", steps: "[set: { mode: \"0604\", modified: 2020-02-29 }]"),
        AttackedAction(name: "write-attributes", steps: "[write-attributes: { set: { user.seen: now } }]"),
        AttackedAction(
            name: "convert",
            steps: "[convert: { command: [cp, /dev/fd/3, out], to: txt, place: out, folder: converted }]",
            target: "out/converted"),
        AttackedAction(name: "notify", steps: "[notify: { title: \"{{ file.name }}\", text: \"{{ file.text }}\" }]"),
        AttackedAction(
            name: "for-each",
            steps: "[for-each: { of: lines, do: [{ append-block: { note: lines/inbox, text: \"{{ line }}\" } }] }]",
            target: "notes/lines"),
        AttackedAction(
            name: "confirm", steps: "[confirm: { text: \"Keep {{ file.text }}?\", note: asked/inbox }]",
            target: "notes/asked", outcome: "asking"),
        AttackedAction(
            name: "convert-picture", steps: "[convert-picture: { place: out, folder: pictures }]", file: "a.png",
            content: { text in Picture.png(text.utf8.count, 20) }, target: "out/pictures", isText: false),
        AttackedAction(
            name: "set-metadata", steps: "[set-metadata: { artist: Somebody }]", file: "a.wav",
            content: { text in SoundSample.wave(seconds: 1, title: text) }, isText: false),
        AttackedAction(name: "delete", steps: "[delete]"),
        AttackedAction(name: "rename", steps: "[rename: { name: \"renamed {{ file.name }}\" }]"),
        AttackedAction(name: "trash", steps: "[trash]"),
        AttackedAction(name: "tag", steps: "[tag: { add: [seen] }]"),
        AttackedAction(
            name: "run",
            steps:
                "[run: { command: [cat, \"./{{ file.name }}\"], in: file }, append-block: { text: \"{{ run.output }}\" }]",
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
        // Not an action, but the follow-up when one refuses the file.
        AttackedAction(
            name: "quarantine", steps: "[index-capture]", content: { [0xFF, 0xFE, 0] + Array("\($0)\n".utf8) },
            outcome: "refused"),
    ]

    /// Its files match in `dropbox`, whatever the folder below is called.
    ///
    /// - Parameter settle: as in rules, `100ms`.
    func rule(settle: String) -> String {
        """
        - rule: Try \(name)
          in: dropbox
          on: [arrived]
          where: { path: "\(name)/**", hidden: false, age: "> 1ms" }
          settle: \(settle)
          do: \(steps)
          refused: \(name == "quarantine" ? "quarantine" : "leave")

        """
    }
}
