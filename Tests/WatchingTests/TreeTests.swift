import Glibc
import Platform
import TestSupport
import Testing

@testable import Watching

extension WatchingTests {
    /// New folders are seen completely, however fast they come.
    @Suite("New folders") struct Trees {
        let folder: TemporaryFolder
        let root: WatchRoot

        init() throws {
            folder = try TemporaryFolder("trees")
            try makeFolder(folder.path.appending("in"))
            root = WatchRoot(name: "root", path: folder.path.appending("in"))
        }

        /// Waits for the second half of a rename long enough for a loaded machine.
        private var longWait: WatchOptions {
            var options = WatchOptions()
            options.renameWait = 120
            return options
        }

        @Test("Two hundred unpacked trees of five levels") func twoHundredUnpacked() async throws {
            var expected: Set<BytePath> = []
            for tree in 0..<200 {
                var path = BytePath("t\(tree)")
                for level in ["a", "b", "c", "d"] {
                    path = path.appending(level)
                    expected.insert(path.appending("file.txt"))
                    try folder.write(BytePath("src").appending(path).appending("file.txt"), "x")
                }
            }
            try shell("cd \(folder.path)/src && tar cf ../all.tar .")
            let observer = try Observer([root])
            try shell("cd \(root.path) && tar xf ../all.tar")
            try await eventually("all \(expected.count) files are seen") { observer.files() == expected }
            #expect(observer.status.root("root")?.watches == 1 + 200 * 5)
            await observer.stop()
        }

        @Test("A folder and its file at once") func folderFileBreath() async throws {
            let observer = try Observer([root])
            var expected: Set<BytePath> = []
            for number in 0..<300 {
                let made = root.path.appending("d\(number)")
                try makeFolder(made)
                try makeFolder(made.appending("e"))
                try writeFile(made.appending("e/f.txt"))
                expected.insert(BytePath("d\(number)/e/f.txt"))
            }
            try await eventually("every file is seen") { observer.files() == expected }
            await observer.stop()
        }

        @Test("Files present at the start are seen") func startSeen() async throws {
            try folder.write("in/a/b/c.txt", "x")
            let observer = try Observer([root])
            try await eventually("the file is seen") { observer.files() == ["a/b/c.txt"] }
            await observer.stop()
        }

        @Test("A folder without subfolders when first watched is watched, and so are those added later")
        func firstFolders()
            async throws
        {
            // On tmpfs and on the disk's file system, which count the folders in a folder.
            for above in [BytePath("/dev/shm"), folder.path] {
                let place = above.appending("steward-\(randomHex(6))")
                try makeFolder(place)
                defer { _ = try? shell("rm -rf \(place)") }
                try makeFolder(place.appending("leaf"))
                try writeFile(place.appending("leaf/old.txt"))
                let observer = try Observer([WatchRoot(name: "root", path: place)])
                try await eventually("what was there is seen") { observer.files() == ["leaf/old.txt"] }
                #expect(observer.status.root("root")?.watches == 2)
                try makeFolder(place.appending("leaf/first"))
                try writeFile(place.appending("leaf/first/new.txt"))
                try await eventually("the first folder's file is seen") {
                    observer.files() == ["leaf/old.txt", "leaf/first/new.txt"]
                }
                #expect(observer.status.root("root")?.watches == 3)
                await observer.stop()
            }
        }

        @Test("A folder moved in and out again") func folderMovedAgain() async throws {
            try folder.write("out/a/b/c.txt", "x")
            let observer = try Observer([root])
            try rename(folder.path.appending("out"), root.path.appending("moved"))
            try await eventually("its file is seen") { observer.files() == ["moved/a/b/c.txt"] }
            #expect(observer.status.watches == 4 + depth(root.path))
            try rename(root.path.appending("moved"), folder.path.appending("out"))
            try await eventually("the watches below are gone") {
                observer.marks.contains(.subtree(root: "root", path: "moved"))
                    && observer.source.status().root("root")?.watches == 1
            }
            observer.forget()
            try writeFile(folder.path.appending("out/a/b/other.txt"))
            try writeFile(root.path.appending("last.txt"))
            try await eventually("the last file is seen") { observer.files() == ["last.txt"] }
            await observer.stop()
        }

        @Test("A folder renamed within the root keeps its watches") func folderRenamedWithin() async throws {
            try folder.write("in/old/a/b.txt", "x")
            let observer = try Observer([root], longWait)
            try await observer.firstLook()
            let before = observer.source.status().watches
            try rename(root.path.appending("old"), root.path.appending("new"))
            try await eventually("the rename is told") {
                observer.marks.isSuperset(of: [
                    .renamed(root: "root", from: "old", toRoot: "root", to: "new"),
                    .subtree(root: "root", path: "old"), .subtree(root: "root", path: "new"),
                ])
            }
            observer.forget()
            try writeFile(root.path.appending("new/a/c.txt"))
            try await eventually("events come under the new name") {
                observer.marks == [.file(root: "root", path: "new/a/c.txt")]
            }
            #expect(observer.status.watches == before)
            await observer.stop()
        }

        @Test("Moves from outside are told from renames within, whether or not the name was ignored")
        func movedIn() async throws {
            let other = WatchRoot(name: "other", path: folder.path.appending("other"))
            try makeFolder(other.path)
            try folder.write("in/a.txt", "x")
            try folder.write("in/b~", "x")
            try folder.write("in/d/x.txt", "x")
            try folder.write("other/c.txt", "x")
            try folder.write("out/e/x.txt", "x")
            let observer = try Observer([root, other], longWait)
            try await observer.firstLook()
            observer.forget()
            let inside = root.path
            try rename(inside.appending("a.txt"), inside.appending("d/a.txt"))
            try rename(inside.appending("b~"), inside.appending("b.txt"))
            try rename(inside.appending("d"), inside.appending("f"))
            try rename(other.path.appending("c.txt"), inside.appending("c.txt"))
            try rename(folder.path.appending("out/e"), inside.appending("e"))
            // Out and back, before anybody has noticed.
            try rename(inside.appending("f/x.txt"), folder.path.appending("x.txt"))
            try rename(folder.path.appending("x.txt"), inside.appending("last.txt"))
            try await eventually("the last is told") { observer.files().contains("last.txt") }
            let movedIn = observer.marks.filter { if case .movedIn = $0 { true } else { false } }
            #expect(
                movedIn == [
                    .movedIn(root: "root", path: "c.txt", isFolder: false),
                    .movedIn(root: "root", path: "e", isFolder: true),
                    .movedIn(root: "root", path: "last.txt", isFolder: false),
                ])
            await observer.stop()
        }

        @Test("Moves out are reported") func whatIsMovedOutIsTold() async throws {
            try folder.write("in/x.txt", "x")
            try folder.write("in/d/y.txt", "y")
            var options = WatchOptions()
            // Its other half never arrives.
            options.renameWait = 0.05
            let observer = try Observer([root], options)
            try await observer.firstLook()
            observer.forget()
            try rename(root.path.appending("x.txt"), folder.path.appending("x.txt"))
            try rename(root.path.appending("d"), folder.path.appending("d"))
            try await eventually("that they went is told") {
                observer.marks.isSuperset(of: [
                    .file(root: "root", path: "x.txt"), .subtree(root: "root", path: "d"),
                ])
            }
            await observer.stop()
        }

        @Test("Everything is rescanned now and then, whatever the kernel says")
        func allIsLookedThroughNowAndThenWhateverTheKernelSays() async throws {
            var options = WatchOptions()
            options.rescanInterval = 0.1
            let observer = try Observer([root], options)
            try await observer.firstLook()
            observer.forget()
            try await eventually("it is looked through again") {
                observer.marks.contains(.subtree(root: "root", path: "")) && observer.source.status().rescans > 0
            }
            await observer.stop()
        }

        @Test("A folder moved out and back before anybody looked") func aFolderMovedOutAndBackBeforeAnybodyLooked()
            async throws
        {
            try folder.write("in/d/a/b.txt", "x")
            let observer = try Observer([root])
            for _ in 0..<20 {
                try rename(root.path.appending("d"), folder.path.appending("d"))
                try rename(folder.path.appending("d"), root.path.appending("d"))
            }
            try await eventually("no rename waits for its other half") { observer.source.catchUp() }
            observer.forget()
            try writeFile(root.path.appending("d/a/c.txt"))
            try await eventually("it is still watched") { observer.files().contains("d/a/c.txt") }
            #expect(observer.status.root("root")?.watches == 3)
            await observer.stop()
        }

        @Test("Between two roots") func betweenTwoRoots() async throws {
            let other = WatchRoot(name: "other", path: folder.path.appending("other"))
            try makeFolder(other.path)
            try folder.write("in/d/x.txt", "x")
            let observer = try Observer([root, other], longWait)
            try await observer.firstLook()
            try rename(root.path.appending("d"), other.path.appending("e"))
            try await eventually("the rename is told") {
                observer.marks.contains(.renamed(root: "root", from: "d", toRoot: "other", to: "e"))
                    && observer.files("other") == ["e/x.txt"]
            }
            try rename(other.path.appending("e/x.txt"), root.path.appending("y.txt"))
            try await eventually("a file's rename is told, with both names") {
                observer.marks.isSuperset(of: [
                    .renamed(root: "other", from: "e/x.txt", toRoot: "root", to: "y.txt"),
                    .file(root: "other", path: "e/x.txt"), .file(root: "root", path: "y.txt"),
                ])
            }
            try writeFile(other.path.appending("e/z.txt"))
            try await eventually("the moved folder belongs to the other root") {
                observer.files("other").contains("e/z.txt")
            }
            #expect(observer.status.root("root")?.watches == 1)
            #expect(observer.status.root("other")?.watches == 2)
            await observer.stop()
        }

        @Test("One folder made and removed thousands of times") func folderMadeRemoved() async throws {
            var options = WatchOptions()
            options.staleLimit = 400
            // Overflows are likely.
            options.rescanBackoff = 0.01
            let observer = try Observer([root], options)
            let again = root.path.appending("again")
            for _ in 0..<4_000 {
                try makeFolder(again)
                try remove(again)
            }
            try makeFolder(again)
            try writeFile(again.appending("file.txt"))
            try await eventually("its file is seen") { observer.files() == ["again/file.txt"] }
            try await eventually("the tables hold what there is") {
                let status = observer.source.status()
                return status.root("root")?.watches == 2 && status.watches == 2 + depth(root.path)
                    && status.staleEntries <= 400
            }
            observer.forget()
            try writeFile(again.appending("other.txt"))
            try await eventually("its watch is the right one") { observer.files().contains("again/other.txt") }
            await observer.stop()
        }

        @Test("Links are not followed") func linksFollowed() async throws {
            try folder.write("elsewhere/secret.txt", "x")
            try makeFolder(root.path.appending("a"))
            try shell("ln -s .. \(root.path)/a/loop; ln -s \(folder.path)/elsewhere \(root.path)/a/out")
            let observer = try Observer([root])
            try shell("ln -s \(folder.path)/elsewhere \(root.path)/later; ln -s . \(root.path)/a/self")
            try writeFile(root.path.appending("a/file.txt"))
            try writeFile(folder.path.appending("elsewhere/more.txt"))
            try await eventually("the file is seen") { observer.files().contains("a/file.txt") }
            #expect(observer.files() == ["a/file.txt"])
            #expect(observer.status.root("root")?.watches == 2)
            await observer.stop()
        }

        @Test("Names that are not text") func namesText() async throws {
            let observer = try Observer([root])
            let odd = BytePath(bytes: [0xFF, 0xFE, UInt8(ascii: "\n")])
            let path = odd.appending(BytePath(bytes: [0x80, UInt8(ascii: "\\"), UInt8(ascii: " ")]))
            try makeFolder(root.path.appending(odd))
            try writeFile(root.path.appending(path))
            try await eventually("the file is seen by its bytes") { observer.files() == [path] }
            // In folders that are already watched, only the event reports it.
            for late in [BytePath(bytes: [0xC3, 0x28]), odd.appending(BytePath(bytes: [0xFF]))] {
                try writeFile(root.path.appending(late))
                try await eventually("its event has told of it") {
                    observer.marks.contains(.file(root: "root", path: late))
                }
            }
            await observer.stop()
        }

        @Test("Ignored names are not news") func ignoredNamesNews() async throws {
            let observer = try Observer([root])
            try await observer.firstLook()
            observer.forget()
            try makeFolder(root.path.appending(".git"))
            try writeFile(root.path.appending(".git/HEAD"))
            try writeFile(root.path.appending("note.md~"))
            try writeFile(root.path.appending(".note.md.swp"))
            try writeFile(root.path.appending("note.md"))
            try await eventually("the note is seen") { observer.files() == ["note.md"] }
            #expect(observer.marks == [.file(root: "root", path: "note.md")])
            await observer.stop()
        }

        @Test("A nested place is watched once") func placeWithinPlace() async throws {
            let inner = WatchRoot(name: "inner", path: root.path.appending("inner"))
            var outer = root
            outer.excluded = [inner.path]
            try folder.write("in/inner/a.txt", "x")
            let observer = try Observer([outer, inner])
            try writeFile(inner.path.appending("b.txt"))
            try writeFile(outer.path.appending("c.txt"))
            try await eventually("each has its own") {
                observer.files("inner") == ["a.txt", "b.txt"] && observer.files() == ["c.txt"]
            }
            await observer.stop()
        }

        @Test(
            "An unreadable folder is reported and seen once it is readable",
            .disabled(if: isRoot, "nothing is unreadable for root"))
        func folderReadNamed() async throws {
            try folder.write("in/closed/a/b.txt", "x")
            try folder.write("in/open/c.txt", "x")
            try shell("chmod 0 \(root.path)/closed")
            let observer = try Observer([root])
            try await eventually("the rest is alive") { observer.files() == ["open/c.txt"] }
            #expect(observer.status.root("root")?.unreadable == ["closed"])
            try shell("chmod 755 \(root.path)/closed")
            try await eventually("it is seen") { observer.files().contains("closed/a/b.txt") }
            #expect(observer.status.root("root")?.unreadable == [])
            try writeFile(root.path.appending("closed/a/d.txt"))
            try await eventually("and watched") { observer.files().contains("closed/a/d.txt") }
            try shell("chmod 0 \(root.path)")
            await observer.stop()
        }

        @Test("A root that is not readable yet", .disabled(if: isRoot, "nothing is unreadable for root"))
        func rootReadYet() async throws {
            try folder.write("in/a.txt", "x")
            try shell("chmod 0 \(root.path)")
            let observer = try Observer([root])
            #expect(observer.status.root("root")?.unreadable == [""])
            try shell("chmod 755 \(root.path)")
            try await eventually("it is seen") { observer.files().contains("a.txt") }
            await observer.stop()
        }

        @Test("Hard links and attributes count") func hardLinksAttributes() async throws {
            try folder.write("elsewhere.txt", "x")
            let observer = try Observer([root])
            try await observer.firstLook()
            try shell("ln \(folder.path)/elsewhere.txt \(root.path)/linked.txt")
            try await eventually("a link is seen") { observer.files() == ["linked.txt"] }
            observer.forget()
            try shell("chmod 600 \(root.path)/linked.txt")
            try await eventually("so is a change of mode") { observer.files() == ["linked.txt"] }
            await observer.stop()
        }
    }
}

/// The folders above a root, which are watched for their own moves.
private func depth(_ path: BytePath) -> Int { path.components.count }
