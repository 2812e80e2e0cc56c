import Platform
import TestSupport
import Testing

/// Blocks typed into notes, and notes that the agent itself writes.
@Suite("Blocks in notes, end to end", .ownThreads)
struct RuleBlockTests {
    @Test("A typed anchor starts its rule once, and not again after other edits; another prefix starts nothing")
    func typed() async throws {
        let steward = try AgentFixture.inside()
        try steward.rule(
            """
            - rule: Todo
              in: notes
              on: [arrived, changed]
              where: { anchor: todo, not: { name: list.md } }
              settle: 100ms
              do:
                - append-block: { note: list, heading: Todo, anchor: task, text: "<{{ block.time }} {{ block.heading }}: {{ block.text }}>" }
            """)
        try steward.drop("notes/inbox.md", "# Inbox\n\n## Later\n\n^todo-0800\nWas there before.\n")
        try await steward.start()
        try steward.wait()
        var text =
            "# Inbox\n\n## Later\n\n^todo-0800\nWas there before.\n\n^todo-0930\nWater the plants\n\n^jrnl-0931\nSun.\n"
        try steward.drop("notes/inbox.md", text)
        try steward.wait()
        #expect(try steward.count("<0930 Later: Water the plants>") == 1)
        #expect(try steward.count("<") == 1, "neither what was there before nor another prefix")
        for line in ["and the herbs\n", "and the trees\n"] {
            text += line
            try steward.drop("notes/inbox.md", text)
            try steward.wait()
        }
        #expect(try steward.count("<") == 1)
        try steward.drop("notes/inbox.md", text + "\n^todo-1015\nCall home\n")
        try steward.wait()
        #expect(try steward.count("<1015 Later: Call home>") == 1)
        #expect(try steward.count("<") == 2)
    }

    @Test("The agent's own writes into notes start no rule, but a user's edit of the same note does")
    func ownWrites() async throws {
        let steward = try AgentFixture.inside()
        try steward.addPlace("out")
        try steward.rule(
            """
            - rule: Captures
              in: dropbox
              settle: 100ms
              do: [index-capture, { append-block: { note: day, anchor: cap, text: "{{ capture.text }}" } }, trash]
            - rule: Blocks
              in: notes
              on: [arrived, changed]
              where: { anchor: cap }
              settle: 100ms
              do: [ { write-note: { place: out, name: "block", text: "{{ block.text }}" } } ]
            - rule: Notes
              in: notes
              on: [arrived, changed]
              settle: 100ms
              do: [ { write-note: { place: out, name: "note", text: "{{ file.name }}" } } ]
            """)
        try await steward.start()
        for number in 1...5 {
            try steward.drop(BytePath("dropbox/\(number).md"), "Capture \(number).\n")
            try steward.wait()
        }
        #expect(try steward.count("Capture ") == 5)
        #expect(try steward.files("out").isEmpty)
        let note = try steward.read("notes/day.md")
        try steward.drop("notes/day.md", note + "\n^cap-0101\nMy own.\n")
        try steward.wait()
        #expect(try steward.files("out").map(\.nameText) == ["block.md", "note.md"])
        #expect(try steward.read("out/block.md") == "My own.\n")
    }
}
