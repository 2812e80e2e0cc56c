import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

extension EditorTests {
    @Suite("A draft's review in an editor", .serialized)
    struct Reviews {
        static let rule = """
            - rule: Review
              in: drafts
              on: [arrived, changed]
              settle: 300ms
              do:
                - review
            """

        private func steward(_ editor: Editor = .vim) async throws -> AgentFixture {
            try requireEditor(editor)
            let steward = try AgentFixture()
            try steward.rule("10-review.yaml", Self.rule)
            try await steward.start()
            try steward.wait()
            return steward
        }

        private func sidecarHolds(_ text: String, _ steward: AgentFixture) throws -> Bool {
            try steward.exists("drafts/essay.review.md") && steward.read("drafts/essay.review.md").contains(text)
        }

        @Test("Ticked and saved suggestions are applied, and skipped ones never return")
        func ticks() async throws {
            let steward = try await steward()
            let draft = try await EditorSession(steward, .vim, steward.path("drafts/essay.md"))
            try await draft.type("We met in order to talk.")
            try await draft.type("We stayed due to the fact that it rained.")
            try await draft.save("due to the fact that")
            try await draft.quit()
            try await steward.until("the sidecar is there") { try self.sidecarHolds("2 findings.", steward) }
            try steward.wait()
            #expect(try steward.judgements("Review", in: "drafts") == ["arrived essay.md"], "the sidecar is no news")

            let sidecar = try await EditorSession(steward, .vim, steward.path("drafts/essay.review.md"))
            // From the top: the first unanswered block, then the next.
            try sidecar.vim("1")
            for mark in ["x", "-"] { try sidecar.vim("/^- \\[ \\]/s/\\[ \\]/[\(mark)]/") }
            try sidecar.vim("w")
            try await steward.until("the draft has the accepted words") {
                try steward.read("drafts/essay.md").contains("We met to talk.")
            }
            try await sidecar.quit()
            #expect(try steward.read("drafts/essay.md").contains("due to the fact that it rained."))
            try await steward.until("the findings are gone") {
                try self.sidecarHolds("No findings, 1 accepted, 1 skipped.", steward)
            }
            try steward.wait()
            let seen = ["arrived essay.md", "changed essay.review.md"]
            #expect(try steward.judgements("Review", in: "drafts") == seen, "own writes are no news")

            let again = try await EditorSession(steward, .vim, steward.path("drafts/essay.md"))
            try await again.type("It was there in order to stay.")
            try await again.save("in order to stay")
            try await again.quit()
            try await steward.until("the new finding is there") { try self.sidecarHolds("1 finding,", steward) }
            try steward.wait()
            #expect(try !self.sidecarHolds("due to the fact", steward))

            let job = try #require(
                try steward.past("drafts/essay.review.md").first { $0["rule"].text == "Review" }?["job"].text)
            #expect(try steward.run(["undo", job]).status == 1, "the draft has been changed since")
            #expect(try steward.leftovers().isEmpty)
            try await steward.stop()
        }

        @Test("A draft with unsaved changes is written once they are saved")
        func waits() async throws {
            let steward = try await steward()
            let path = try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let session = try await EditorSession(steward, .vim, path)
            try await session.type("A line that is not saved.")
            try await steward.until("vim says that there are changes") {
                try UnsavedSwap.saysUnsaved(steward.path("drafts/.essay.md.swp"))
            }
            try steward.drop(
                "drafts/essay.review.md",
                try steward.read("drafts/essay.review.md").replacingOccurrences(of: "- [ ]", with: "- [x]"))
            try await steward.until("the answer waits") {
                try steward.status().waiting.contains { $0.problem.contains("changes that are not saved") }
            }
            #expect(try steward.read("drafts/essay.md") == "We met in order to talk.\n")
            try await steward.until("the sidecar says so") {
                try self.sidecarHolds("essay.md has unsaved changes in vim (process ", steward)
                    && self.sidecarHolds("once you save it there (`:w`) or close it", steward)
            }
            try await session.save("A line that is not saved.")
            try await steward.until("the draft holds both") {
                try steward.read("drafts/essay.md") == "We met to talk.\nA line that is not saved.\n"
            }
            try await session.quit()
            try await steward.until("the finding is gone") {
                try self.sidecarHolds("No findings, 1 accepted.", steward)
            }
            try await steward.until("nothing waits") { try steward.status().waiting.isEmpty }
            try steward.wait()
            #expect(try steward.read("drafts/essay.md").occurrences(of: "We met to talk.") == 1)
            try await steward.stop()
        }

        private func tick(_ steward: AgentFixture, _ mark: String) throws {
            let text = try steward.read("drafts/essay.review.md")
            try steward.drop("drafts/essay.review.md", text.replacingOccurrences(of: "- [ ]", with: "- [\(mark)]"))
        }

        private func waits(_ steward: AgentFixture, _ why: String) async throws {
            try await steward.until("the answer waits: \(why)") {
                try steward.status().waiting.contains { $0.problem.contains(why) }
            }
        }

        @Test("While an editor without a lock file runs on a draft, answers wait until it ends")
        func waitsForTheEnd() async throws {
            let steward = try await steward(.nano)
            let path = try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let session = try await EditorSession(steward, .nano, path, isLocking: false)
            try await session.type("A line that is not saved.")
            try tick(steward, "x")
            try await waits(steward, "essay.md is open in nano (process ")
            #expect(try sidecarHolds("essay.md is open in nano (process ", steward))
            #expect(try steward.read("drafts/essay.md") == "We met in order to talk.\n")
            try await session.save("A line that is not saved.")
            #expect(try steward.read("drafts/essay.md").contains("in order to"), "it may go on to change")
            try await session.quit()
            try await steward.until("the draft holds both") {
                let text = try steward.read("drafts/essay.md")
                return text.contains("We met to talk.") && text.contains("A line that is not saved.")
            }
            try await steward.until("the finding is gone") {
                try self.sidecarHolds("No findings, 1 accepted.", steward)
            }
            #expect(try !sidecarHolds("wait", steward))
            try await steward.stop()
        }

        @Test("A nano that has saved keeps no answer waiting, although its lock does not say so")
        func nanoSaves() async throws {
            let steward = try await steward(.nano)
            let path = try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let session = try await EditorSession(steward, .nano, path)
            try await session.type("A line that is not saved.")
            try tick(steward, "x")
            try await steward.until("the sidecar says so") {
                try self.sidecarHolds("essay.md has unsaved changes in nano (process ", steward)
            }
            try await session.save("A line that is not saved.")
            try await steward.until("the draft holds both") {
                let text = try steward.read("drafts/essay.md")
                return text.contains("We met to talk.") && text.contains("A line that is not saved.")
            }
            try await session.quit()
            try await steward.stop()
        }

        @Test("A sidecar with ticks that are not saved is not rewritten", arguments: [Editor.neovim, .nano])
        func unsavedTicks(_ editor: Editor) async throws {
            let steward = try await steward(editor)
            try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let before = try steward.read("drafts/essay.review.md")
            let sidecar = steward.path("drafts/essay.review.md")
            let session = try await EditorSession(steward, editor, sidecar, isLocking: false)
            try await session.type("A remark.")
            try steward.drop("drafts/essay.md", "We met in order to talk. We stayed due to the fact that it rained.\n")
            try await waits(
                steward, editor == .nano ? "essay.review.md is open in " : "with changes that are not saved (")
            #expect(try steward.read("drafts/essay.review.md") == before)
            try await session.save("A remark.")
            try await session.quit()
            try await steward.until("it is rewritten") { try self.sidecarHolds("2 findings.", steward) }
            try await steward.until("nothing waits") { try steward.status().waiting.isEmpty }
            try await steward.stop()
        }

        @Test("[x!] applies an answer although an editor has the draft open")
        func now() async throws {
            let steward = try await steward(.nano)
            let path = try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let session = try await EditorSession(steward, .nano, path, isLocking: false)
            try tick(steward, "x")
            try await waits(steward, "or at once with `[x!]`")
            let text = try steward.read("drafts/essay.review.md")
            try steward.drop("drafts/essay.review.md", text.replacingOccurrences(of: "- [x]", with: "- [x!]"))
            try await steward.until("the answer is in the draft") {
                try steward.read("drafts/essay.md") == "We met to talk.\n"
            }
            try await session.quit()
            try await steward.stop()
        }

        @Test("A swap file elsewhere counts as well, even after its editor was killed")
        func swapsElsewhere() async throws {
            let steward = try await steward(.neovim)
            let path = try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            let session = try await EditorSession(steward, .neovim, path)
            try await session.type("A line that is not saved.")
            try tick(steward, "x")
            try await waits(steward, "with changes that are not saved (")
            #expect(try steward.status().waiting.contains { $0.problem.contains("/nvim/swap/%") })
            try await session.save("A line that is not saved.")
            try await steward.until("the draft holds both") {
                try steward.read("drafts/essay.md") == "We met to talk.\nA line that is not saved.\n"
            }
            try await session.quit()
            try await steward.stop()
        }

        /// Before the draft's first byte, in the middle of the draft, before the sidecar's first byte, and with the
        /// state written but not in place. Starting truncates one file and passes no other point.
        @Test(
            "Wherever the agent is killed while applying an answer, the draft has it once",
            arguments: ["write begun:1", "truncated:2", "write begun:2", "recorded:1", "replaced:1"])
        func killed(_ point: String) async throws {
            let steward = try AgentFixture()
            try steward.rule("10-review.yaml", Self.rule)
            try await steward.start()
            try steward.drop("drafts/essay.md", "We met in order to talk.\n")
            try await steward.until("the sidecar is there") { try self.sidecarHolds("1 finding.", steward) }
            try steward.wait()
            try await steward.stop()
            try await steward.start(endingAt: point)
            try steward.drop(
                "drafts/essay.review.md",
                try steward.read("drafts/essay.review.md").replacingOccurrences(of: "- [ ]", with: "- [x]"))
            try await steward.endedThere()
            try await steward.start()
            try await steward.until("the answer is in the draft") {
                try steward.read("drafts/essay.md") == "We met to talk.\n"
            }
            try await steward.until("the sidecar says so") {
                try self.sidecarHolds("No findings, 1 accepted.", steward)
            }
            try steward.wait()
            #expect(try steward.leftovers().isEmpty)
            try await steward.stop()
        }
    }
}

/// vim's own flag for unsaved changes.
enum UnsavedSwap {
    static func saysUnsaved(_ swap: BytePath) throws -> Bool {
        guard try FileStatus.of(swap) != nil else { return false }
        return try Descriptor(swap).read(at: 1007, count: 1) == [0x55]
    }
}
