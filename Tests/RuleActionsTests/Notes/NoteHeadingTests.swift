import Foundation
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// What undo leaves of a heading that was created for a block.
@Suite("Removing a heading created for a block") struct NoteHeadingTests {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
    }

    private func append(_ text: String, step: String = "job.0", heading: String = "New") async throws -> Deed {
        try scene.home.write("dropbox/a.txt", "content")
        return try await world.run(
            "append-block: { note: inbox, heading: \(heading), text: \"\(text)\" }", on: "a.txt", step: step)
    }

    private func note() throws -> String { try scene.home.read("notes/inbox.md") }

    @Test(
        "The heading is removed with its only block, and the note is as before",
        arguments: ["# Inbox\n", "# Inbox\n\n## Other\n\ntext\n", "text\n\n", "---\ntitle: x\n---\ntext\n"])
    func alone(_ before: String) async throws {
        try scene.home.write("notes/inbox.md", before)
        let deed = try await append("one")
        #expect(try note().contains("## New\n"))
        try await deed.undo()
        #expect(try note() == before)
    }

    @Test("It stays while there is anything below it, and is removed with the last block")
    func several() async throws {
        try scene.home.write("notes/inbox.md", "# Inbox\n")
        let one = try await append("one")
        let other = try await append("other", step: "job.1")
        try await one.undo()
        #expect(try note().contains("## New\n"))
        try await other.undo()
        #expect(try note() == "# Inbox\n")
    }

    @Test("It is the same heading however its accents are encoded")
    func accents() async throws {
        try scene.home.write("notes/inbox.md", "# Inbox\n")
        let one = try await append("one", heading: "Caf\u{E9}")
        let other = try await append("other", step: "job.1", heading: "Cafe\u{301}")
        try await one.undo()
        try await other.undo()
        #expect(try note() == "# Inbox\n")
    }

    @Test("Text written below it keeps it, and what follows it stays")
    func written() async throws {
        try scene.home.write("notes/inbox.md", "# Inbox\n")
        let deed = try await append("one")
        try scene.home.write("notes/inbox.md", try note() + "\n## Later\n\nmine\n")
        try await deed.undo()
        #expect(try note() == "# Inbox\n\n## Later\n\nmine\n")
        let again = try await append("two", step: "job.1")
        try scene.home.write(
            "notes/inbox.md", try note().replacingOccurrences(of: "## New\n", with: "## New\n\nmine\n"))
        try await again.undo()
        #expect(try note().contains("## New\n\nmine\n"))
    }

    @Test("A heading that existed before stays, empty as it was")
    func there() async throws {
        for before in ["# Inbox\n\n## New\n", "## new\n\n"] {
            try scene.home.write("notes/inbox.md", before)
            let deed = try await append("one", step: "job.\(before.count)")
            try await deed.undo()
            #expect(try note().lowercased().contains("## new\n"))
        }
    }
}
