import Platform
import TestSupport
import Testing

/// Three editors at once would be too much for a small machine.
@Suite("Editors", .serialized) struct EditorTests {}

extension EditorTests {
    @Suite("A draft in an editor", .serialized)
    struct Drafts {
        static let rule = """
            - rule: Seen
              in: drafts
              on: [arrived, changed, renamed, removed]
              settle: 300ms
              do:
                - append-block: { note: seen, heading: Seen, anchor: seen, text: "{{ event }} {{ file.name }}" }
            """

        @Test("Each save is one change, and opening or closing is none", arguments: Editor.locking)
        func saves(_ editor: Editor) async throws {
            try requireEditor(editor)
            let steward = try AgentFixture()
            try steward.rule("10-seen.yaml", Self.rule)
            try await steward.start()
            try steward.wait()
            let draft = steward.path("drafts/essay.md")
            let session = try await EditorSession(steward, editor, draft)
            var expected = ["arrived essay.md"]
            for number in 1...4 {
                try await session.type("Sentence \(number).")
                try await session.save("Sentence \(number).")
                try await steward.until("save \(number) is seen") {
                    try steward.judgements("Seen", in: "drafts").count >= number
                }
                try steward.wait()
                #expect(try steward.judgements("Seen", in: "drafts") == expected)
                expected.append("changed essay.md")
            }
            try await session.quit()
            try await EditorSession(steward, editor, draft).quit()
            // A file judged after this one was not judged because of the editor.
            try steward.drop("drafts/last.txt", "Last.\n")
            try await steward.until("the last file is seen") {
                try steward.judgements("Seen", in: "drafts").contains("arrived last.txt")
            }
            try steward.wait()
            expected.removeLast()
            #expect(try steward.judgements("Seen", in: "drafts") == expected + ["arrived last.txt"])
            #expect(try steward.read("notes/seen.md").occurrences(of: "changed essay.md") == 3)
            for number in 1...4 { #expect(try steward.read("drafts/essay.md").contains("Sentence \(number).")) }
            try await steward.stop()
        }

        @Test(
            "Each save by a tool is one change",
            arguments: [
                "sed -i s/one/two/ essay.md", "echo more >> essay.md",
                "cp essay.md .t && echo new >> .t && mv .t essay.md",
                "echo all new > essay.md", "printf 'in place' | dd of=essay.md conv=notrunc status=none",
                "perl -pi -e s/one/two/ essay.md", "cp essay.md essay.md~ && echo backed up > essay.md",
            ])
        func tools(_ command: String) async throws {
            let steward = try AgentFixture()
            try steward.rule("10-seen.yaml", Self.rule)
            try await steward.start()
            try steward.drop("drafts/essay.md", "one\n")
            try await steward.until("the draft is seen") { try !steward.judgements("Seen", in: "drafts").isEmpty }
            try steward.wait()
            try steward.shell(["sh", "-c", "cd Steward/drafts && \(command)"]).check()
            try await steward.until("the change is seen") { try steward.judgements("Seen", in: "drafts").count >= 2 }
            try steward.shell(["sh", "-c", "cd Steward/drafts && touch essay.md && chmod 600 essay.md"]).check()
            try steward.drop("drafts/last.txt", "Last.\n")
            try await steward.until("the last file is seen") {
                try steward.judgements("Seen", in: "drafts").contains("arrived last.txt")
            }
            try steward.wait()
            #expect(
                try steward.judgements("Seen", in: "drafts") == [
                    "arrived essay.md", "changed essay.md", "arrived last.txt",
                ])
            try await steward.stop()
        }
    }
}

/// Skips the test with a reason if the editor or the terminal is missing.
func requireEditor(_ editor: Editor) throws {
    for program in [editor.rawValue, "tmux"] where !Editor.has(program) {
        try Test.cancel("\(program) is not installed")
    }
}
