import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

extension WatchingTests {
    /// When the kernel's limits are reached nothing is lost, and the user is informed.
    @Suite("Kernel limits") struct Limits {
        let folder: TemporaryFolder
        let root: WatchRoot

        init() throws {
            folder = try TemporaryFolder("limits")
            try makeFolder(folder.path.appending("in"))
            root = WatchRoot(name: "root", path: folder.path.appending("in"), pollInterval: 0.1)
        }

        @Test("A limit of twenty with fifty folders") func limitTwentyFifty() async throws {
            for number in 0..<50 { try folder.write(BytePath("in/d\(number)/f.txt"), "x") }
            let messages = Mutex<[String]>([])
            var options = WatchOptions()
            options.maximumWatches = 20
            options.onMessage = { text in messages.withLock { $0.append(text) } }
            let observer = try Observer([root], options)
            try await eventually("all that is there is seen") { observer.files().count == 50 }
            #expect(observer.status.watches == 20)
            #expect(observer.status.watchLimitHit)
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

        @Test("Folders that come and go leave nothing behind") func comeAndGo() async throws {
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
            #expect(
                (observer.status.restarts > 0) == (ByEachWay.events != .calls),
                "only the library has to be started anew")
            #expect(observer.status.staleEntries <= 20)
            observer.forget()
            try writeFile(root.path.appending("keep/g.txt"))
            try await eventually("events still come") { observer.files().contains("keep/g.txt") }
            await observer.stop()
        }

        @Test("A polled root") func aPolledRoot() async throws {
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
            // A late scan of the folder created before may still come.
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
}
