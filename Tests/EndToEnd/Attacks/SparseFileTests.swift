import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Large files that take no space.
@Suite("Sparse files")
struct SparseFileTests {
    /// Creates a sparse file and moves it into a place.
    private func moveIn(_ path: BytePath, bytes: Int, _ steward: AgentFixture, end: String = "") throws {
        let staged = path.parent.parent.appending("staged-\(randomHex(4))")
        let file = try Descriptor(staged, O_WRONLY | O_CREAT, mode: 0o644)
        guard ftruncate(file.raw, bytes) == 0 else {
            try Test.cancel("no file of \(bytes) bytes here: \(String(cString: strerror(errno)))")
        }
        if !end.isEmpty { try file.write(Array(end.utf8), at: Int64(bytes)) }
        guard rename(staged.text, path.text) == 0 else { throw Fault.system("move in", path) }
    }

    private func allocated(_ path: BytePath) throws -> Int {
        var found = stat()
        guard stat(path.text, &found) == 0 else { throw Fault.system("look at", path) }
        return Int(found.st_blocks) * 512
    }

    @Test(
        "Four enormous files block neither other files, nor status, nor shutdown; they are rejected by size or read",
        arguments: [8 << 40, 60 << 30])
    func enormous(bytes: Int) async throws {
        let steward = try AgentFixture()
        steward.variables["STEWARD_RULES"] = ShippedRules.folder.text
        let names = (1...4).map { "enormous-\($0).txt" }
        try await steward.start()
        for name in names { try moveIn(steward.path(BytePath("dropbox/\(name)")), bytes: bytes, steward) }
        try await steward.until("they have been seen") {
            try names.allSatisfy { name in
                let status = try steward.run(["status", "--json"]).output
                return try status.contains(name) || !steward.exists(BytePath("dropbox/\(name)"))
            }
        }
        try steward.drop("dropbox/small.txt", "A small one.\n")
        do {
            try await steward.until("the small one is taken in") { try steward.count("A small one.") == 1 }
        } catch { Issue.record(error) }
        let told = try steward.run(["status"]).check().output + steward.run(["quarantine"]).check().output
        for name in names { #expect(told.contains(name), "status says where \(name) is") }
        guard bytes > 64 << 30 else { return #expect(try await steward.stop() == 0) }
        let explained = try steward.run(["explain", steward.path(BytePath("dropbox/\(names[0])")).text]).output
        #expect(explained.contains("so it is not read"), "\(explained)")
        #expect(try await steward.stop() == 0)
    }

    @Test("A sparse file is copied to another file system with its holes, by a rule and into quarantine")
    func holes() async throws {
        let steward = try AgentFixture()
        let far: TemporaryFolder
        do {
            far = try TemporaryFolder("steward-far", beneath: "/dev/shm")
        } catch { try Test.cancel("no /dev/shm") }
        guard try FileStatus.of(far.path)?.device != FileStatus.of(steward.home.path)?.device else {
            try Test.cancel("/dev/shm is no other file system")
        }
        for (name, kind) in [("far", "dropbox"), ("out", "folder")] {
            try Durable.makeDirectory(far.path.appending(name))
            let file: BytePath = ".config/steward/steward.yaml"
            let place = "\nplaces:\n  \(name): { kind: \(kind), path: \(far.path.appending(name)) }\n"
            try steward.home.write(
                file, try steward.home.read(file).replacingOccurrences(of: "\nplaces:\n", with: place))
        }
        try steward.rule(
            """
            - rule: Copy
              in: dropbox
              settle: 100ms
              do: [copy: { place: out }]
            - rule: Refuse
              in: far
              settle: 100ms
              do: [import-comic: { place: library }]
            """)
        try await steward.start()
        let size = 2 << 30
        try moveIn(steward.path("dropbox/copied.bin"), bytes: size, steward, end: "the end")
        try moveIn(far.path.appending("far/refused.cbz"), bytes: size, steward, end: "the end")
        let copy = far.path.appending("out/copied.bin")
        try await steward.until("it is copied", seconds: 240) { try FileStatus.of(copy) != nil }
        try await steward.until("the other is in quarantine", seconds: 240) { try steward.status().quarantined == 1 }
        let held = BytePath(try #require(try steward.json(["quarantine"]).items.first)["stored"].text)
        for file in [copy, held] {
            #expect(try FileStatus.of(file)?.size == Int64(size) + 7)
            #expect(try Descriptor(file).read(at: Int64(size), count: 100) == Array("the end".utf8))
            #expect(try allocated(file) < 1 << 20, "\(file) keeps its holes")
        }
        try await steward.stop()
    }
}
