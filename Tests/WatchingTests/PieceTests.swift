import Glibc
import Platform
import TestSupport
import Testing

@testable import Watching

/// The parts that work without a kernel.
@Suite("Watching: parts that need no kernel") struct PieceTests {
    @Test(
        "Temporary names are ignored",
        arguments: [
            "note.md~", ".note.md.swp", "4913", ".#note.md", "#note.md#", ".goutputstream-ABC", ".nfs0000000001a2",
            "x.part",
            "x.crdownload",
            ".~lock.x.odt#", ".syncthing.x.tmp", "x.tmp", ".steward-host-0123", "sedABCDEF", ".note.md.AbCdEf",
            "lu123.tmp",
            ".DS_Store", "mine.bak", "cache-1", "Icon\r", "Thumbs.db", "desktop.ini", "x.aria2", "x.!qB",
            "x.opdownload",
            "film.f137.mp4", "film.temp.mkv", ".env.sAmple", "sed1bcdef",
        ])
    func workNamesIgnored(_ name: String) {
        #expect(IgnoreList(extra: ["*.bak", "cache-?"]).ignores(Array(name.utf8)))
    }

    @Test(
        "Other names are not ignored",
        arguments: [
            "note.md", "4914", "sedate", "sedABCDEFG", "tmp", "a.partial", ".hidden", "cache-12", "x#", "sedan.txt",
            "sedentary", "sedona.md", ".env.sample", "race.fast.mp4", "kept.tmp", "kept~",
        ])
    func otherNamesIgnored(_ name: String) {
        #expect(!IgnoreList(extra: ["cache-?", "!kept*", "!.steward-*"]).ignores(Array(name.utf8)))
    }

    @Test("The agent's own files are ignored") func agentFilesNobody() {
        #expect(IgnoreList(extra: ["!*"]).pattern(ignoring: Array(".steward-host-01".utf8)) == ".steward-*")
        #expect(!IgnoreList(extra: ["!*"]).ignores(Array("a.tmp".utf8)))
    }

    @Test(
        "Empty files are filled by their downloads",
        arguments: [
            ("file.cbz", "file.cbz.part"), ("file.cbz", "file.Ab3dEf9x.cbz.part"), ("file.cbz", "Ab3dEf9x.cbz.part"),
            ("file.cbz", "Unconfirmed 12345.crdownload"), ("file", "file.opdownload"), ("a.b.zip", "a.b.zip.!qB"),
        ])
    func emptyFilesFilled(_ name: String, _ partial: String) {
        #expect(PartialDownload.fills(Array(name.utf8), Array(partial.utf8)))
    }

    @Test(
        "Empty files are not filled by other downloads",
        arguments: [
            ("file.cbz", "other.cbz.part"), ("file.cbz", "file.cbr.part"), ("file.cbz", "file.cbz"),
            ("file.cbz", "file.long name here.cbz.part"),
        ])
    func emptyFilesFilledOther(_ name: String, _ partial: String) {
        #expect(!PartialDownload.fills(Array(name.utf8), Array(partial.utf8)))
    }

    @Test(
        "A file is at rest since it was last reported, or since a later change shown by its times",
        arguments: [
            // Looked at 50 after it was named, at 1,000: its last change by the disk's clock, and the result.
            (changed: 900, since: 950), (950, 950), (970, 970), (1_000, 1_000),
            // A clock that is ahead, and times that no clock has shown.
            (5_000, 1_000), (.max, 1_000), (0, 950), (.min, 950),
        ] as [(changed: Int64, since: Int64)])
    func stillSince(_ changed: Int64, _ since: Int64) {
        let seen = Fingerprint(device: 1, inode: 1, size: 1, modified: .min, changed: changed)
        #expect(Settler.stillSince(seen, named: 950, now: 1_000, time: 1_000) == since)
    }

    @Test("Marks know by when they were entered, however late they are taken")
    func whenEntered() async {
        let dirty = DirtySet()
        dirty.insert(.file(root: "r", path: "a"))
        let between = WatchLoop.now()
        dirty.insert(.file(root: "r", path: "a"))
        let after = WatchLoop.now()
        let batch = await dirty.next()
        #expect(batch.marks == [.file(root: "r", path: "a")])
        #expect((between...after).contains(batch.entered), "the newest counts")
    }

    @Test("A mark is kept once and taken once") func markKeptOnce() async {
        let dirty = DirtySet(batch: 2)
        for _ in 0..<3 {
            for name in ["a", "b", "c"] { dirty.insert(.file(root: "r", path: BytePath(name))) }
        }
        dirty.insert(.renamed(root: "r", from: "x", toRoot: "r", to: "y"))
        dirty.insert(.rootState(root: "r"))
        let first: [DirtyMark] = [.rootState(root: "r"), .renamed(root: "r", from: "x", toRoot: "r", to: "y")]
        #expect(await dirty.next().marks == first)
        #expect(await dirty.next().marks == [.file(root: "r", path: "a"), .file(root: "r", path: "b")])
        #expect(await dirty.next().marks == [.file(root: "r", path: "c")])
        #expect(dirty.count == 0)
    }

    @Test("Moved-in paths are reported in order with later renames")
    func movedInOrder() async {
        let dirty = DirtySet()
        dirty.insert(.file(root: "r", path: "a"))
        dirty.insert([.movedIn(root: "r", path: "x", isFolder: false), .file(root: "r", path: "x")])
        dirty.insert(.renamed(root: "r", from: "x", toRoot: "r", to: "y"))
        #expect(
            await dirty.next().marks == [
                .movedIn(root: "r", path: "x", isFolder: false),
                .renamed(root: "r", from: "x", toRoot: "r", to: "y"), .file(root: "r", path: "a"),
                .file(root: "r", path: "x"),
            ])
    }

    @Test("Too many marks become one") func tooManyMarks() async {
        let dirty = DirtySet(limit: 100)
        for number in 0..<1_000 { dirty.insert(.file(root: "r", path: BytePath("f\(number)"))) }
        dirty.insert(.file(root: "other", path: "f"))
        #expect(Set(await dirty.next().marks) == [.subtree(root: "r", path: ""), .file(root: "other", path: "f")])
    }

    @Test("A subtree includes everything below") func subtreeIncludesLies() async {
        let dirty = DirtySet()
        dirty.insert(.subtree(root: "r", path: "a/b"))
        dirty.insert(.file(root: "r", path: "a/b/c/d"))
        dirty.insert(.subtree(root: "r", path: "a/b"))
        dirty.insert(.file(root: "r", path: "a/bc"))
        #expect(await dirty.next().marks == [.subtree(root: "r", path: "a/b"), .file(root: "r", path: "a/bc")])
    }

    @Test("Waiting ends with a mark or with the task") func waitingEndsMark() async {
        let dirty = DirtySet()
        async let waiting = dirty.next()
        dirty.insert(.rootState(root: "r"))
        #expect(await waiting.marks == [.rootState(root: "r")])
        let cancelled = Task { await dirty.next() }
        cancelled.cancel()
        #expect(await cancelled.value.marks.isEmpty)
    }

    @Test("A key that is repeatedly postponed takes no more memory for it, and none once removed")
    func roomOfDeadlines() {
        var heap = DeadlineHeap<Int, Int64>()
        for due in 0..<10_000 { heap.set(due % 10, due: Int64(due)) }
        #expect(heap.count == 10)
        #expect(heap.size <= 2 * heap.count + 65)
        #expect(heap.earliest() == 9_990)
        let known = (0..<10).filter { heap.remove($0) }
        #expect(known.count == 10)
        #expect(heap.size == 0)
    }

    @Test("Deadlines come in order") func deadlinesComeOrder() {
        var random = SeededGenerator(for: "deadlinesComeInOrder")
        var heap = DeadlineHeap<Int, Int64>()
        var newest: [Int: Int64] = [:]
        for _ in 0..<5_000 {
            let key = Int.random(in: 0..<500, using: &random)
            let due = Int64.random(in: 0..<1_000_000, using: &random)
            heap.set(key, due: due)
            newest[key] = due
            if Int.random(in: 0..<10, using: &random) == 0 {
                heap.remove(key)
                newest[key] = nil
            }
        }
        #expect(heap.earliest() == newest.values.min())
        var taken: [Int] = []
        while !heap.isEmpty { taken += heap.dequeue(upTo: .max, limit: 7) }
        #expect(taken.compactMap { newest[$0] } == newest.values.sorted())
        #expect(Set(taken) == Set(newest.keys))
    }

    private func mount(_ line: String) -> Mount? { Mount(Array(line.utf8)[...]) }

    @Test("Mounts are read") func mountsAreRead() {
        let found = mount(#"36 35 98:0 /mnt1 /mnt/my\040disk rw,noatime master:1 - fuse.sshfs host:/ rw"#)
        #expect(found?.id == 36 && found?.path == "/mnt/my disk" && found?.type == "fuse.sshfs")
        #expect(found?.source == "host:/")
        #expect(FileSystemKind.reasonToPoll(type: "fuse.sshfs") != nil)
        #expect(FileSystemKind.reasonToPoll(type: "ext4") == nil)
        #expect(!Mount.all().isEmpty)
    }

    @Test("A path through a link to a server is recognised by the mount table, without asking the server")
    func linkToServer() throws {
        let folder = try TemporaryFolder()
        let top = try #require(folder.path.real)
        let server = top.appending("server")
        let local = try #require(mount("1 0 8:1 / / rw - ext4 /dev/sda1 rw"))
        let mounts = [local, try #require(mount("2 1 0:2 / \(server) rw - nfs4 host:/ rw"))]
        func link(_ name: String, to target: String) throws -> BytePath {
            let path = top.appending(name)
            guard symlink(target, path.text) == 0 else { throw Fault.system("link", path) }
            return path
        }
        let absolute = LinkedPath(try link("absolute", to: "\(server)/in"), in: mounts)
        #expect(absolute.path == server.appending("in") && absolute.reason?.hasPrefix("nfs4") == true)
        let relative = LinkedPath(try link("relative", to: "./gone/../server").appending("in"), in: mounts)
        #expect(relative.path == server.appending("in") && relative.reason != nil)
        let besides = LinkedPath(try link("beside", to: "server/.."), in: mounts)
        #expect(besides.path == top && besides.reason == nil)
        // Links that point to each other terminate.
        _ = try link("one", to: "two")
        #expect(LinkedPath(try link("two", to: "one"), in: [local]).reason == nil)
    }

    @Test("A scan visits files only") func scanVisitsFiles() throws {
        let folder = try TemporaryFolder("scan")
        for name in ["a.txt", "b/c.txt", "b/d/e.txt", ".git/HEAD", "mine/f.txt", "x.tmp"] {
            try folder.write(BytePath(name), "x")
        }
        try shell("cd \(folder.path) && ln -s .. b/loop && ln -s a.txt link && mkfifo fifo")
        let root = WatchRoot(name: "r", path: folder.path, excluded: [folder.path.appending("mine")])
        func visited(_ from: BytePath) throws -> Set<BytePath> {
            var seen: Set<BytePath> = []
            let report = try Scanner.walk(root: root, from: from, ignoring: IgnoreList()) { path, _ in seen.insert(path)
            }
            #expect(report.files == seen.count)
            #expect(report.unreadable.isEmpty)
            return seen
        }
        #expect(try visited("") == ["a.txt", "b/c.txt", "b/d/e.txt"])
        #expect(try visited("b/d") == ["b/d/e.txt"])
        #expect(try visited("a.txt") == ["a.txt"])
        for nothing in ["mine", ".git", "b/loop/a.txt", "missing", "link"] {
            #expect(try visited(BytePath(nothing)) == [])
        }
        let missing = WatchRoot(name: "r", path: folder.path.appending("missing"))
        let report = try Scanner.walk(root: missing, ignoring: IgnoreList()) { _, _ in }
        #expect(report.rootMissing)
        #expect(!report.covers("a.txt"))
    }

    @Test("A folder is reported as having no folders only if that is so") func noFolders() throws {
        let memory = BytePath("/dev/shm").appending("steward-\(randomHex(6))")
        defer { _ = try? shell("rm -rf \(memory)") }
        let disk = try TemporaryFolder("leaves")
        for top in [memory, disk.path.appending("top")] {
            try makeFolder(top)
            func hasNone() throws -> Bool {
                var counts = LinkCounts()
                return try counts.showNoFolders(try PathStatus.opened(top))
            }
            let isTold = try hasNone()
            #expect(isTold || top != memory, "tmpfs counts folders")
            try writeFile(top.appending("a.txt"))
            #expect(try hasNone() == isTold)
            try makeFolder(top.appending("b"))
            #expect(try !hasNone())
            try makeFolder(top.appending("c"))
            try shell("rmdir \(top)/b")
            #expect(try !hasNone())
            try shell("rmdir \(top)/c")
            #expect(try hasNone() == isTold)
            // What a walk has learnt about the device is independent of what it reports about a folder.
            var counts = LinkCounts()
            #expect(try counts.showNoFolders(try PathStatus.opened(top)) == isTold)
            try makeFolder(top.appending("d"))
            #expect(try !counts.showNoFolders(try PathStatus.opened(top)))
        }
    }

    @Test("An unreadable folder is reported", .disabled(if: isRoot, "nothing is unreadable for root"))
    func folderReadNamed() throws {
        let folder = try TemporaryFolder("scan")
        try folder.write("closed/a.txt", "x")
        try folder.write("open/b.txt", "x")
        try shell("chmod 0 \(folder.path)/closed")
        var seen: [BytePath] = []
        let report = try Scanner.walk(root: WatchRoot(name: "r", path: folder.path), ignoring: IgnoreList()) {
            path, _ in
            seen.append(path)
        }
        #expect(seen == ["open/b.txt"])
        #expect(report.unreadable.map(\.path) == ["closed"])
        #expect(!report.covers("closed/a.txt"))
    }
}
