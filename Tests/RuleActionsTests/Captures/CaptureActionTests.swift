import DotLifeDomain
import DotLifePersistence
import Foundation
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Indexing captures") struct CaptureActionTests {
    private let scene: ActionScene
    private let world: ActionWorld
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 73, 72, 68, 82]

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    @Test("A file changed since it was judged is not stored") func whatChangedSinceItWasJudgedIsNotStored() async throws
    {
        try scene.home.write("dropbox/idea.md", "Buy milk\n")
        let input = try world.input("idea.md")
        // The same length as before, so that only its bytes differ.
        try scene.home.write("dropbox/idea.md", "Buy mint\n")
        let action = try world.action("index-capture")
        let fault = await #expect(throws: Fault.self) { try await action.decided(input) }
        #expect(fault?.kind == .superseded)
    }

    @Test("Files opened in a folder since moved or replaced are released: the capture is where the name leads")
    func displacedStore() async throws {
        let folder = scene.path("state/captures")
        let aside = scene.path("state/aside")
        func capture(_ number: Int) async throws {
            try scene.home.write(BytePath("dropbox/\(number).md"), "Capture \(number)\n")
            try await world.run("index-capture", on: BytePath("\(number).md"), step: "job.\(number)")
        }
        try await capture(1)
        try runProgram(["/bin/mv", folder.text, aside.text]).check()
        let fault = await #expect(throws: Fault.self) { try await capture(2) }
        #expect(fault?.kind == .transient && fault?.code == StandingFolder.displaced)
        #expect(try FileStatus.of(folder) == nil)
        try runProgram(["/bin/cp", "-a", aside.text, folder.text]).check()
        try await capture(2)
        #expect(try await world.captures.use { try await $0.contains(key: "job.2") })
        let old = try await CaptureStore.open(in: aside).store
        #expect(try await old.contains(key: "job.1"))
        #expect(try await !old.contains(key: "job.2"))
    }

    @Test(
        "A capture written to a folder just replaced does not count, and is made again in the right one"
    )
    func displacedInTheMidst() async throws {
        let folder = scene.path("state/captures")
        let aside = scene.path("state/aside")
        _ = try await world.captures.use { try await $0.add(.note("first"), key: "job.1") }
        try runProgram(["/bin/cp", "-a", folder.text, aside.text]).check()
        let fault = await #expect(throws: Fault.self) {
            try await world.captures.use { store in
                // It was checked before, and is a different folder when the capture is committed.
                try exchange(folder, aside)
                return try await store.add(.note("second"), key: "job.2")
            }
        }
        #expect(fault?.kind == .transient && fault?.code == StandingFolder.displaced, "\(fault?.message ?? "none")")
        #expect(try await !world.captures.use { try await $0.contains(key: "job.2") })
        _ = try await world.captures.use { try await $0.add(.note("second"), key: "job.2") }
        #expect(try await world.captures.use { try await $0.contains(key: "job.2") })
        #expect(try await CaptureStore.open(in: folder).store.contains(key: "job.2"))
    }

    private func exchange(_ one: BytePath, _ other: BytePath) throws {
        let third = BytePath("\(one).third")
        for (from, to) in [(one, third), (other, one), (third, other)] {
            try runProgram(["/bin/mv", from.text, to.text]).check()
        }
    }

    @Test(
        "Each kind is stored",
        arguments: [
            ("idea.md", "Buy milk\n", "note", "Buy milk"),
            ("idea.txt", "https://example.org/a?b=c\n", "link", "https://example.org/a?b=c"),
            ("page.url", "[InternetShortcut]\nURL=https://example.org/\n", "link", "https://example.org/"),
            ("dot", "", "dot", ""),
        ])
    func eachKindIsStored(_ name: String, _ content: String, _ kind: String, _ text: String) async throws {
        try scene.home.write(BytePath("dropbox/\(name)"), content)
        let deed = try await world.run("index-capture", on: BytePath(name))
        #expect(deed.receipt.values["capture.kind"] == .text(kind))
        #expect(deed.receipt.values["capture.text"] == .text(text))
        #expect(deed.receipt.values["capture.time"] == .date(ActionWorld.arrival))
        #expect(try await world.captures.use { try await $0.contains(key: "job.0") })
        // The file stays: what happens to it is up to the next step.
        #expect(try scene.home.read(BytePath("dropbox/\(name)")) == content)
    }

    @Test("The sentence is one line, of at most a thousand characters") func sentence() async throws {
        try scene.home.write("dropbox/short.md", "moment: today\nTwo herons\n by the canal\n")
        let short = try await world.run("index-capture", on: "short.md")
        #expect(
            short.receipt.values["capture.sentence"] == .text("I appreciate Two herons by the canal for today"))
        try scene.home.write("dropbox/long.md", String(repeating: "word\n", count: 1_000))
        let long = try await world.run("index-capture", on: "long.md", step: "job.1")
        let sentence = try #require(long.receipt.values["capture.sentence"])
        let expected = "I appreciate " + String(repeating: "word ", count: 1_000)
        #expect(sentence == .text(expected.prefix(999) + "…"))
    }

    @Test("A photo is copied into the store") func photoCopiedStore() async throws {
        try scene.home.write("dropbox/p.png", Self.png)
        let deed = try await world.run("index-capture", on: "p.png")
        #expect(deed.receipt.values["capture.kind"] == .text("photo"))
        #expect(deed.receipt.values["capture.text"] == .text("p.png"))
        let photos = try listDirectory(scene.path("state/captures/photos"))
        #expect(photos.count == 1)
        try await deed.undo()
        #expect(try listDirectory(scene.path("state/captures/photos")).isEmpty)
        #expect(try scene.exists("dropbox/p.png"))
    }

    @Test("Front matter sets time and moment for the next steps") func frontMatterSetsTimeAndMomentForTheNextSteps()
        async throws
    {
        try scene.home.write("dropbox/a.md", "---\nmoment: today\ntime: 2026-11-20T23:45:00Z\n---\nRain\n")
        let steps = try #require(
            world.load("index-capture\n    - append-block: { text: \"{{ capture.text }}\" }").0.first?.steps)
        let capture = try await world.run(steps[0].action, on: "a.md")
        let block = try await world.run(steps[1].action, on: "a.md", step: "job.1", adding: capture.receipt.values)
        #expect(capture.receipt.values["capture.moment"] == .text("today"))
        // The capture's day in UTC, which differs from that of its local time in the anchor.
        #expect(block.receipt.values["note.path"] == .text("capture/2026/2026-11/2026-11-20.md"))
        #expect(block.receipt.values["block.anchor"] == .text("cap-0045"))
        #expect(try scene.home.read("notes/capture/2026/2026-11/2026-11-20.md").hasSuffix("^cap-0045\nRain\n"))
    }

    @Test("A binary that is not a photo is rejected and the message says what is accepted") func binaryPhotoRefused()
        async throws
    {
        try scene.home.write("dropbox/a.bin", [0, 1, 2, 3, 0xFF])
        let action = try world.action("index-capture")
        let fault = await #expect(throws: Fault.self) { try await action.decided(try world.input("a.bin")) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains("Accepted are") == true)
    }

    @Test("A photo changed since the decision is not stored") func photoChangedSince() async throws {
        try scene.home.write("dropbox/p.png", Self.png)
        let action = try world.action("index-capture")
        let intent = try await action.decided(try world.input("p.png"))
        try scene.home.write("dropbox/p.png", Self.png + [1])
        await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(try await world.captures.use { try await $0.contains(key: "job.0") } == false)
        #expect(try listDirectory(scene.path("state/captures/photos")).isEmpty)
    }

    @Test("The files of a folder are one capture with one block, and each can be undone") func folder() async throws {
        try scene.home.write("dropbox/Canal walk/p.png", Self.png)
        try scene.home.write("dropbox/Canal walk/deeper/words.txt", "Two herons\n")
        try scene.home.write("dropbox/Canal walk/route.pdf", "%PDF-1.7")
        let steps = try #require(
            world.load(
                """
                index-capture: { together: 10m }
                    - append-block: { text: "{{ capture.text }}", unless: "{{ capture.joined }}" }
                """
            ).0.first?.steps)
        var captures: [Deed] = []
        var blocks: [Deed] = []
        for (number, name) in ["p.png", "deeper/words.txt", "route.pdf"].enumerated() {
            let path = BytePath("Canal walk/\(name)")
            captures.append(try await world.run(steps[0].action, on: path, step: "job\(number).0"))
            let values = captures[number].receipt.values
            blocks.append(try await world.run(steps[1].action, on: path, step: "job\(number).1", adding: values))
        }
        #expect(captures.map { $0.receipt.values["capture.joined"] } == [.text(""), .text("yes"), .text("yes")])
        #expect(captures.allSatisfy { $0.receipt.values["capture.id"] == captures[0].receipt.values["capture.id"] })
        #expect(captures[2].receipt.values["capture.text"] == .text("Canal walk\n\nTwo herons"))
        #expect(blocks.map { $0.receipt.values["block.anchor"] == .text("") } == [false, true, true])
        guard case .text(let note)? = blocks[0].receipt.values["note.path"] else { throw TestFailure("no note") }
        #expect(try scene.home.read(BytePath("notes/\(note)")).hasSuffix("\nCanal walk\n"))
        let store = try await world.captures.use { $0 }
        #expect(try await store.joined(key: "job2.0")?.record.attachments.count == 2)

        try await blocks[1].undo()
        try await captures[1].undo()
        #expect(try await store.joined(key: "job0.0")?.record.noteText == "Canal walk")
        try await captures[0].undo()
        try await captures[2].undo()
        #expect(try listDirectory(scene.path("state/captures/photos")).isEmpty)
        #expect(try scene.exists("dropbox/Canal walk/route.pdf"))
    }

    @Test(
        "A file that would be rejected alone is an attachment of its folder's capture",
        arguments: [
            ("package.json", "[1, 2]"), ("page.url", "[InternetShortcut]\n"),
            ("a.md", "---\nkind: recipe\n---\nSoup\n"),
        ])
    func sidecar(_ name: String, _ content: String) async throws {
        try scene.home.write(BytePath("dropbox/\(name)"), content)
        let alone = try world.action("index-capture: { together: 10m }")
        await #expect(throws: Fault.self) { try await alone.decided(try world.input(BytePath(name))) }
        try scene.home.write(BytePath("dropbox/in/\(name)"), content)
        try await world.run("index-capture: { together: 10m }", on: BytePath("in/\(name)"))
        let record = try #require(try await world.captures.use { try await $0.joined(key: "job.0") }?.record)
        #expect(record.noteText == "in")
        #expect(record.attachments.map(\.originalName) == [Array(name.utf8)])
    }

    @Test("After an export and an import a single file cannot be removed, and that is reported")
    func imported() async throws {
        try scene.home.write("dropbox/in/a.txt", "words\n")
        let deed = try await world.run("index-capture: { together: 10m }", on: "in/a.txt")
        let store = try await world.captures.use { $0 }
        _ = try await store.export(to: scene.path("export"))
        let made = try #require(try await store.fetch(ExperienceFetchRequest()).first)
        try await store.delete(byID: made.id)
        _ = try await store.importCaptures(from: scene.path("export"))
        let fault = await #expect(throws: Fault.self) { try await deed.undo() }
        #expect(fault?.message.contains("steward dots delete \(made.id.uuidString.prefix(8).lowercased())") == true)
    }

    @Test("A file directly in the place is its own capture, and without `together` every file is")
    func notTogether() async throws {
        for (number, entry) in ["index-capture: { together: 10m }", "index-capture"].enumerated() {
            for name in number == 0 ? ["a.txt", "b.txt"] : ["in/a.txt", "in/b.txt"] {
                try scene.home.write(BytePath("dropbox/\(name)"), "\(name)\n")
                let deed = try await world.run(entry, on: BytePath(name), step: "job.\(name)")
                #expect(deed.receipt.values["capture.text"] == .text(name))
                #expect(deed.receipt.values["capture.joined"] == .text(""))
            }
        }
    }
}
