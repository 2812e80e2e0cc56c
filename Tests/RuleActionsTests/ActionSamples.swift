import ComicTestSupport
import Foundation
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// At least one file and one `do:` entry for every registered action, on which ``ActionContract`` tests the contract.
/// An action without an entry here is tested with the example in its declaration.
struct ActionSample: Sendable, CustomTestStringConvertible {
    let action: String
    var variant = ""
    var file: BytePath = "Idea 1.md"
    var content = Array("Buy milk\n".utf8)
    let entry: String
    /// Files that exist before.
    var before: [(BytePath, String)] = []
    /// Copies of the file that exist before.
    var copies: [BytePath] = []
    /// Files that undo does not restore byte by byte: a review's answers are open again.
    var undoRewrites: Set<String> = []
    /// Makes a person's change to the action's result.
    var edit: @Sendable (ActionScene, Deed) throws -> Void = { scene, deed in
        try write(deed.target ?? scene.path("dropbox"), "somebody else wrote this\n")
    }

    var testDescription: String { variant.isEmpty ? action : "\(action), \(variant)" }

    /// Creates the scene.
    func scene() throws -> ActionScene {
        let scene = try ActionScene()
        let path = try scene.home.write(BytePath("dropbox").appending(file), content)
        // A packed file includes its mtime, so it is the same in all scenes.
        try Descriptor(path).setTimes(accessed: nil, modified: 1_795_000_000_000_000_000)
        for (path, text) in before { try scene.home.write(path, text) }
        for path in copies { try scene.home.write(path, content) }
        return scene
    }

    static func named(_ name: String) throws -> ActionSample {
        guard let sample = all.first(where: { $0.testDescription == name }) else {
            throw TestFailure("no sample \(name)")
        }
        return sample
    }

    static let inbox = "# Inbox\n\n## Captures\n\n^cap-0800\nold\n\n## Later\n\nto read\n"

    static let comic = (try? packed([Packed(name: "1.png", bytes: picture(1))])) ?? []

    static let wrapped =
        (try? packed([
            Packed(name: "Album/one.txt", bytes: Array("one\n".utf8)),
            Packed(name: "Album/disc 2/two.txt", bytes: Array("two\n".utf8)),
        ])) ?? []

    /// The receiver has received the published event.
    private static let delivered: @Sendable (ActionScene, Deed) throws -> Void = { scene, deed in
        try Ledger.open(directory: scene.path("state")).ledger.writeBlocking { transaction in
            guard var event = try transaction.delivery(deed.step) else { throw TestFailure("nothing was published") }
            event.state = .delivered
            try transaction.update(event)
        }
    }

    static let all = written + unwritten

    /// Actions answered by a person, or expanded by planning, have separate tests: `ConfirmTests`, `ForEachTests`.
    static let others: Set<String> = ["confirm", "for-each"]

    private static let unwritten: [ActionSample] = {
        let declared = (try? ActionScene().open().registry.definitions.map(\.declaration)) ?? []
        let known = others.union(written.map(\.action))
        return declared.filter { !known.contains($0.name) }.map {
            // The examples name places that a user is likely to have.
            ActionSample(
                action: $0.name, variant: "by its example",
                entry: $0.example.replacing(/place: (archive|backup)/, with: "place: drafts"))
        }
    }()

    private static let written: [ActionSample] = [
        ActionSample(
            action: "append-block", entry: "append-block: { note: inbox, text: \"{{ file.text }}\" }",
            before: [("notes/inbox.md", inbox)],
            edit: { scene, _ in
                try write(
                    scene.path("notes/inbox.md"),
                    try scene.home.read("notes/inbox.md").replacingOccurrences(of: "Buy milk", with: "Buy oat milk"))
            }),
        ActionSample(
            action: "append-block", variant: "to a note that is missing",
            entry: "append-block: { note: fresh/inbox, text: \"{{ file.text }}\" }",
            edit: { scene, _ in try write(scene.path("notes/fresh/inbox.md"), "mine\n") }),
        ActionSample(
            action: "convert",
            entry:
                "convert: { command: [cp, \"{{ convert.input }}\", \"{{ convert.output }}\"], to: txt, place: drafts, folder: new }"
        ),
        ActionSample(
            action: "convert", variant: "replacing",
            entry: "convert: { command: [cp, /dev/fd/3, whatever], to: txt, place: drafts, exists: replace }",
            before: [("drafts/Idea 1.txt", "an older one\n")]),
        ActionSample(
            action: "convert-picture", file: "p.png", content: Picture.png(40, 60),
            entry: "convert-picture: { to: webp, place: drafts, folder: new }"),
        ActionSample(
            action: "convert-picture", variant: "replacing", file: "p.png", content: Picture.png(40, 60),
            entry: "convert-picture: { place: drafts, exists: replace }", before: [("drafts/p.jpg", "an older one\n")]),
        ActionSample(action: "copy", entry: "copy: { place: drafts, folder: new }"),
        ActionSample(
            action: "copy", variant: "replacing", entry: "copy: { place: drafts, exists: replace }",
            before: [("drafts/Idea 1.md", "an older one\n")]),
        ActionSample(action: "copy", variant: "to another file system", entry: "copy: { place: far }"),
        ActionSample(
            action: "delete", entry: "delete",
            edit: { scene, _ in try write(scene.path("dropbox/Idea 1.md"), "somebody else wrote this\n") }),
        ActionSample(
            action: "import-comic", file: "Saga 7.cbz", content: comic,
            entry: "import-comic: { folder: \"{{ comic.series }}/{{ comic.number }}\" }",
            before: [("library/Saga/7/Saga 7.cbz", "another one\n")]),
        ActionSample(
            action: "import-comic", variant: "keeping the source", file: "Saga 7.cbz", content: comic,
            entry: "import-comic: { source: keep }"),
        ActionSample(
            action: "import-comic", variant: "to another file system", file: "Saga 7.cbz", content: comic,
            entry: "import-comic: { place: far }"),
        ActionSample(
            action: "import-comic", variant: "of a duplicate", file: "Saga 7.cbz", content: comic,
            entry: "import-comic", copies: ["library/a/b/other.cbz"]),
        ActionSample(
            action: "index-capture", entry: "index-capture", edit: { _, _ in }),
        ActionSample(
            action: "index-capture", variant: "of a photo", file: "p.png",
            content: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 7, count: 900),
            entry: "index-capture", edit: { _, _ in }),
        ActionSample(
            action: "link", entry: "link: { folder: links }",
            edit: { scene, _ in
                try Durable.remove(scene.path("dropbox/links/Idea 1.md"))
                try write(scene.path("dropbox/links/Idea 1.md"), "somebody else wrote this\n")
            }),
        ActionSample(
            action: "link", variant: "beyond the place", entry: "link: { place: far, name: \"{{ file.stem }}\" }",
            edit: { scene, _ in try Durable.remove(scene.far.appending("Idea 1")) }),
        ActionSample(
            action: "link", variant: "hard", entry: "link: { kind: hard, place: drafts }",
            before: [("drafts/Idea 1.md", "was there first\n")]),
        ActionSample(
            action: "link", variant: "replacing", entry: "link: { kind: hard, place: drafts, exists: replace }",
            before: [("drafts/Idea 1.md", "an older one\n")]),
        ActionSample(action: "move", entry: "move: { place: drafts, folder: new }"),
        ActionSample(
            action: "move", variant: "to another file system", content: Array(repeating: 65, count: 300_000),
            entry: "move: { place: far, folder: a/b }"),
        ActionSample(
            action: "move", variant: "replacing", entry: "move: { place: drafts, exists: replace }",
            before: [("drafts/Idea 1.md", "an older one\n")]),
        ActionSample(
            action: "notify",
            entry: "notify: { title: \"{{ file.name }} has come\", text: \"It is {{ file.kind }}.\" }",
            edit: { _, _ in }),
        ActionSample(action: "pack", entry: "pack: { place: drafts }"),
        ActionSample(
            action: "pack", variant: "taking the source away", content: Array(repeating: 65, count: 300_000),
            entry: "pack: { format: tar.zst, folder: packed, source: trash }"),
        ActionSample(
            action: "pack", variant: "replacing", entry: "pack: { place: drafts, name: a.zip, exists: replace }",
            before: [("drafts/a.zip", "an older one\n")]),
        ActionSample(
            action: "publish", entry: "publish: { to: hub, path: \"/notes/{{ file.stem }}\" }", edit: delivered),
        ActionSample(
            action: "publish", variant: "of a long text", content: Array(repeating: 65, count: 3_000),
            entry: "publish: { to: hub, payload: '{\"text\": \"{{ file.text }}\"}', key: \"{{ file.name }}\" }",
            edit: delivered),
        ActionSample(
            action: "rename", entry: "rename: { name: \"{{ file.stem | slug }}.md\" }",
            before: [("dropbox/idea-1.md", "was there first\n")]),
        ActionSample(action: "review", content: Array(ReviewSample.draft.utf8), entry: "review"),
        ActionSample(
            action: "review", variant: "with answers", file: "Idea 1.review.md",
            content: Array((ReviewSample.reviewed?.ticked ?? "").utf8), entry: "review",
            before: [
                ("dropbox/Idea 1.md", ReviewSample.draft),
                ("dropbox/.tk/reviews/Idea 1.md.json", ReviewSample.reviewed?.state ?? ""),
            ],
            undoRewrites: ["dropbox/Idea 1.review.md", "dropbox/.tk/reviews/Idea 1.md.json"],
            edit: { scene, _ in try write(scene.path("dropbox/Idea 1.md"), "somebody else wrote this\n") }),
        ActionSample(action: "run", entry: "run: { command: [touch, ran], in: file }"),
        ActionSample(
            action: "set", entry: "set: { mode: \"u=rw,go=\", modified: 2020-02-29T12:00 }",
            edit: { scene, _ in
                try Descriptor(scene.path("dropbox/Idea 1.md")).setMode(0o604)
            }),
        ActionSample(
            action: "set-metadata", file: "Song 1.wav", content: SoundSample.wave(seconds: 1),
            entry: "set-metadata: { title: \"{{ file.stem }}\", year: \"1999\" }",
            edit: { scene, _ in try write(scene.path("dropbox/Song 1.wav"), "somebody else wrote this\n") }),
        ActionSample(
            action: "tag", entry: "tag: { add: [read-later, \"{{ file.extension }}\"] }",
            edit: { scene, _ in
                let file = try Descriptor(scene.path("dropbox/Idea 1.md"))
                try ExtendedAttributes.set("user.xdg.tags", Array("mine".utf8), on: file)
            }),
        ActionSample(
            action: "unpack", file: "Album 1.zip", content: wrapped, entry: "unpack: { place: drafts, folder: albums }"),
        ActionSample(
            action: "unpack", variant: "with its wrapper", file: "Album 1.zip", content: wrapped,
            entry: "unpack: { unwrap: false }"),
        ActionSample(
            action: "write-attributes",
            entry: "write-attributes: { set: { user.one: \"{{ file.stem }}\", user.two: two } }",
            edit: { scene, _ in
                try ExtendedAttributes.set(
                    "user.two", Array("mine".utf8), on: Descriptor(scene.path("dropbox/Idea 1.md")))
            }),
        ActionSample(
            action: "write-note",
            entry: "write-note: { place: notes, folder: sources, name: x, text: \"# {{ file.name }}\" }"),
        ActionSample(
            action: "write-note", variant: "replacing",
            entry: "write-note: { place: notes, name: x, text: \"# {{ file.name }}\", exists: replace }",
            before: [("notes/x.md", "an older one\n")]),
    ]
}

/// Truncates and writes, as many editors do.
func write(_ path: BytePath, _ text: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path.text))
}
