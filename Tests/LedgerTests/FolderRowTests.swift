import Ledger
import Platform
import TestSupport
import Testing

@Suite("Folders in the ledger") struct FolderRowTests {
    private let ledger: Ledger

    init() throws { ledger = try Ledger.inMemory() }

    private static let location = JobRecord.FileLocation(place: "p", path: "a")

    private static func file(_ path: BytePath, _ inode: UInt64) -> FileRecord {
        FileRecord(
            place: "p", path: path,
            fingerprint: Fingerprint(device: 1, inode: inode, size: 3, modified: 4, changed: 5),
            hash: ContentHash(of: Array(path.text.utf8)), matched: MatchedRules(ruleSet: "e", rules: ["R"]))
    }

    private func fill() async throws {
        try await ledger.write { transaction in
            for (number, path) in (["a/1", "a/b/2", "ab/3"] as [BytePath]).enumerated() {
                try transaction.setFile(Self.file(path, UInt64(number + 10)))
            }
            try transaction.setFolder(
                FolderRecord(
                    place: "p", path: "a", device: 1, inode: 2, digest: ContentHash(of: [1]),
                    matched: MatchedRules(ruleSet: "e", rules: ["R"]), arrived: Timestamp(seconds: 7)))
            try transaction.setFolder(FolderRecord(place: "p", path: "a/b"))
        }
    }

    private func present() async throws -> [String] {
        try await ledger.read { try $0.files("p", from: FilePageMark()).files.map(\.path.description) }
    }

    @Test("A row is read back as written") func row() async throws {
        try await fill()
        let known = try await ledger.read { try $0.folder("p", "a") }
        #expect(known?.digest == ContentHash(of: [1]) && known?.matched?.rules == ["R"])
        #expect(known?.arrived == Timestamp(seconds: 7))
        #expect(try await ledger.read { try $0.folder("p", device: 1, inode: 2)?.path } == "a")
        #expect(try await ledger.read { try $0.folders("p", within: "a") } == ["a", "a/b"])
        try await ledger.write { try $0.setFolderGone("p", "a") }
        #expect(try await ledger.read { try $0.folder("p", "a") }?.present == false)
        #expect(try await ledger.read { try $0.folders("p") } == ["a/b"])
    }

    @Test("Renaming takes its contents along, with everything known about them") func renamed() async throws {
        try await fill()
        let before = try await ledger.write { try $0.renameFolder("p", "a", to: "x/y") }
        #expect(before?.digest == ContentHash(of: [1]))
        #expect(try await present() == ["ab/3", "x/y/1", "x/y/b/2"])
        let moved = try await ledger.read { try $0.file("p", "x/y/1") }
        #expect(moved?.fingerprint.inode == 10 && moved?.matched?.rules == ["R"])
        #expect(try await ledger.read { try $0.folders("p") } == ["x/y", "x/y/b"])
    }

    @Test("Contents removed with their folder come back with it, even under another name, and nothing else does")
    func returned() async throws {
        try await fill()
        try await ledger.write { transaction in
            try transaction.setGone("p", "a/b/2")
            try transaction.moveOutFolder("p", "a", by: "job")
        }
        #expect(try await present() == ["ab/3"])
        #expect(try await ledger.read { try $0.folders("p") } == [])
        #expect(try await ledger.write { try $0.returnFolder("p", to: "c", by: "another") } == nil)
        let before = try await ledger.write { try $0.returnFolder("p", to: "c", by: "job") }
        #expect(before?.path == "a" && before?.matched?.rules == ["R"])
        #expect(try await present() == ["ab/3", "c/1"])
        #expect(try await ledger.read { try $0.folders("p") } == ["c", "c/b"])
        #expect(try await ledger.write { try $0.returnFolder("p", to: "d", by: "job") } == nil, "once")
    }

    @Test("Newcomers under the same names are neither removed with it nor confused with earlier files")
    func newcomers() async throws {
        try await fill()
        try await ledger.write { transaction in
            _ = try transaction.moveOutFolder("p", "a", by: "job")
            try transaction.setFile(Self.file("a/1", 77))
            try transaction.setFolder(FolderRecord(place: "p", path: "a", device: 1, inode: 78))
        }
        let before = try await ledger.write { try $0.returnFolder("p", to: "a (1)", by: "job") }
        #expect(before?.digest == ContentHash(of: [1]))
        #expect(try await present() == ["a (1)/1", "a (1)/b/2", "a/1", "ab/3"])
        #expect(try await ledger.read { try $0.file("p", "a/1")?.fingerprint.inode } == 77)
        #expect(try await ledger.read { try $0.file("p", "a (1)/1")?.matched?.rules } == ["R"])
        #expect(try await ledger.read { try $0.folder("p", "a")?.inode } == 78)
        #expect(try await ledger.read { try $0.folder("p", "a (1)")?.inode } == 2)
    }

    @Test("The jobs of a folder are those on it and on its contents") func jobs() async throws {
        try await ledger.write { transaction in
            for (number, path) in (["a", "a/1", "ab", "b"] as [BytePath]).enumerated() {
                _ = try transaction.addJob(
                    JobRecord(
                        id: "\(number)", rule: "R", digest: "", event: "arrived", place: "p", path: path, file: "{}",
                        hash: nil, firstJob: "\(number)", depth: 0, arrived: Timestamp(seconds: 1), values: "{}",
                        refused: "leave"), steps: [])
            }
            var parked = try transaction.job("1")
            parked?.state = .parked
            if let parked { try transaction.update(parked) }
        }
        #expect(
            try await ledger.read { try $0.jobs(in: [.ready, .parked], within: Self.location).map(\.id) } == ["0", "1"])
        #expect(try await ledger.read { try $0.jobs(in: [.ready], within: Self.location).map(\.id) } == ["0"])
    }
}
