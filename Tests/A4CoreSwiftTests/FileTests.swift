import A4CoreSwift
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Files")
struct FileTests {
    private let sample: SampleVault

    init() throws { sample = try SampleVault() }

    private func write(_ path: String, _ text: String, _ mode: CreateMode) throws {
        try Files.writeMarkdown(vault: sample.vault, at: path, bytes: Data(text.utf8), mode: mode)
    }

    @Test("createNew creates the folders, and refuses an existing file")
    func createNew() throws {
        try write("sources/articles/note.md", "# Note\r\ntext", .createNew)
        #expect(try sample.read("sources/articles/note.md") == "# Note\ntext\n")
        let error = #expect(throws: A4Error.self) { try write("sources/articles/note.md", "other", .createNew) }
        #expect(error?.description.contains("exists already") == true)
        #expect(try sample.read("sources/articles/note.md") == "# Note\ntext\n")
        #expect(try sample.names(in: "vault/sources/articles") == ["note.md"])
    }

    @Test("createIfMissing leaves an existing file alone; overwrite replaces it")
    func otherModes() throws {
        try write("note.md", "one", .createIfMissing)
        try write("note.md", "two", .createIfMissing)
        #expect(try sample.read("note.md") == "one\n")
        try write("note.md", "three\n\n", .overwrite)
        #expect(try sample.read("note.md") == "three\n\n")
        #expect(try sample.names(in: "vault") == ["note.md"])
    }

    @Test("An empty file is one newline, and front matter stays as it is")
    func normalizing() throws {
        try write("empty.md", "", .createNew)
        #expect(try sample.read("empty.md") == "\n")
        try write("fm.md", "---\na: b\r\n\n---\nx\r\ny\rz", .createNew)
        #expect(try Array(sample.read("fm.md").utf8) == Array("---\na: b\r\n\n---\nx\ny\nz\n".utf8))
    }

    @Test("Bytes that are not UTF-8 are rejected before a folder is created")
    func notUTF8() throws {
        let wrong = Data([0x61, 0xFF])
        for mode in [CreateMode.createNew, .createIfMissing, .overwrite] {
            #expect(throws: A4Error.self) {
                try Files.writeMarkdown(vault: sample.vault, at: "a/b.md", bytes: wrong, mode: mode)
            }
        }
        let bad = AppendOptions(heading: "Journal", anchor: try AnchorToken(parse: "jrnl-0812"), content: wrong)
        #expect(throws: A4Error.self) { try sample.append("a/b.md", bad) }
        #expect(try sample.names(in: "vault") == [])
    }

    @Test("A note that is not UTF-8 is left alone, and no temporary file remains")
    func noteNotUTF8() throws {
        try sample.scratch.write("vault/note.md", [0xFF, 0x0A])
        let error = #expect(throws: A4Error.self) { try sample.append("note.md", block("jrnl-0812", "x")) }
        #expect(error?.description.contains("note.md") == true)
        #expect(try Descriptor(sample.scratch.path.appending("vault/note.md")).readAll() == [0xFF, 0x0A])
        #expect(try sample.names(in: "vault") == ["note.md"])
    }

    @Test("Permissions are kept")
    func permissions() throws {
        try sample.write("note.md", "x\n")
        let path = sample.scratch.path.appending("vault/note.md")
        #expect(path.withCString { chmod($0, 0o640) } == 0)
        try sample.append("note.md", block("jrnl-0812", "x"))
        #expect(try FileStatus.of(path)?.mode == 0o640)
    }

    @Test("Concurrent changes by another program are read again, not overwritten")
    func changedMeanwhile() throws {
        try sample.write("note.md", "one\n")
        var seen: [String] = []
        try VaultFolder(sample.vault).edit("note.md") { before in
            let text = String(decoding: before ?? [], as: UTF8.self)
            seen.append(text)
            if seen.count == 1 { try sample.write("note.md", "one\ntheirs\n") }
            return Array("\(text)ours\n".utf8)
        }
        #expect(seen == ["one\n", "one\ntheirs\n"])
        #expect(try sample.read("note.md") == "one\ntheirs\nours\n")
    }

    @Test("So is a note that another program creates concurrently")
    func madeMeanwhile() throws {
        var seen: [String?] = []
        try VaultFolder(sample.vault).edit("new.md") { before in
            seen.append(before.map { String(decoding: $0, as: UTF8.self) })
            if seen.count == 1 { try sample.write("new.md", "theirs\n") }
            return (before ?? []) + Array("ours\n".utf8)
        }
        #expect(seen == [nil, "theirs\n"])
        #expect(try sample.read("new.md") == "theirs\nours\n")
    }

    @Test("The leftovers of a writer that died are taken over")
    func leftOver() throws {
        try sample.write(".note.md.tmp", "half a no")
        try sample.append("note.md", block("jrnl-0812", "x"))
        #expect(try sample.read("note.md") == "\n## Journal\n\n^jrnl-0812\nx\n")
        #expect(try sample.names(in: "vault") == ["note.md"])
    }

    @Test("A temporary name that is a link, or another file's second name, is never written through")
    func trappedTemporary() throws {
        try sample.scratch.write("outside/precious", "keep")
        try sample.link("vault/.a.md.tmp", to: "../outside/precious")
        let precious = sample.scratch.path.appending("outside/precious").text
        try FileManager.default.linkItem(
            atPath: precious, toPath: sample.scratch.path.appending("vault/.b.md.tmp").text)
        for name in ["a.md", "b.md"] {
            #expect(throws: A4Error.self) { try write(name, "x", .createNew) }
        }
        #expect(try sample.scratch.read("outside/precious") == "keep")
        #expect(try sample.names(in: "vault") == [".a.md.tmp", ".b.md.tmp"])
    }

    @Test("Folders and pipes are not notes", arguments: ["folder", "pipe", ""])
    func noNotes(_ name: String) throws {
        try Durable.makeDirectory(sample.scratch.path.appending("vault/folder"))
        #expect(sample.scratch.path.appending("vault/pipe").withCString { mkfifo($0, 0o600) } == 0)
        #expect(throws: A4Error.self) { try write(name, "x", .overwrite) }
        #expect(try sample.names(in: "vault") == ["folder", "pipe"])
    }

    @Test("Concurrent writers lose nothing", .timeLimit(.minutes(30)))
    func concurrent() async throws {
        let sample = self.sample
        let pool = BlockingPool("a4-writers", threads: 8)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<120 {
                group.addTask {
                    try await pool.run {
                        try sample.append("note.md", block("jrnl-0812__n\(index)", "entry \(index)"))
                    }
                }
            }
            try await group.waitForAll()
        }
        let found = Anchors.tokens(in: Data(try sample.read("note.md").utf8))
        #expect(Set(found.map(\.text)) == Set((0..<120).map { "entry \($0)" }))
        #expect(found.count == 120)
        #expect(try sample.names(in: "vault") == ["note.md"])
    }

    @Test("The example from the design: today's path, a block, a new note")
    func example() throws {
        let now = Date(timeIntervalSince1970: 1_757_836_692)
        let (year, month, file) = Dates.dailyPathComponents(for: Dates.utcDay(from: now))
        let today = try sample.vault.resolveRelative("capture/\(year)/\(month)/\(file)")
        let utc = try #require(TimeZone(identifier: "UTC"))
        let token = try AnchorToken(parse: "jrnl-\(Dates.localHHMM(from: now, timeZone: utc))")
        try Append.appendBlock(
            vault: sample.vault, targetFile: today,
            opts: .init(heading: "Journal", anchor: token, content: Data("Quick thought from iOS…".utf8)))
        #expect(
            try sample.read("capture/2025/2025-09/2025-09-14.md")
                == "\n## Journal\n\n^jrnl-0758\nQuick thought from iOS…\n")
    }
}
