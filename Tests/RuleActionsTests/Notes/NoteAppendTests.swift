import Foundation
import Glibc
import Ledger
import NoteActions
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Appending to a note: the result, and what is refused.
@Suite("Appending to a note") struct NoteAppendTests {
    static let start = "# Inbox\n\n## Captures\n\n^cap-0800\nold\n"

    @Test("A block is placed at the end of its section") func blockStandsEnd() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", Self.start + "\n## Later\n\nread\n")
        let world = try scene.open()
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(
            try scene.home.read("notes/inbox.md") == Self.start + "\n^cap-0930\nnew\n\n## Later\n\nread\n")
    }

    @Test("If the note already has an anchor, it gets the device as suffix") func anchorNoteHolds() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", Self.start)
        let world = try scene.open()
        var tokens: [String] = []
        for number in 0..<4 {
            tokens.append(try await world.notes.append(world.request("text \(number)", step: "job\(number).0")))
        }
        #expect(tokens == ["cap-0930", "cap-0930__desk", "cap-0930__desk-2", "cap-0930__desk-3"])
    }

    @Test("An unavailable vault is not created, and the block is written when it is back") func vaultAwayMade()
        async throws
    {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", Self.start)
        let world = try scene.open()
        #expect(rename(scene.path("notes").text, scene.path("away").text) == 0)
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .transient && fault?.message.contains("the place notes is away") == true)
        #expect(try !scene.exists("notes"))
        #expect(rename(scene.path("away").text, scene.path("notes").text) == 0)
        #expect(try await world.notes.append(world.request("new")) == "cap-0930")
        #expect(try scene.home.read("notes/inbox.md") == Self.start + "\n^cap-0930\nnew\n")
    }

    @Test("One step writes one block, however often it is requested") func stepWritesBlock() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", Self.start)
        let world = try scene.open()
        for _ in 0..<3 { #expect(try await world.notes.append(world.request("once")) == "cap-0930") }
        #expect(count("once", in: try scene.home.read("notes/inbox.md")) == 1)
    }

    @Test("Two thousand concurrent blocks are written once each, in few writes") func twoThousandBlocks() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/inbox.md", Self.start)
        let world = try scene.open()
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<2000 {
                group.addTask { try await world.notes.append(world.request("text-\(number);", step: "job\(number).0")) }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 2000)
        let text = try scene.home.read("notes/inbox.md")
        for number in 0..<2000 { #expect(count("text-\(number);", in: text) == 1) }
        #expect(NoteText.tokens(Array(text.utf8)) == tokens.union(["cap-0800"]))
        let writes = try await world.ledger.read { try $0.noteState(scene.path("notes/inbox.md"))?.version ?? 0 }
        #expect(writes < 500)
    }

    @Test("A read-only note is left alone and the error says what to do") func readNoteLeft() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", Self.start)
        chmod(note.text, 0o444)
        let world = try scene.open()
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("read-only") == true && fault?.message.contains("chmod u+w") == true)
        #expect(try scene.home.read("notes/inbox.md") == Self.start)
    }

    @Test("Windows line endings are preserved") func linesNoteWindows() async throws {
        let scene = try ActionScene()
        // Front matter stays byte for byte, as long as its fences are A4's.
        try scene.home.write("notes/inbox.md", "---\ntitle: x\r\n---\n# Inbox\r\n\r\n## Captures\r\n\r\none\r\ntwo\r\n")
        let world = try scene.open()
        _ = try await world.notes.append(world.request("new"))
        let wanted = "---\ntitle: x\r\n---\n# Inbox\n\n## Captures\n\none\ntwo\n\n^cap-0930\nnew\n"
        #expect(try scene.home.read("notes/inbox.md") == wanted)
    }

    @Test("A note that is not UTF-8 is rejected untouched") func noteUtf8() async throws {
        let scene = try ActionScene()
        let bytes = Array("# Inbox\n\ncaf".utf8) + [0xE9, 0x0A]
        let note = try scene.home.write("notes/inbox.md", bytes)
        let world = try scene.open()
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .failed)
        #expect(try Descriptor(note).readAll() == bytes)
    }

    @Test("A file too long for a note is rejected before it is read") func tooLong() async throws {
        let scene = try ActionScene()
        let note = try scene.home.write("notes/inbox.md", Self.start)
        // A hole of a terabyte, far too large to read during this test.
        try Descriptor(note, O_RDWR).truncate(to: 1 << 40)
        let world = try scene.open()
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .refused && fault?.message.contains("1099511627776 bytes") == true)
        #expect(try FileStatus.of(note)?.size == 1 << 40)
    }

    private static var following: ActionWorld.Options {
        var options = ActionWorld.Options()
        options.links = .inside
        return options
    }

    @Test("Links are followed only if the place allows it") func linkFollowedUnless() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/real/there.md", Self.start)
        symlink("real/there.md", scene.path("notes/inbox.md").text)
        let world = try scene.open()
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .failed && fault?.message.contains("follow-links") == true)
        #expect(try scene.home.read("notes/real/there.md") == Self.start)
    }

    @Test("A link that stays in the vault is followed and remains a link") func linkStaysVault() async throws {
        let scene = try ActionScene()
        try scene.home.write("notes/real/there.md", Self.start)
        symlink("real/there.md", scene.path("notes/inbox.md").text)
        let world = try scene.open(Self.following)
        _ = try await world.notes.append(world.request("new"))
        #expect(try scene.home.read("notes/real/there.md").contains("^cap-0930\nnew\n"))
        #expect(try FileStatus.of(scene.path("notes/inbox.md"))?.kind == .link)
    }

    @Test("A link that leads out of the vault is rejected", arguments: ["../outside.md", "/etc/hostname"])
    func linkLeadsVault(_ target: String) async throws {
        let scene = try ActionScene()
        try scene.home.write("outside.md", Self.start)
        symlink(target, scene.path("notes/inbox.md").text)
        let world = try scene.open(Self.following)
        let fault = await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        #expect(fault?.kind == .failed && fault?.path != nil)
        #expect(try scene.home.read("outside.md") == Self.start)
    }

    @Test("A folder or a pipe instead of a note is rejected") func folderPipeNote() async throws {
        let scene = try ActionScene()
        try Durable.makeDirectory(scene.path("notes/inbox.md"))
        mkfifo(scene.path("notes/pipe.md").text, 0o644)
        let world = try scene.open()
        await #expect(throws: Fault.self) { try await world.notes.append(world.request("new")) }
        await #expect(throws: Fault.self) { try await world.notes.append(world.request("new", note: "pipe.md")) }
    }

    @Test("A missing daily note starts from the vault's template") func dailyNoteMissing() async throws {
        let scene = try ActionScene()
        try scene.home.write(
            "notes/routines/templates/daily.md", "# {{YYYY-MM-DD}}\n\n## Captures\n\n## Evening\n\nat {{hhmm}}\n")
        try scene.home.write("dropbox/a.md", "Buy milk\n")
        let deed = try await scene.open().run("append-block: { text: \"{{ file.text }}\" }", on: "a.md")
        guard case .text(let path)? = deed.receipt.values["note.path"] else { throw TestFailure("no note.path") }
        #expect(path.contains("2026-11-21"))
        #expect(
            try scene.home.read(BytePath("notes/\(path)"))
                == "# 2026-11-21\n\n## Captures\n\n^cap-0930\nBuy milk\n\n## Evening\n\nat 0930\n")
    }

    @Test("A write cut short by the disk leaves the note as it was") func writeDiskCuts() async throws {
        let scene = try ActionScene()
        let long = Self.start + String(repeating: "a line of the user's\n", count: 500_000)
        try scene.home.write("notes/inbox.md", long)
        await #expect(processExitsWith: .success) {
            [home = scene.home.path.text as String, size = long.utf8.count as Int] in
            let world = try ActionWorld(BytePath(home))
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: rlim_t(size + 7), rlim_max: rlim_t(size + 7))
            guard setrlimit(__rlimit_resource_t(1), &limit) == 0 else { throw TestFailure("no limit on sizes") }
            do {
                _ = try await world.notes.append(world.request("new"))
            } catch let fault as Fault where fault.errno == EFBIG {
                return
            }
            throw TestFailure("the file may not have grown")
        }
        #expect(try scene.home.read("notes/inbox.md") == long)
        let world = try scene.open()
        #expect(try await world.ledger.read { try $0.openNoteWrites() }.isEmpty)
        _ = try await world.notes.append(world.request("new"))
        #expect(try scene.home.read("notes/inbox.md") == long + "\n^cap-0930\nnew\n")
    }
}
