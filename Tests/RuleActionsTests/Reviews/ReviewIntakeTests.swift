import FileActions
import Foundation
import Glibc
import NoteActions
import OwnFiles
import Platform
import Rules
import TKCore
import TestSupport
import Testing

/// What other reviewers add to a review: it stays beside the findings of the rule, and is answered like them.
@Suite("Findings of other reviewers") struct ReviewIntakeTests {
    private static let draft: BytePath = "dropbox/Idea 1.md"
    private static let sidecar: BytePath = "dropbox/Idea 1.review.md"
    private static let state: BytePath = "dropbox/.tk/reviews/Idea 1.md.json"
    private static let rain = ReportedFinding(
        author: "ann", message: "Too plain.", quote: "it rained", replacement: "the rain fell")

    private func scene(_ text: String = ReviewSample.draft) throws -> (ActionScene, ActionWorld) {
        let scene = try ActionScene()
        try scene.home.write(Self.draft, text)
        return (scene, try scene.open())
    }

    private func answer(_ scene: ActionScene, _ marks: String...) throws {
        try write(scene.path(Self.sidecar), ReviewSample.answer(try scene.home.read(Self.sidecar), marks))
    }

    @Test("An added finding survives reviews by the rule, and its words go into the draft", arguments: [true, false])
    func stays(isReviewedBefore: Bool) async throws {
        let (scene, world) = try scene()
        if isReviewedBefore { try await world.run("review", on: "Idea 1.md") }
        let outcome = try ReviewIntake.add([Self.rain], to: scene.path(Self.draft))
        #expect(outcome.added.map(\.suggestion.advisorID) == ["ann"] && outcome.unplaced.isEmpty)
        let added = try scene.home.read(Self.sidecar)
        #expect(added.contains("** ann · rephrase · P3 · L3\n") && added.contains("  the rain fell\n"))
        #expect(added.contains("3 findings.") == isReviewedBefore)
        try await world.run("review", on: "Idea 1.md", step: "other.0")
        #expect(try scene.home.read(Self.sidecar).contains("3 findings."))
        let outputs = try scene.home.read("dropbox/.tk/reviews/Idea 1.md.quickfix")
        #expect(outputs.contains("“it rained” → “the rain fell”"))
        try write(scene.path(Self.draft), "A first line.\n\n" + ReviewSample.draft)
        try await world.run("review", on: "Idea 1.md", step: "third.0")
        try answer(scene, " ", " ", "x")
        try await world.run("review", on: "Idea 1.review.md")
        #expect(
            try scene.home.read(Self.draft)
                == "A first line.\n\n" + ReviewSample.draft.replacing("it rained", with: "the rain fell"))
        #expect(try scene.home.read(Self.sidecar).contains("2 findings, 1 accepted."))
    }

    @Test("The same again is known, and what was skipped stays skipped, by whomever") func known() async throws {
        let (scene, world) = try scene()
        try await world.run("review", on: "Idea 1.md")
        let path = scene.path(Self.draft)
        _ = try ReviewIntake.add([Self.rain], to: path)
        let before = try scene.snapshot()
        let again = try ReviewIntake.add([Self.rain], to: path)
        #expect(again.added.isEmpty && again.known == 1)
        #expect(try scene.snapshot() == before)
        try answer(scene, " ", " ", "-")
        try await world.run("review", on: "Idea 1.review.md")
        var other = Self.rain
        other.author = "bob"
        let skipped = try ReviewIntake.add([Self.rain, other], to: path)
        #expect(skipped.added.isEmpty && skipped.known == 2)
        // Another remark about the same words is another finding.
        other.replacement = nil
        #expect(try ReviewIntake.add([other], to: path).added.count == 1)
    }

    @Test("What the rule finds too is one finding with both names") func together() async throws {
        let (scene, world) = try scene()
        try await world.run("review", on: "Idea 1.md")
        let before = try scene.home.read(Self.sidecar)
        let key = try #require(before.split(separator: "**").dropFirst().first)
        let finding = ReportedFinding(author: "vale", message: "Shorter.", quote: "in order to", replacement: "to")
        _ = try ReviewIntake.add([finding], to: scene.path(Self.draft))
        try await world.run("review", on: "Idea 1.md", step: "other.0")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings.") && text.contains("- [ ] **\(key)** quick/wordy, vale · "), "\(text)")
    }

    @Test("Nothing is written while somebody's answers or changes are in the way") func inTheWay() async throws {
        let (scene, world) = try scene()
        try await world.run("review", on: "Idea 1.md")
        let path = scene.path(Self.draft)
        let clean = try scene.home.read(Self.sidecar)
        try answer(scene, "x!", " ")
        let before = try scene.snapshot()
        #expect(throws: Fault.self) { _ = try ReviewIntake.add([Self.rain], to: path) }
        #expect(try scene.snapshot() == before)
        try write(scene.path(Self.sidecar), ReviewSample.answer(clean, ["x", "-"]))
        try scene.home.write("dropbox/.#Idea 1.review.md", "me@here")
        #expect(throws: Fault.self) { _ = try ReviewIntake.add([Self.rain], to: path) }
        #expect(try ReviewIntake.add([Self.rain], to: path, isDryRun: true).added.count == 1)
        #expect(unlink(scene.path("dropbox/.#Idea 1.review.md").text) == 0)
        let folder = try Descriptor(scene.path("dropbox/.tk/reviews"), O_RDONLY | O_DIRECTORY)
        #expect(try FileLock.acquire(.exclusive, on: folder, by: .whole))
        #expect(throws: Fault.self) { _ = try ReviewIntake.add([Self.rain], to: path) }
        try FileLock.release(folder, by: .whole)
        #expect(try ReviewIntake.add([Self.rain], to: path).added.count == 1)
        // Ticks that wait for the agent are still there.
        try await world.run("review", on: "Idea 1.review.md")
        #expect(try scene.home.read(Self.draft) == ReviewSample.accepted)
        #expect(try scene.home.read(Self.sidecar).contains("1 finding, 1 accepted, 1 skipped."))
    }

    @Test("An addition that was interrupted before the sidecar is completed by the next") func interrupted() throws {
        let (scene, _) = try scene()
        let path = scene.path(Self.draft)
        _ = try ReviewIntake.add([Self.rain], to: path)
        let text = try scene.home.read(Self.sidecar)
        #expect(unlink(scene.path(Self.sidecar).text) == 0)
        #expect(try ReviewIntake.add([Self.rain], to: path).known == 1)
        #expect(try scene.home.read(Self.sidecar) == text)
        let fault = #expect(throws: Fault.self) { _ = try ReviewIntake.add([Self.rain], to: scene.path(Self.sidecar)) }
        #expect(fault?.message.contains("name its draft") == true)
    }

    @Test("An answer to `[?]` is shown, and clears the mark; a tick then means the new words")
    func answers() async throws {
        let (scene, world) = try scene()
        try await world.run("review", on: "Idea 1.md")
        let path = scene.path(Self.draft)
        let clean = try scene.home.read(Self.sidecar)
        let keys = clean.split(separator: "\n").filter { $0.hasPrefix("- [ ]") }.map {
            String($0.split(separator: "**")[1])
        }
        try #require(keys.count == 2)
        func answered(_ key: String, _ wording: String? = "so as to") throws -> Bool {
            try ReviewIntake.answer(key, of: path, by: "bob", "It is longer.", wording: wording).isReworded
        }
        // Nothing was asked, nothing is there, and the writer has decided.
        for (key, mark) in [(keys[0], " "), ("none", " "), (keys[0], "x"), (keys[0], "-")] {
            try write(scene.path(Self.sidecar), ReviewSample.answer(clean, [mark]))
            let before = try scene.snapshot()
            #expect(throws: Fault.self, "\(key) \(mark)") { _ = try answered(key) }
            #expect(try scene.snapshot() == before)
        }
        let asked = ReviewSample.answer(clean, ["?", "?"])
            .replacing("\n\n  > in order to", with: " Is it worse?\n\n  > in order to")
        try write(scene.path(Self.sidecar), asked)
        #expect(try ReviewIntake.stored(path)?.asked == [keys[0]: "Is it worse?", keys[1]: ""])
        #expect(try answered(keys[0]))
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("- [ ] **\(keys[0])**") && text.contains("- [?] **\(keys[1])**"), "\(text)")
        #expect(text.contains("  You asked: Is it worse?\n\n  bob: It is longer.\n"), "\(text)")
        #expect(text.contains("  so as to\n") && !text.contains("  to\n"), "\(text)")
        #expect(try ReviewIntake.stored(path)?.asked == [keys[1]: ""])
        // More than words, and the same again: the answer counts without it.
        #expect(try !answered(keys[1], "due to\n\n# the"))
        #expect(try !answered(keys[0]))
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft)
        try await world.run("review", on: "Idea 1.md", step: "other.0")
        let later = try scene.home.read(Self.sidecar)
        #expect(later.contains("  so as to\n") && !later.contains("- [?]"), "\(later)")
        try answer(scene, "x", " ")
        let ticked = try scene.snapshot()
        #expect(throws: Fault.self) { _ = try answered(keys[0], "with the aim to") }
        #expect(try scene.snapshot() == ticked)
        try await world.run("review", on: "Idea 1.review.md", step: "third.0")
        #expect(try scene.home.read(Self.draft) == ReviewSample.draft.replacing("in order to", with: "so as to"))
    }

    // MARK: Programs

    private func program(_ scene: ActionScene, _ script: String) throws -> String {
        let path = try scene.home.write("linter", "#!/bin/sh\n" + script)
        #expect(chmod(path.text, 0o755) == 0)
        return "review: { passes: [quick, program], command: [\(path.text), --json] }"
    }

    /// A linter that finds the line of "rain" on its standard input, and fails as linters do.
    private static let linter = #"""
        [ "$(wc -l < /dev/fd/3)" -gt 0 ] || exit 9
        out=$(grep -n rain | while IFS=: read -r line rest; do
          echo "{\"message\":\"Rain again.\",\"location\":{\"path\":\"stdin\",\"range\":{\"start\":{\"line\":$line,\"column\":1},\"end\":{\"line\":$line,\"column\":3}}},\"source\":{\"name\":\"rainlint\"}}"
        done)
        [ -z "$out" ] && exit 0
        echo "$out"
        echo "there are problems" >&2
        exit 1
        """#

    @Test("A program's findings are written beside the others, and follow the draft") func byProgram() async throws {
        let (scene, world) = try scene()
        let entry = try program(scene, Self.linter)
        #expect(try world.action(entry).work == .process)
        let deed = try await world.run(entry, on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(deed.receipt.values["review.findings"] == .integer(3), "\(text)")
        #expect(text.contains("** rainlint · improve · P3 · L3\n\n  > We\n\n  Rain again.\n"), "\(text)")
        let before = try scene.snapshot()
        try await world.run(entry, on: "Idea 1.md", step: "again.0")
        #expect(try scene.snapshot() == before, "not asked twice about the same text")
        try write(scene.path(Self.draft), ReviewSample.draft.replacing("rain", with: "pour"))
        try await world.run(entry, on: "Idea 1.md", step: "third.0")
        #expect(try scene.home.read(Self.sidecar).contains("2 findings."))
    }

    @Test("Answers go into the draft while a program reads it") func answersBeside() async throws {
        let (scene, world) = try scene()
        let entry = try program(scene, Self.linter)
        try await world.run(entry, on: "Idea 1.md")
        try answer(scene, "x", " ", " ")
        try write(scene.path(Self.draft), ReviewSample.draft + "More rain.\n")
        try await world.run(entry, on: "Idea 1.md", step: "second.0")
        #expect(try scene.home.read(Self.draft).hasPrefix("We met to talk."))
        #expect(try scene.home.read(Self.sidecar).contains("  > Mo\n"))
    }

    @Test(
        "A program that fails is named, and the other findings are written",
        arguments: [
            ("echo no config >&2; exit 2", "ended with 2: no config"),
            ("echo all is well", "none of the known formats"),
            ("exit 3", "ended with 3"), ("kill -9 $$", "ended with 137"),
        ])
    func failing(_ script: String, _ message: String) async throws {
        let (scene, world) = try scene()
        let deed = try await world.run(try program(scene, script), on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings.") && text.contains(message), "\(text)")
        guard case .text(let trouble)? = deed.receipt.values["review.trouble"] else {
            Issue.record("the receipt names no trouble")
            return
        }
        #expect(trouble.contains("has not read this text"))
    }

    @Test("A program that is not installed does not stop the review") func missing() async throws {
        let (scene, world) = try scene()
        let entry = "review: { passes: [quick, program], command: [/no/such/linter] }"
        try await world.run(entry, on: "Idea 1.md")
        let text = try scene.home.read(Self.sidecar)
        #expect(text.contains("2 findings.") && text.contains("there is no program /no/such/linter"))
    }

    @Test(
        "Settings of programs are checked when rules are loaded",
        arguments: [
            ("review: { passes: [quick, program] }", true, "needs a `command`"),
            ("review: { command: [vale] }", true, "only the pass `program`"),
            ("review: { passes: [program], command: [vale] }", false, "rules may not run programs here"),
        ])
    func checked(_ entry: String, _ isAllowed: Bool, _ message: String) throws {
        var options = ActionWorld.Options()
        options.run = RunPolicy(isAllowed: isAllowed, timeout: 20)
        let (rules, diagnostics) = try ActionScene().open(options).load(entry)
        #expect(rules.isEmpty)
        #expect(diagnostics.map(\.description).joined().contains(message), "\(diagnostics.map(\.description))")
    }
}
