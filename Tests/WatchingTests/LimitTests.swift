import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

extension WatchingTests {
    /// When the kernel's limits are reached nothing is lost, and the user is told.
    @Suite struct Limits {
        let folder: TemporaryFolder
        let root: WatchRoot

        init() throws {
            folder = try TemporaryFolder("limits")
            try makeFolder(folder.path.appending("in"))
            root = WatchRoot(name: "root", path: folder.path.appending("in"), pollInterval: 0.1)
        }

        @Test(.enabled(if: canSet("max_queued_events"), "the queue's length needs privileges"))
        func overflowIsARescan() async throws {
            let observer = try await withLimit("max_queued_events", 16) { try Observer([root]) }
            try folder.write("src/a/b/c.txt", "x")
            var expected: Set<BytePath> = []
            // A slow writer gives the reader time to keep up: it goes on until the queue did overflow.
            var rounds = 0
            while rounds < 30 || observer.source.status().overflows == 0 && rounds < 300 {
                let round = rounds
                rounds += 1
                for number in 0..<100 {
                    let name = BytePath("r\(round)n\(number).txt")
                    try writeFile(root.path.appending(name))
                    expected.insert(name)
                }
                try shell("cp -r \(folder.path)/src \(root.path)/s\(round)")
                expected.insert(BytePath("s\(round)/a/b/c.txt"))
            }
            try await eventually("every file is seen") { observer.files() == expected }
            try await eventually("every folder is watched") {
                observer.source.status().root("root")?.watches == 1 + rounds * 3
            }
            let status = observer.source.status()
            #expect(status.overflows > 0)
            #expect(status.rescans <= 10, "rescans must not follow one another like the overflows")
            observer.forget()
            try writeFile(root.path.appending("s29/a/b/after.txt"))
            try await eventually("events flow again") { observer.files().contains("s29/a/b/after.txt") }
            await observer.stop()
        }

        @Test func aLimitOfTwentyWithFiftyFolders() async throws {
            for number in 0..<50 { try folder.write(BytePath("in/d\(number)/f.txt"), "x") }
            let messages = Mutex<[String]>([])
            var options = WatchOptions()
            options.maximumWatches = 20
            options.onMessage = { text in messages.withLock { $0.append(text) } }
            let observer = try Observer([root], options)
            try await eventually("all that is there is seen") { observer.files().count == 50 }
            #expect(observer.source.status().watches == 20)
            #expect(observer.source.status().watchLimitHit)
            #expect(messages.withLock { $0.count { $0.contains("fs.inotify.max_user_watches") } } == 1)
            observer.forget()
            var expected: Set<BytePath> = []
            for number in 0..<50 {
                try writeFile(root.path.appending("d\(number)/new.txt"))
                expected.insert(BytePath("d\(number)/new.txt"))
            }
            try folder.write("in/later/deep/er.txt", "x")
            expected.insert("later/deep/er.txt")
            try await eventually("what is new is seen everywhere") { observer.files().isSuperset(of: expected) }
            for number in 10..<50 { try shell("rm -r \(root.path)/d\(number)") }
            try await eventually("freed watches are used") {
                let status = observer.source.status()
                return !status.watchLimitHit && status.root("root")?.polledFolders == 0
                    && status.root("root")?.watches == 13
            }
            await observer.stop()
        }

        @Test(.enabled(if: canSet("max_user_watches"), "the limit of watches needs privileges"))
        func theKernelsOwnLimit() async throws {
            for number in 0..<10 { try folder.write(BytePath("in/d\(number)/f.txt"), "x") }
            let observer = try await withLimit("max_user_watches", 1) {
                let observer = try Observer([root])
                #expect(observer.source.status().watchLimitHit)
                try await eventually("all that is there is seen") { observer.files().count == 10 }
                observer.forget()
                try writeFile(root.path.appending("d7/new.txt"))
                try await eventually("and what is new") { observer.files().contains("d7/new.txt") }
                return observer
            }
            try await eventually("watches are taken when they are granted") {
                observer.source.status().root("root")?.watches == 11
            }
            await observer.stop()
        }

        @Test func theLibraryIsStartedAnewWhenItHasForgottenTooLittle() async throws {
            try folder.write("in/keep/f.txt", "x")
            var options = WatchOptions()
            options.staleLimit = 20
            let observer = try Observer([root], options)
            let again = root.path.appending("again")
            for _ in 0..<60 {
                try makeFolder(again)
                try await eventually("it is watched") { observer.source.status().root("root")?.watches == 3 }
                try remove(again)
                try await eventually("it is not") { observer.source.status().root("root")?.watches == 2 }
            }
            #expect(observer.source.status().restarts > 0)
            #expect(observer.source.status().staleEntries <= 20)
            observer.forget()
            try writeFile(root.path.appending("keep/g.txt"))
            try await eventually("events still come") { observer.files().contains("keep/g.txt") }
            await observer.stop()
        }

        @Test func aPolledRoot() async throws {
            var polled = root
            polled.mode = .poll
            try folder.write("in/a/b.txt", "x")
            let observer = try Observer([polled])
            try await eventually("what is there is seen") { observer.files() == ["a/b.txt"] }
            guard case .poll = observer.source.status().root("root")?.mode else {
                Issue.record("the status must say that it is polled")
                return
            }
            try await eventually("the status knows it") {
                let status = observer.source.status().root("root")
                return status?.present == true && status?.polledFolders == 2
            }
            observer.forget()
            try folder.write("in/c/d/e.txt", "x")
            try await eventually("a new file is seen") { observer.files().contains("c/d/e.txt") }
            observer.forget()
            try folder.write("in/a/b.txt", "longer")
            // A late look at the folder made before may still come.
            try await eventually("a changed one") { observer.files().contains("a/b.txt") }
            observer.forget()
            try remove(root.path.appending("a/b.txt"))
            try await eventually("a removed one") { observer.marks.contains(.subtree(root: "root", path: "a")) }
            try shell("rm -r \(root.path)")
            try await eventually("a missing root is no deletion") {
                observer.marks.contains(.rootState(root: "root"))
                    && observer.source.status().root("root")?.present == false
            }
            await observer.stop()
        }
    }

    /// Who read a file before it was saved.
    @Suite struct Reads {
        let folder: TemporaryFolder
        let source: InotifySource
        let note: BytePath

        init() throws {
            folder = try TemporaryFolder("reads")
            note = try folder.write("note.md", "text")
            source = try InotifySource()
        }

        @Test func aSaveIsNoRead() throws {
            try source.watchReads(of: note)
            try shell("echo more >> \(note); echo less > \(note)")
            #expect(!source.readsSeen(of: note))
            source.stop()
        }

        @Test func aReadIsOneUntilItIsArmedAnew() throws {
            try source.watchReads(of: note)
            try shell("cat \(note)")
            #expect(source.readsSeen(of: note))
            try source.watchReads(of: note)
            #expect(!source.readsSeen(of: note))
            try shell("exec 3< \(note); exec 3<&-")
            #expect(source.readsSeen(of: note), "opened to read and closed, though nothing was read")
            source.stop()
        }

        @Test func whatIsReadAfterTheSaveDoesNotCount() throws {
            try source.watchReads(of: note)
            try shell("echo saved > \(note); cat \(note)")
            #expect(!source.readsSeen(of: note))
            source.stop()
        }

        @Test func norAfterASaveByReplacement() throws {
            try source.watchReads(of: note)
            try shell("echo new > \(folder.path)/n && mv \(folder.path)/n \(note) && cat \(note)")
            #expect(!source.readsSeen(of: note))
            source.stop()
        }

        @Test func ourOwnReadingDoesNotCount() throws {
            try source.watchReads(of: note)
            let text = try source.uncounted(note) { try Descriptor(note).readAll() }
            #expect(text == Array("text".utf8))
            #expect(!source.readsSeen(of: note))
            try shell("cat \(note)")
            #expect(source.readsSeen(of: note))
            source.stop()
        }

        @Test func whatIsNotWatchedIsInDoubt() throws {
            #expect(source.readsSeen(of: note))
            #expect(throws: Fault.self) { try source.watchReads(of: folder.path.appending("missing.md")) }
            try source.watchReads(of: note)
            source.stopWatchingReads(of: note)
            #expect(source.readsSeen(of: note))
            source.stop()
        }
    }
}
