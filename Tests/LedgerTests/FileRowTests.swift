import Ledger
import Platform
import Testing

@Suite("Files in the ledger")
struct FileRowTests {
    private let ledger: Ledger

    init() throws { ledger = try Ledger.inMemory() }

    @Test("A file is read back as written, whatever its name and numbers")
    func roundTrip() async throws {
        let odd = FileRecord(
            place: "inbox", path: BytePath(bytes: [0xFF, 0x2F, 0x0A, 0x27]),
            fingerprint: Fingerprint(device: .max, inode: .max - 1, size: .max, modified: -5, changed: .max), hash: nil,
            version: 3)
        try await ledger.write { try $0.setFile(odd) }
        #expect(try await ledger.read { try $0.file("inbox", odd.path) } == odd)
        #expect(try await ledger.read { try $0.file("inbox", device: .max, inode: .max - 1) } == odd)
        #expect(try await ledger.read { try $0.file("other", odd.path) } == nil)
    }

    @Test("A removed file keeps its number in case it comes back, and loses its blocks")
    func gone() async throws {
        try await ledger.write { transaction in
            try transaction.setFile(Sample.file("a", inode: 9, version: 4))
            try transaction.setBlocks("inbox", "a", ["jrnl-0930"])
            try transaction.setGone("inbox", "a")
        }
        let found = try #require(try await ledger.read { try $0.file("inbox", "a") })
        #expect(!found.present)
        #expect(found.version == 5)
        #expect(try await ledger.read { try $0.file("inbox", device: 7, inode: 9) } == nil)
        #expect(try await ledger.read { try $0.blocks("inbox", "a") } == [])
        #expect(try await ledger.read { try $0.allFiles("inbox") } == [])
        #expect(try await ledger.read { try $0.countFiles() } == 0)
    }

    @Test("A renamed file is found by its inode until the new name is written")
    func rename() async throws {
        try await ledger.write { try $0.setFile(Sample.file("old", inode: 42)) }
        #expect(try await ledger.read { try $0.file("inbox", device: 7, inode: 42)?.path } == "old")
        #expect(try await ledger.read { try $0.file("inbox", device: 8, inode: 42) } == nil)
        try await ledger.write { transaction in
            try transaction.setGone("inbox", "old")
            try transaction.setFile(Sample.file("new", inode: 42, version: 2))
        }
        #expect(try await ledger.read { try $0.file("inbox", device: 7, inode: 42)?.path } == "new")
    }

    @Test("A file with one link has one present name in its place, and a second name changes nothing")
    func oneName() async throws {
        @Sendable func file(_ path: BytePath, links: Int?, in place: String = "inbox") -> FileRecord {
            var file = Sample.file(path, inode: 42)
            (file.links, file.place) = (links, place)
            return file
        }
        let first = file("a", links: 1)
        try await ledger.write { try $0.setFile(first) }
        await #expect(throws: KnownUnderOtherName.self) {
            try await ledger.write { transaction in
                try transaction.setMeta("of the same transaction", "is not kept")
                try transaction.setFile(file("b", links: 1))
            }
        }
        #expect(try await ledger.read { try $0.file("inbox", "a") } == first)
        #expect(try await ledger.read { try $0.file("inbox", "b") } == nil)
        #expect(try await ledger.read { try $0.meta("of the same transaction") } == nil)
        // The same name again, another place, legitimate further names, and names without a link count.
        let others = [
            first, file("b", links: 1, in: "other"), file("c", links: 2), file("d", links: 2), file("e", links: nil),
        ]
        try await ledger.write { transaction in for other in others { try transaction.setFile(other) } }
        // A name that no longer refers to the file blocks nobody, and is still to be judged.
        try await ledger.write { transaction in
            try transaction.setStale([first])
            try transaction.setFile(file("b", links: 1))
        }
        #expect(try await ledger.read { try $0.file("inbox", "a") } == file("a", links: nil))
        try await ledger.write { transaction in
            try transaction.setGone("inbox", "b")
            try transaction.setFile(file("f", links: 1))
        }
        #expect(try await ledger.read { try $0.file("inbox", "f")?.present } == true)
    }

    @Test("Files in a folder are those of the folder, not of one with the same prefix")
    func within() async throws {
        let paths: [BytePath] = ["a", "a/x", "a/y/z", "a0", "a-b", "ab/x", "b", BytePath(bytes: [0x61, 0x2F, 0xFF])]
        try await ledger.write { transaction in
            for path in paths { try transaction.setFile(Sample.file(path)) }
        }
        let found = try await ledger.read { try $0.allFiles("inbox", within: "a").map(\.path) }
        #expect(Set(found) == ["a", "a/x", "a/y/z", BytePath(bytes: [0x61, 0x2F, 0xFF])])
        #expect(try await ledger.read { try $0.allFiles("inbox").count } == paths.count)
    }

    @Test("Files come in pages, each once, even if some are added and removed between two pages")
    func pages() async throws {
        let paths = (0..<2_000).map { BytePath("a/\($0)") }
        try await ledger.write { transaction in
            for path in paths + ["b"] { try transaction.setFile(Sample.file(path)) }
        }
        var (found, mark): ([BytePath], FilePageMark?) = ([], FilePageMark())
        while let start = mark {
            let page = try await ledger.read { try $0.files("inbox", within: "a", from: start) }
            found += page.files.map(\.path)
            mark = page.next
            let last = found.last
            try await ledger.write { transaction in
                if let last { try transaction.setGone("inbox", last) }
                try transaction.setFile(Sample.file("a/!"))
            }
        }
        #expect(found.count == paths.count)
        #expect(Set(found) == Set(paths))
    }

    @Test("Blocks are added and replaced")
    func blocks() async throws {
        try await ledger.write { transaction in
            try transaction.setBlocks("notes", "n.md", ["a", "b"])
            try transaction.addBlocks("notes", "n.md", ["b", "c"])
        }
        #expect(try await ledger.read { try $0.blocks("notes", "n.md") } == ["a", "b", "c"])
        try await ledger.write { try $0.setBlocks("notes", "n.md", ["d"]) }
        #expect(try await ledger.read { try $0.blocks("notes", "n.md") } == ["d"])
    }

    @Test("A place is registered once, and again when its root moves")
    func places() async throws {
        #expect(try await ledger.write { try $0.registerPlace("inbox", root: "/in") })
        try await ledger.write { try $0.setFile(Sample.file("a")) }
        #expect(try await ledger.write { try !$0.registerPlace("inbox", root: "/in") })
        #expect(try await ledger.read { try $0.countFiles() } == 1)
        #expect(try await ledger.write { try $0.registerPlace("inbox", root: "/elsewhere") })
        #expect(try await ledger.read { try $0.countFiles() } == 0)
    }

    @Test("Facts about a place's files are kept while it is away; files in its stand-in folder are not added")
    func away() async throws {
        let own = FolderIdentity(device: 1, inode: 1, fileSystem: 0, isMount: false)
        let other = FolderIdentity(device: 1, inode: 2, fileSystem: 0, isMount: false)
        try await ledger.write { transaction in
            #expect(try transaction.registerPlace("inbox", root: "/in"))
            try transaction.setFile(Sample.file("a"))
            try transaction.setPlaceHere("inbox", own)
            #expect(try transaction.place("inbox") == PlaceRecord(root: "/in", identity: own, other: nil))
            try transaction.setPlaceAway("inbox", instead: other)
            try transaction.setFile(Sample.file("b", inode: 2))
            try transaction.setPlaceAway("inbox", instead: other)
            #expect(try transaction.place("inbox") == PlaceRecord(root: "/in", identity: own, other: other))
            #expect(try transaction.file("inbox", "a")?.isKept == true)
            #expect(try transaction.file("inbox", "b")?.isKept == false)
            try transaction.setPlaceHere("inbox", own)
            #expect(try transaction.file("inbox", "a")?.isKept == false)
            #expect(try transaction.place("inbox")?.other == nil)
        }
    }

    @Test("Rules that were in force are known by name")
    func rules() async throws {
        try await ledger.write { transaction in
            try transaction.registerRule("A", digest: "1")
            try transaction.registerRule("A", digest: "2")
            try transaction.registerRule("B", digest: "1")
        }
        #expect(try await ledger.read { try $0.knownRules() } == ["A", "B"])
    }

    @Test("A product is found by its path, the last one made there")
    func products() async throws {
        let first = ProductRecord(path: "/p", hash: Sample.hash("1"), firstJob: "l1", depth: 1, job: "j1")
        let second = ProductRecord(path: "/p", hash: Sample.hash("2"), firstJob: "l2", depth: 8, job: "j2")
        try await ledger.write { transaction in
            try transaction.addProduct(first)
            try transaction.addProduct(second)
        }
        #expect(try await ledger.read { try $0.product("/p") } == second)
        #expect(try await ledger.read { try $0.product("/q") } == nil)
    }
}

extension LedgerTransaction {
    fileprivate func allFiles(_ place: String, within path: BytePath = "") throws -> [FileRecord] {
        var (found, mark): ([FileRecord], FilePageMark?) = ([], FilePageMark())
        while let start = mark {
            let page = try files(place, within: path, from: start)
            found += page.files
            mark = page.next
        }
        return found
    }
}
