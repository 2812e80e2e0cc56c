import CaptureActions
import DotLifePersistence
import Foundation
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

    @Test("What changed since it was judged is not stored") func whatChangedSinceItWasJudgedIsNotStored() async throws {
        try scene.home.write("dropbox/idea.md", "Buy milk\n")
        let input = try world.input("idea.md")
        // As long as it was: only its bytes tell.
        try scene.home.write("dropbox/idea.md", "Buy mint\n")
        let action = try world.action("index-capture")
        let fault = await #expect(throws: Fault.self) { try await action.decided(input) }
        #expect(fault?.kind == .superseded)
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
        #expect(try await world.captures.store().contains(key: "job.0"))
        // The file stays: what becomes of it is the next step's.
        #expect(try scene.home.read(BytePath("dropbox/\(name)")) == content)
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
        // The capture's own day in UTC, which is not that of its local time in the anchor.
        #expect(block.receipt.values["note.path"] == .text("capture/2026/2026-11/2026-11-20.md"))
        #expect(block.receipt.values["block.anchor"] == .text("cap-0045"))
        #expect(try scene.home.read("notes/capture/2026/2026-11/2026-11-20.md").hasSuffix("^cap-0045\nRain\n"))
    }

    @Test("A binary that is no photo is refused and says what is accepted") func binaryPhotoRefused() async throws {
        try scene.home.write("dropbox/a.bin", [0, 1, 2, 3, 0xFF])
        let action = try world.action("index-capture")
        let fault = await #expect(throws: Fault.self) { try await action.decided(try world.input("a.bin")) }
        #expect(fault?.kind == .refused)
        #expect(fault?.message.contains("Accepted are") == true)
    }

    @Test("A photo that changed since the decision is not stored") func photoChangedSince() async throws {
        try scene.home.write("dropbox/p.png", Self.png)
        let action = try world.action("index-capture")
        let intent = try await action.decided(try world.input("p.png"))
        try scene.home.write("dropbox/p.png", Self.png + [1])
        await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
        #expect(try await world.captures.store().contains(key: "job.0") == false)
        #expect(try listDirectory(scene.path("state/captures/photos")).isEmpty)
    }
}
