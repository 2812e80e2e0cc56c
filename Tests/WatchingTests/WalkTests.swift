import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

/// Walks through many folders.
@Suite("Watching: walks") struct WalkTests {
    private let folder: TemporaryFolder
    private var all: Set<BytePath> = []

    init() throws {
        folder = try TemporaryFolder("walk")
        for number in 0..<400 {
            let below = number % 3 == 0 ? "d\(number % 20)/deep/e\(number)" : "d\(number % 20)/e\(number)"
            // Every seventh folder contains only folders.
            if number % 7 == 0 {
                try shell("mkdir -p \(folder.path)/\(below)/empty")
            } else {
                try add("\(below)/f.txt")
            }
        }
        // More than is prefetched of a folder.
        for number in 0..<1_500 { try add("d1/large/a name that takes some room, of which there are many \(number)") }
    }

    private mutating func add(_ name: String) throws {
        try folder.write(BytePath(name), "x")
        all.insert(BytePath(name))
    }

    private var openFiles: [BytePath] {
        get throws {
            try PathStatus.entries("/proc/self/fd").compactMap {
                PathStatus.target(ofLink: BytePath("/proc/self/fd").appending(name: $0.name))
            }.filter { $0.isWithin(folder.path) }
        }
    }

    @Test(
        "A walk finds each file once, however often it is paused, and has nothing open meanwhile",
        arguments: [1, 7, 500, 10_000])
    func leftAndGoneOnWith(_ most: Int) throws {
        var walk = RootWalk(root: WatchRoot(name: "r", path: folder.path), ignoring: IgnoreList())
        var found: [BytePath] = []
        var isMore = true
        while isMore {
            var left = most
            isMore = try walk.visit {
                found.append($0.path)
                left -= 1
                return left > 0
            }
            #expect(try openFiles.isEmpty)
        }
        #expect(found.count == all.count && Set(found) == all)
        #expect(walk.report.files == all.count && walk.report.unreadable.isEmpty)
        #expect(try walk.visit { _ in true } == false)
    }

    @Test("Folders that vanish while a walk is paused are skipped")
    func changedMeanwhile() throws {
        var walk = RootWalk(root: WatchRoot(name: "r", path: folder.path), ignoring: IgnoreList())
        var found: Set<BytePath> = []
        #expect(try walk.visit { _ in false })
        try shell("rm -r \(folder.path)/d2 \(folder.path)/d1/large")
        while try walk.visit({
            found.insert($0.path)
            return true
        }) {}
        let rest = all.filter { !$0.isWithin("d2") && !$0.isWithin("d1/large") }
        // The first file has been visited already.
        #expect(found.isSubset(of: rest) && rest.count - found.count <= 1)
        #expect(walk.report.unreadable.isEmpty)
    }

    /// By readdir(3): on some file systems it reports a different number than lstat(2).
    private func inodes(_ path: BytePath) throws -> [[UInt8]: UInt64] {
        let directory = try #require(opendir(path.text))
        defer { closedir(directory) }
        var all: [[UInt8]: UInt64] = [:]
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: UInt8.self, capacity: 256) { bytes in
                    Array(UnsafeBufferPointer(start: bytes, count: 256).prefix { $0 != 0 })
                }
            }
            all[name] = UInt64(entry.pointee.d_ino)
        }
        return all
    }

    @Test("Entries of a folder come in inode order, a given number at a time", arguments: [100, 1_500, 65_536])
    func orderOfInodes(_ window: Int) throws {
        let path = folder.path.appending("d1/large")
        let numbers = try inodes(path)
        var names = try FolderListing(Folder(PathStatus.opened(path)).reading(), window: window)
        var found: [(name: [UInt8], inode: UInt64)] = []
        while let entry = names.next() {
            let name = names.name(of: entry)
            found.append((name, try #require(numbers[name])))
        }
        #expect(found.count == 1_500 && Set(found.map(\.name)).count == 1_500)
        for start in stride(from: 0, to: found.count, by: window) {
            let part = found[start..<min(start + window, found.count)].map(\.inode)
            #expect(part == part.sorted())
        }
    }

    @Test("A cancelled walk ends at once") func cancelled() async throws {
        let root = WatchRoot(name: "r", path: folder.path)
        let found = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var walk = RootWalk(root: root, ignoring: IgnoreList())
            return Result { try walk.visit { _ in true } }
        }.value
        #expect(throws: CancellationError.self) { try found.get() }
    }

    @Test("Unreadable folders are found with and without their names") func faultAhead() throws {
        let paths = (0..<20).map { BytePath("d\($0)") }
        let top = folder.path
        let opened = Atomic<Int>(0)
        let next = DirectoryPrefetch.read(paths) { path in
            if opened.wrappingAdd(1, ordering: .relaxed).newValue == 5 {
                throw Fault(.transient, "none is free", errno: EMFILE)
            }
            return try PathStatus.opened(top.appending(path))
        }
        #expect(next.map(\.path) == paths)
        #expect(next.contains { $0.names != nil } && next.contains { $0.names == nil })
        #expect(try openFiles.isEmpty)
    }

    @Test("A folder with too many names is not listed") func tooManyNames() throws {
        let large = Folder(try PathStatus.opened(folder.path.appending("d1/large")))
        #expect(try FolderListing(large.reading(), most: 4_096) == nil)
        var names = try #require(try FolderListing(large.reading(), most: 1 << 20))
        var count = 0
        while names.next() != nil { count += 1 }
        #expect(count == 1_500)
    }
}
