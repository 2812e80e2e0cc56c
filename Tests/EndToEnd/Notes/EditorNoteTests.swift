import Foundation
import Platform
import TestSupport
import Testing

extension EditorTests {
    @Suite("The daily note in an editor, while captures arrive", .serialized)
    struct Notes {
        static let rule = """
            - rule: Captures
              in: dropbox
              settle: 100ms
              do:
                - index-capture
                - append-block: { heading: Captures, anchor: cap, text: "<{{ capture.text }}>" }
                - trash
            """

        private func steward(editorWait: String) async throws -> (AgentFixture, BytePath) {
            let steward = try AgentFixture(configuration: "notes: { wait-editor: \(editorWait), wait-open: 5s }")
            try steward.rule("10-captures.yaml", Self.rule)
            try await steward.start()
            try steward.drop("dropbox/first.md", "capture 0")
            try await steward.until("today's note is made") { try steward.notes().contains("<capture 0>") }
            try steward.wait()
            let note = steward.today()
            let text = try steward.read(note)
            try steward.drop(note, "The user's first line.\n\n\(text)")
            try await steward.until("the user's line is seen") { try steward.status().settling.isEmpty }
            try steward.wait()
            return (steward, note)
        }

        private func drop(_ numbers: some Sequence<Int>, _ steward: AgentFixture) throws {
            for number in numbers { try steward.drop(BytePath("dropbox/c\(number).md"), "capture \(number)") }
        }

        private func expectAll(_ count: Int, _ lines: [String], _ steward: AgentFixture, _ note: BytePath) async throws
        {
            try await steward.until("all blocks are in the note") {
                let text = try steward.read(note)
                return (0...count).allSatisfy { text.contains("<capture \($0)>") }
            }
            try steward.wait()
            let text = try steward.read(note)
            for number in 0...count {
                #expect(text.occurrences(of: "<capture \(number)>") == 1, "capture \(number) in \(text)")
            }
            for line in ["The user's first line."] + lines {
                #expect(text.occurrences(of: line) == 1, "\(line) in \(text)")
            }
            #expect(try steward.files("dropbox").isEmpty)
            #expect(try steward.files("notes").filter { $0.nameText.contains("conflict") }.isEmpty)
        }

        /// The others leave no sign of it beside the note: blocks they overwrite are put back.
        @Test("Waits for an editor with unsaved changes", arguments: Editor.locking)
        func waits(_ editor: Editor) async throws {
            try requireEditor(editor)
            let (steward, note) = try await steward(editorWait: "10m")
            let session = try await EditorSession(steward, editor, steward.path(note))
            try await session.type("Written by hand.")
            try drop(1...20, steward)
            try await steward.until("all captures are stored") {
                try steward.loggedLines().count { $0.kind == "step" && $0.message.hasPrefix("index-capture") } == 21
            }
            #expect(try !steward.read(note).contains("<capture 1>"))
            try await session.save("Written by hand.")
            try await session.quit()
            try await expectAll(20, ["Written by hand."], steward, note)
            try await steward.stop()
        }

        @Test("Saving a stale buffer loses no block", arguments: Editor.allCases)
        func stale(_ editor: Editor) async throws {
            try requireEditor(editor)
            let (steward, note) = try await steward(editorWait: "3s")
            let session = try await EditorSession(steward, editor, steward.path(note))
            try await session.type("Written by hand.")
            try drop(1...20, steward)
            try await steward.until("the agent has written past the editor") {
                try (1...20).allSatisfy { try steward.read(note).contains("<capture \($0)>") }
            }
            try await session.save("Written by hand.")
            #expect(try steward.read(note).contains("Written by hand."))
            try await session.quit()
            try await expectAll(20, ["Written by hand."], steward, note)
            #expect(try steward.loggedLines().contains { $0.kind == "restored" })
            try await steward.stop()
        }

        @Test("Frequent saves lose no block and no line", arguments: Editor.locking)
        func often(_ editor: Editor) async throws {
            try requireEditor(editor)
            let (steward, note) = try await steward(editorWait: "1s")
            let session = try await EditorSession(steward, editor, steward.path(note))
            var lines: [String] = []
            for number in 1...5 {
                let line = "Line \(number) by hand."
                try await session.type(line)
                try drop((number * 4 - 3)...(number * 4), steward)
                try await session.save(line)
                lines.append(line)
            }
            try await session.quit()
            try await expectAll(20, lines, steward, note)
            try await steward.stop()
        }

        @Test(
            "Other tools writing the note lose no block and no line",
            arguments: [
                "for i in $(seq 100); do echo \"tool line $i.\" >> NOTE; done",
                "for i in $(seq 20); do sed -i \"1i tool line $i.\" NOTE; sleep 0.05; done",
                "for i in $(seq 20); do { cat NOTE; echo \"tool line $i.\"; } > new.part && mv new.part NOTE; sleep 0.05; done",
            ])
        func tools(_ command: String) async throws {
            let (steward, note) = try await steward(editorWait: "1s")
            let count = command.contains("seq 100") ? 100 : 20
            let tool = Process(
                ["/bin/sh", "-c", command.replacingOccurrences(of: "NOTE", with: note.nameText)],
                in: steward.path(note).parent)
            try tool.run()
            try drop(1...20, steward)
            try await steward.until("the tool has ended") { !tool.isRunning }
            try await expectAll(20, (1...count).map { "tool line \($0)." }, steward, note)
            try await steward.stop()
        }

        @Test("An old text written over the note in place gets its blocks back")
        func overwritten() async throws {
            let (steward, note) = try await steward(editorWait: "1s")
            let old = try steward.read(note)
            try drop(1...20, steward)
            try steward.wait()
            try steward.shell(["sh", "-c", "cat > \"$0\"", steward.path(note).text], input: "\(old)Tail by hand.\n")
                .check()
            try await expectAll(20, ["Tail by hand."], steward, note)
            try await steward.stop()
        }
    }
}
