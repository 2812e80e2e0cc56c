import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// The action `review` on real files: a sidecar beside the draft, answers from there into it, and nothing lost.
@Suite("Reviewing real files") struct ReviewTests {
    static let draft: BytePath = "dropbox/Idea 1.md"
    static let sidecar: BytePath = "dropbox/Idea 1.review.md"

    /// A draft that has been reviewed, and its world.
    private func reviewed(_ text: String = ReviewSample.draft) async throws -> (ActionScene, ActionWorld) {
        let scene = try ActionScene()
        try scene.home.write(Self.draft, text)
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        return (scene, world)
    }

    private func answer(_ scene: ActionScene, _ marks: String...) throws {
        try write(scene.path(Self.sidecar), ReviewSample.answer(try scene.home.read(Self.sidecar), marks))
    }

    @Test("Findings are written beside the draft, which is unchanged") func findingsComeBeside() async throws {
        let (scene, world) = try await reviewed()
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings.") && text.contains("  > in order to\n") && text.contains("  because\n"))
        #expect(try scene.exists("dropbox/.tk/reviews/Idea 1.md.json"))
        let before = try scene.snapshot()
        let again = try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(again.receipt.effects.isEmpty)
        #expect(again.receipt.values["review.findings"] == .integer(2))
        #expect(try scene.snapshot() == before)
    }

    @Test("The open findings are beside the state for editors and CI, and go with it") func outputs() async throws {
        let (scene, world) = try await reviewed()
        func output(_ ending: String) throws -> String? {
            let path = BytePath("dropbox/.tk/reviews/Idea 1.md.\(ending)")
            return try scene.exists(path) ? scene.home.read(path) : nil
        }
        let lines = try #require(try output("quickfix")).split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasPrefix("Idea 1.md:1:8: “in order to” → “to”: "))
        #expect(lines.last?.hasPrefix("Idea 1.md:3:11: ") == true)
        let key = try #require(try scene.home.read(Self.sidecar).split(separator: "**").dropFirst().first)
        let id = "\"tk/v1\": \"\(key)"
        #expect(try output("sarif")?.contains(id) == true)
        try answer(scene, "x", " ")
        let deed = try await world.run("review", on: "Idea 1.review.md", step: "other.0")
        #expect(try output("quickfix")?.hasPrefix("Idea 1.md:3:11: ") == true)
        #expect(try output("sarif")?.contains(id) == false)
        try await deed.undo()
        #expect(try output("quickfix") == nil && output("sarif") == nil)
    }

    @Test("Answers are applied in place and skipped findings never return") func answersGoDraft() async throws {
        let (scene, world) = try await reviewed()
        let twin = scene.path("dropbox/twin.md")
        #expect(link(scene.path(Self.draft).text, twin.text) == 0)
        #expect(chmod(scene.path(Self.draft).text, 0o640) == 0)
        let before = try #require(try FileStatus.of(scene.path(Self.draft)))
        try answer(scene, "x", "-")
        let deed = try await world.run("review", on: "Idea 1.review.md")
        #expect(deed.receipt.summary == "reviewed Idea 1.md: accepted 1, skipped 1, 0 findings are open")
        #expect(deed.receipt.values["review.accepted"] == .integer(1))
        #expect(deed.receipt.values["review.skipped"] == .integer(1))
        #expect(try scene.home.read(Self.draft) == ReviewSample.accepted)
        let after = try #require(try FileStatus.of(scene.path(Self.draft)))
        #expect(after.inode == before.inode && after.mode == 0o640)
        #expect(try Descriptor(twin).readAll() == Array(ReviewSample.accepted.utf8))
        #expect(try scene.home.read(Self.sidecar).contains("No findings, 1 accepted, 1 skipped."))
        try write(scene.path(Self.draft), "A new line.\n\n" + ReviewSample.accepted)
        let later = try await world.run("review", on: "Idea 1.md")
        #expect(later.receipt.values["review.findings"] == .integer(0))
    }

    @Test("Undo restores the draft and reopens the findings") func undoBringsDraft() async throws {
        let (scene, world) = try await reviewed()
        try answer(scene, "x", "-")
        let deed = try await world.run("review", on: "Idea 1.review.md")
        try await deed.undo()
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        #expect(try scene.home.read(Self.sidecar).contains("2 findings."))
        let again = try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(again.receipt.effects.isEmpty)
    }

    @Test("An editor with unsaved changes is waited for", arguments: ["vim", "emacs", "office"])
    func editorUnsavedChanges(_ editor: String) async throws {
        let (scene, world) = try await reviewed()
        let lock = scene.path(
            BytePath(
                ["vim": "dropbox/.Idea 1.md.swp", "emacs": "dropbox/.#Idea 1.md"][editor] ?? "dropbox/~$Idea 1.md"))
        var swap = Array("b0VIM 9.1".utf8) + Array(repeating: UInt8(0), count: 4087)
        swap[1007] = 0x55
        if editor == "emacs" {
            #expect(symlink("me@desk.5000000:2", lock.text) == 0)
        } else {
            try scene.home.write(lock.relative(to: scene.home.path) ?? "", swap)
        }
        try answer(scene, "x", "-")
        let action = try world.action("review")
        let deed = try await world.run(action, on: "Idea 1.review.md")
        #expect(deed.receipt.wait?.reason.contains(lock.nameText) == true, "\(deed.receipt)")
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        let line = "Idea 1.md has unsaved changes in an editor (see "
        #expect(try scene.home.read(Self.sidecar).contains(line))
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await action.decided(world.input("Idea 1.review.md")) }
        #expect(fault == deed.receipt.wait?.fault && fault?.kind == .transient)
        #expect(try scene.snapshot() == before)
        // vim itself records in the swap file when everything is saved.
        if editor == "vim" {
            swap[1007] = 0
            try Data(swap).write(to: URL(fileURLWithPath: lock.text))
        } else {
            try Durable.remove(lock)
        }
        try await world.run(action, on: "Idea 1.review.md")
        #expect(try scene.home.read(Self.draft) == ReviewSample.accepted)
    }

    @Test("A save of the draft ends the wait for answers") func saveDraftEnds() async throws {
        let (scene, world) = try await reviewed()
        try scene.home.write("dropbox/.#Idea 1.md", "")
        try answer(scene, "x")
        try write(scene.path(Self.draft), ReviewSample.draft + "\nMore of it.\n")
        let waits = try await world.run("review", on: "Idea 1.md")
        #expect(waits.receipt.summary.contains("1 wait until the draft is saved"))
        #expect(try scene.home.read(Self.sidecar).contains("- [x] **"))
        try Durable.remove(scene.path("dropbox/.#Idea 1.md"))
        try write(scene.path(Self.draft), ReviewSample.draft + "\nMore of it, saved.\n")
        try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(try scene.home.read(Self.draft) == ReviewSample.accepted + "\nMore of it, saved.\n")
        #expect(try !scene.home.read(Self.sidecar).contains("- [x] **"))
    }

    @Test("A sidecar being edited is not replaced") func sidecarBeingWritten() async throws {
        let (scene, world) = try await reviewed()
        try scene.home.write("dropbox/.#Idea 1.review.md", "")
        try write(scene.path(Self.draft), "Nothing to be found.\n")
        let before = try scene.home.read(Self.sidecar)
        let deed = try await world.run("review", on: "Idea 1.md")
        #expect(deed.receipt.wait?.reason.contains("it is rewritten once it is saved") == true)
        #expect(try scene.home.read(Self.sidecar) == before)
        try Durable.remove(scene.path("dropbox/.#Idea 1.review.md"))
        #expect(try await world.run("review", on: "Idea 1.md").receipt.wait == nil)
        #expect(try scene.home.read(Self.sidecar).contains("No findings."))
    }

    @Test("A line about a wait is nobody's words, even in a text that an editor saves late")
    func lineIsNobodys() throws {
        guard let state = ReviewSample.reviewed?.state else { throw TestFailure("no review") }
        var waiting = try ReviewState(json: Array(state.utf8), at: "Idea 1.md.json")
        let without = ReviewSidecar.text(waiting)
        waiting.waiting = ReviewWaiting(
            answers: 2, since: "2026-11-28 14:02", editor: "vim (process 7)", endsWithASave: true, saving: ":w")
        let with = ReviewSidecar.text(waiting)
        let line =
            "> **Answers wait** since 2026-11-28 14:02: Idea 1.md has unsaved changes in vim (process 7). 2 answers "
            + "go into the draft once you save it there (`:w`) or close it; `[x!]` applies what is ticked at once."
        #expect(with.split(separator: "\n").dropFirst(2).first.map(String.init) == line)
        #expect(!SidecarAnswers(with).holdsMore(than: SidecarAnswers(without)))
        #expect(SidecarAnswers(with + "Mine.\n").holdsMore(than: SidecarAnswers(with)))
        #expect(SidecarAnswers(with).byKey == SidecarAnswers(without).byKey)
    }

    @Test("The user's own text in the sidecar is kept") func personWordsSidecar() async throws {
        let (scene, world) = try await reviewed()
        let text = ReviewSample.answer(try scene.home.read(Self.sidecar), ["-"]) + "\nAsk Ada about this.\n"
        try write(scene.path(Self.sidecar), text)
        let deed = try await world.run("review", on: "Idea 1.review.md")
        let kept = ".tk/reviews/Idea 1.review.\(ContentHash(of: Array(text.utf8)).description.prefix(8)).md"
        #expect(try scene.home.read(BytePath("dropbox/\(kept)")) == text)
        #expect(deed.receipt.summary.contains("kept as Idea 1.review."))
        #expect(try !scene.home.read(Self.sidecar).contains("Ada"))
    }

    @Test("Text in the sidecar without an answer stays there") func wordsSidecarWithout() async throws {
        let (scene, world) = try await reviewed()
        try write(scene.path(Self.sidecar), try scene.home.read(Self.sidecar) + "\nAsk Ada about this.\n")
        let before = try scene.snapshot()
        try await world.run("review", on: "Idea 1.review.md")
        #expect(try scene.snapshot() == before)
    }

    @Test("Changes between decision and execution are never overwritten") func changesBetweenDecision() async throws {
        for file in [Self.draft, Self.sidecar] {
            let (scene, world) = try await reviewed()
            try answer(scene, "x", "-")
            let action = try world.action("review")
            let intent = try await action.decided(world.input("Idea 1.review.md"))
            let other = try scene.home.read(file) + "\nWritten in the last moment.\n"
            try write(scene.path(file), other)
            let fault = await #expect(throws: Fault.self) { try await action.performed(intent, step: "job.0") }
            #expect(fault?.kind == .transient)
            #expect(try scene.home.read(file) == other)
            guard case .notDone = try await action.recovered(intent, step: "job.0") else {
                Issue.record("it says that it is done")
                continue
            }
            try await world.run(action, on: "Idea 1.review.md")
            let draft = try scene.home.read(Self.draft)
            #expect(draft.hasPrefix("We met to talk.") && draft.occurrences(of: "to talk") == 1)
        }
    }

    @Test("An unrelated file with the sidecar's name is left alone") func fileSidecarName() async throws {
        let scene = try ActionScene()
        try scene.home.write(Self.draft, ReviewSample.draft)
        try scene.home.write(Self.sidecar, "My own words on the idea, in order to remember.\n")
        let world = try scene.open()
        let fault = await #expect(throws: Fault.self) { try await world.run("review", on: "Idea 1.md") }
        #expect(fault?.kind == .failed && fault?.message.contains("exists already") == true)
        // Alone, it is a draft like any other.
        try await world.run("review", on: "Idea 1.review.md")
        #expect(try scene.exists("dropbox/Idea 1.review.review.md"))
    }

    @Test("Losing the state loses no text") func lostStateCosts() async throws {
        let (scene, world) = try await reviewed()
        try answer(scene, "x")
        try Durable.remove(scene.path("dropbox/.tk/reviews/Idea 1.md.json"))
        try await world.run("review", on: "Idea 1.md")
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        #expect(try scene.home.read(Self.sidecar).contains("2 findings."))
    }

    @Test(
        "A sidecar renamed with its draft goes on with it",
        arguments: [["Other.md", "Other.review.md"], ["Other.review.md", "Other.md"]])
    func sidecarRenamedDraft(_ events: [String]) async throws {
        let (scene, world) = try await reviewed()
        try answer(scene, "x", "-")
        let before = try scene.home.read(Self.sidecar)
        try rename(scene, Self.draft, "dropbox/Other.md")
        try rename(scene, Self.sidecar, "dropbox/Other.review.md")
        for (number, event) in events.enumerated() {
            try await world.run("review", on: BytePath(event), step: "\(number).0")
        }
        // The draft tells where its review was; a sidecar alone does not, so it is kept, and asks again.
        let isFollowed = events[0] == "Other.md"
        #expect(try scene.home.read("dropbox/Other.md") == (isFollowed ? ReviewSample.accepted : ReviewSample.draft))
        let text = try scene.home.read("dropbox/Other.review.md")
        #expect(text.hasPrefix("<!-- steward review 1 of Other.md -->\n"))
        #expect(text.contains(isFollowed ? "No findings, 1 accepted, 1 skipped." : "2 findings."))
        let hash = ContentHash(of: Array(before.utf8)).description.prefix(8)
        let kept = BytePath("dropbox/.tk/reviews/Other.review.\(hash).md")
        #expect(try scene.home.read(kept) == before)
        #expect(try listed(scene) == ["Other.md", "Other.review.md"])
    }

    @Test(
        "Answers in a sidecar without its state are kept and requested again",
        arguments: ["Idea 1.review.md", "Idea 1.md"])
    func answersSidecarWithout(_ event: String) async throws {
        let (scene, world) = try await reviewed()
        try Durable.remove(scene.path("dropbox/.tk/reviews/Idea 1.md.json"))
        try answer(scene, "x", "-")
        let before = try scene.home.read(Self.sidecar)
        let deed = try await world.run("review", on: BytePath(event))
        #expect(deed.receipt.values["review.findings"] == .integer(2))
        let hash = ContentHash(of: Array(before.utf8)).description.prefix(8)
        #expect(deed.receipt.summary.contains("kept as Idea 1.review.\(hash).md"))
        #expect(try scene.home.read(BytePath("dropbox/.tk/reviews/Idea 1.review.\(hash).md")) == before)
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        #expect(try listed(scene) == ["Idea 1.md", "Idea 1.review.md"])
        // From then on answers are accepted.
        try answer(scene, "x", "-")
        try await world.run("review", on: "Idea 1.review.md", step: "other.0")
        #expect(try scene.home.read(Self.draft) == ReviewSample.accepted)
    }

    @Test("Undo restores a rewritten sidecar") func undoBringsSidecar() async throws {
        let (scene, world) = try await reviewed()
        try Durable.remove(scene.path("dropbox/.tk/reviews/Idea 1.md.json"))
        try answer(scene, "x", "-")
        let before = try scene.home.read(Self.sidecar)
        let deed = try await world.run("review", on: "Idea 1.md")
        #expect(try scene.home.read(Self.sidecar) != before)
        try await deed.undo()
        #expect(try scene.home.read(Self.sidecar) == before)
        #expect(try !scene.exists("dropbox/.tk/reviews/Idea 1.md.json"))
    }

    @Test(
        "A sidecar without its draft is never reviewed itself",
        arguments: ["Idea 1.review.md", "Idea 2.review.md", "Notes.md", "Idea 1.review.review.md"])
    func sidecarWithoutDraft(_ name: String) async throws {
        let (scene, world) = try await reviewed()
        let text = "\u{FEFF}" + (try scene.home.read(Self.sidecar))
        for gone in [Self.draft, Self.sidecar] { try Durable.remove(scene.path(gone)) }
        try scene.home.write(BytePath("dropbox/\(name)"), text)
        // A folder is not a draft, whatever its name.
        try Durable.makeDirectory(scene.path("dropbox/Idea 2"))
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await world.run("review", on: BytePath(name)) }
        #expect(fault?.kind == .superseded && fault?.message.contains("nothing to review") == true)
        #expect(try scene.snapshot() == before)
    }

    @Test("A sidecar written by an earlier version is not reviewed") func earlierVersionMade() async throws {
        let (scene, world) = try await reviewed()
        let text = try scene.home.read(Self.sidecar)
        try scene.home.write("dropbox/Idea 1.review.review.md", text)
        try scene.home.write("dropbox/.tk/reviews/Idea 1.review.md.json", "{}")
        let before = try scene.snapshot()
        await #expect(throws: Fault.self) { try await world.run("review", on: "Idea 1.review.review.md") }
        #expect(try scene.snapshot() == before)
        #expect(try await world.run("review", on: "Idea 1.review.md").receipt.effects.isEmpty)
    }

    @Test("Two drafts do not share a sidecar") func twoDraftsShare() async throws {
        let (scene, world) = try await reviewed()
        try scene.home.write("dropbox/Idea 1", ReviewSample.draft)
        let before = try scene.snapshot()
        let fault = await #expect(throws: Fault.self) { try await world.run("review", on: "Idea 1") }
        #expect(fault?.kind == .failed && fault?.message.contains("exists already") == true)
        #expect(try scene.snapshot() == before)
    }

    private func rename(_ scene: ActionScene, _ from: BytePath, _ to: BytePath) throws {
        #expect(Glibc.rename(scene.path(from).text, scene.path(to).text) == 0)
    }

    private func listed(_ scene: ActionScene) throws -> [String] {
        try listDirectory(scene.path("dropbox")).map { String(decoding: $0.name, as: UTF8.self) }
            .filter { !$0.hasPrefix(".") }.sorted()
    }

    @Test("A draft without findings gets no sidecar") func draftWithoutFindings() async throws {
        let (scene, _) = try await reviewed("Short and good.\n")
        #expect(try !scene.exists(Self.sidecar))
    }

    @Test("A text that is not UTF-8 is not reviewed and its sidecar says so") func textUtf8() async throws {
        let scene = try ActionScene()
        try scene.home.write(Self.draft, [0x47, 0xFC, 0x6E, 0x0A])
        let world = try scene.open()
        try await world.run("review", on: "Idea 1.md")
        #expect(try scene.home.read(Self.sidecar).contains("it is not UTF-8"))
    }

    @Test(
        "Unknown names are found when rules are loaded",
        arguments: [
            ("review: { advisors: [technicl_writer] }", "did you mean `technical_writer`"),
            ("review: { ignore: [pasive] }", "there is no rule `pasive`"),
            ("review: { advisors: [\"{{ file.name }}\"] }", "without values"),
        ])
    func unknownNamesFound(_ entry: String, _ message: String) throws {
        let (rules, diagnostics) = try ActionScene().open().load(entry)
        #expect(rules.isEmpty)
        #expect(diagnostics.map(\.description).joined().contains(message), "\(diagnostics.map(\.description))")
    }

    @Test(
        "Rules and sentences follow the rule's settings",
        arguments: [("ignore: [wordy]", 0), ("strict-style: true", 3), ("long-sentence: 10", 3)])
    func rulesSentencesRule(_ setting: String, _ count: Int) async throws {
        let scene = try ActionScene()
        let house = "A very old house on the hill by the river and the mill stood empty that winter until spring."
        try scene.home.write(Self.draft, ReviewSample.draft + "\n\(house)\n")
        let world = try scene.open()
        let deed = try await world.run("review: { \(setting) }", on: "Idea 1.md")
        #expect(deed.receipt.values["review.findings"] == .integer(count))
        // Different settings make a different review of the same text.
        let other = try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(other.receipt.values["review.findings"] == .integer(2))
    }

    @Test("Names are bytes") func namesAreBytes() throws {
        let name = BytePath(bytes: Array("a".utf8) + [0xFF] + Array(".md".utf8))
        let files = ReviewFiles(draft: BytePath("/d").appending(name))
        #expect(files.sidecar.name == Array("a".utf8) + [0xFF] + Array(".review.md".utf8))
        #expect(ReviewFiles.drafts(ofSidecar: files.sidecar).contains(files.draft))
        #expect(ReviewFiles(draft: "/d/essay.txt").sidecar == "/d/essay.txt.review.md")
        #expect(ReviewFiles.drafts(ofSidecar: "/d/essay.txt.review.md").contains("/d/essay.txt"))
        #expect(ReviewFiles.drafts(ofSidecar: "/d/essay.md").isEmpty)
        let state = ReviewState(draft: name)
        #expect(ReviewSidecar.text(state).hasPrefix("<!-- steward review 1 of a\\xFF.md -->\n"))
    }
}
