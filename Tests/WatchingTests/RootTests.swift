import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

extension WatchingTests {
    /// Roots come, go, and are replaced; a root that goes is not reported as a mass deletion.
    @Suite("Roots that come, go and are replaced") struct Roots {
        let folder: TemporaryFolder
        let root: WatchRoot

        init() throws {
            folder = try TemporaryFolder("roots")
            root = WatchRoot(name: "root", path: folder.path.appending("a/b/in"))
        }

        private func present(_ observer: Observer) -> Bool { observer.source.status().root("root")?.present == true }

        @Test("A root that appears later") func rootAppearsLater() async throws {
            let observer = try Observer([root])
            #expect(!present(observer))
            #expect(observer.status.root("root")?.identity == nil)
            try shell("mkdir -p \(root.path)/deep && echo x > \(root.path)/deep/file.txt")
            try await eventually("its file is seen") { observer.files() == ["deep/file.txt"] }
            // The status follows the marks.
            try await eventually("it is present") { present(observer) }
            try await eventually("its state is told") { observer.marks.contains(.rootState(root: "root")) }
            await observer.stop()
        }

        @Test("A root whose folders appear one by one") func rootFoldersAppear() async throws {
            let observer = try Observer([root])
            for part in ["a", "a/b", "a/b/in"] {
                try await observer.source.untilIdle()
                try makeFolder(folder.path.appending(part))
            }
            try await eventually("it is present") { present(observer) }
            try shell("rm -r \(folder.path)/a")
            try await eventually("it is missing") { !present(observer) }
            try await observer.source.untilIdle()
            try folder.write("a/b/in/file.txt", "x")
            try await eventually("it is seen") { observer.files() == ["file.txt"] }
            await observer.stop()
        }

        @Test("A root that is removed and created again") func rootRemovedMade() async throws {
            try folder.write("a/b/in/one.txt", "x")
            let observer = try Observer([root])
            try await eventually("its file is seen") { observer.files() == ["one.txt"] }
            for round in 0..<20 {
                observer.forget()
                try shell("rm -r \(root.path)")
                try await eventually("it is missing") { !present(observer) }
                try makeFolder(root.path)
                try writeFile(root.path.appending("again\(round).txt"))
                try await eventually("the new one is watched") {
                    observer.files().contains(BytePath("again\(round).txt"))
                }
                try await eventually("its state is told") { observer.marks.contains(.rootState(root: "root")) }
            }
            #expect(observer.status.watches == 1 + root.path.components.count)
            await observer.stop()
        }

        @Test("A root renamed away and back") func rootRenamedAway() async throws {
            try folder.write("a/b/in/one.txt", "x")
            let observer = try Observer([root])
            let identity = observer.source.status().root("root")?.identity
            try rename(root.path, folder.path.appending("away"))
            try await eventually("it is missing") { !present(observer) }
            observer.forget()
            try writeFile(folder.path.appending("away/unseen.txt"))
            try rename(folder.path.appending("away"), root.path)
            try await eventually("it is back") { observer.files() == ["one.txt", "unseen.txt"] }
            #expect(observer.status.root("root")?.identity == identity)
            await observer.stop()
        }

        @Test("A folder above the root renamed away and back") func folderAboveRoot() async throws {
            try folder.write("a/b/in/one.txt", "x")
            let observer = try Observer([root])
            try rename(folder.path.appending("a"), folder.path.appending("z"))
            try await eventually("it is missing") { !present(observer) }
            try rename(folder.path.appending("z"), folder.path.appending("a"))
            try await eventually("it is back") { present(observer) }
            observer.forget()
            try writeFile(root.path.appending("two.txt"))
            try await eventually("and watched") { observer.files().contains("two.txt") }
            await observer.stop()
        }

        @Test("A root replaced by another") func rootReplacedAnother() async throws {
            try folder.write("a/b/in/one.txt", "x")
            try folder.write("a/b/new/two.txt", "x")
            let observer = try Observer([root])
            let identity = observer.source.status().root("root")?.identity
            try shell("mv \(root.path) \(folder.path)/old && mv \(folder.path)/a/b/new \(root.path)")
            try await eventually("the other one is seen") { observer.files().contains("two.txt") }
            try await eventually("its state is told, with another identity") {
                let now = observer.source.status().root("root")?.identity
                return observer.marks.contains(.rootState(root: "root")) && now != nil && now != identity
            }
            await observer.stop()
        }

        @Test("A root named by a link that changes") func rootNamedLink() async throws {
            try folder.write("first/one.txt", "x")
            try folder.write("second/two.txt", "x")
            let linked = WatchRoot(name: "root", path: folder.path.appending("link"))
            try shell("ln -s first \(linked.path)")
            let observer = try Observer([linked])
            try await eventually("the first is seen") { observer.files() == ["one.txt"] }
            observer.forget()
            try shell("ln -s second \(folder.path)/turned && mv -T \(folder.path)/turned \(linked.path)")
            try await eventually("then the second") { observer.files().contains("two.txt") }
            try writeFile(folder.path.appending("second/three.txt"))
            try await eventually("which is watched") { observer.files().contains("three.txt") }
            await observer.stop()
        }

        @Test("A root mounted over and unmounted", .enabled(if: canMount, "mounting needs privileges"))
        func rootMountedOver() async throws {
            try folder.write("a/b/in/one.txt", "x")
            let observer = try Observer([root])
            let identity = observer.source.status().root("root")?.identity
            try shell("mount -t tmpfs none \(root.path)")
            try await eventually("another folder stands there") {
                let status = observer.source.status().root("root")
                return status?.present == true && status?.identity != identity
                    && observer.marks.contains(.rootState(root: "root"))
            }
            observer.forget()
            try writeFile(root.path.appending("mounted.txt"))
            try await eventually("the mounted one is watched") { observer.files().contains("mounted.txt") }
            observer.forget()
            try shell("umount -l \(root.path)")
            try await eventually("the first one is back") {
                observer.source.status().root("root")?.identity == identity && observer.files().contains("one.txt")
                    && observer.marks.contains(.rootState(root: "root"))
            }
            await observer.stop()
        }

        @Test("A mount inside a root comes and goes", .enabled(if: canMount, "mounting needs privileges"))
        func mountInsideRoot() async throws {
            try folder.write("a/b/in/disk/under.txt", "x")
            let observer = try Observer([root])
            try shell("mount -t tmpfs none \(root.path)/disk && echo x > \(root.path)/disk/on.txt")
            try await eventually("what is on it is seen") {
                observer.files().contains("disk/on.txt")
                    && observer.source.status().root("root")?.mountsInside == ["disk"]
            }
            observer.forget()
            try shell("umount -l \(root.path)/disk")
            try await eventually("that it went is told") {
                observer.marks.isSuperset(of: [.rootState(root: "root"), .subtree(root: "root", path: "disk")])
                    && observer.source.status().root("root")?.mountsInside == []
            }
            observer.forget()
            try writeFile(root.path.appending("disk/new.txt"))
            try await eventually("what was below it is watched again") { observer.files().contains("disk/new.txt") }
            await observer.stop()
        }

        @Test("Events elsewhere wake nobody") func happensElsewhereWakes() async throws {
            try folder.write("a/b/in/one.txt", "x")
            let observer = try Observer([root])
            try await eventually("the first scan is over") { observer.files() == ["one.txt"] }
            try await observer.source.untilIdle()
            let before = observer.source.status().wakeUps
            for number in 0..<50 { try folder.write(BytePath("a/b/noise\(number)"), "x") }
            try writeFile(root.path.appending("two.txt"))
            try await eventually("the file is seen") { observer.files() == ["one.txt", "two.txt"] }
            // One for all of the file's events, or one for each of them.
            try await observer.source.untilIdle()
            #expect(observer.source.status().wakeUps - before <= 8)
            await observer.stop()
        }

        @Test("None after the end") func noneAfterTheEnd() throws {
            var options = WatchOptions()
            options.events = ByEachWay.events
            let first = try InotifySource(options)
            first.stop()
            #expect(throws: Fault.self) { try first.start([root]) }
            let second = try InotifySource(options)
            second.stop()
        }

        #if LibInotifyTools
            @Test("Only one at a time by the library") func oneAtATime() throws {
                var options = WatchOptions()
                options.events = .library
                let first = try InotifySource(options)
                #expect(throws: Fault.self) { try InotifySource(options) }
                first.stop()
                try InotifySource(options).stop()
            }
        #endif

        @Test("A folder of rules") func folderRules() async throws {
            let observer = try Observer([])
            let rules = folder.path.appending("rules.d")
            let changes = Mutex(0)
            observer.source.watchFolder(rules) { changes.withLock { $0 += 1 } }
            func changed(after: Int) async throws {
                try await eventually("a change is told") { changes.withLock { $0 } > after }
                try await observer.source.untilIdle()
            }
            try folder.write("rules.d/10-a.yaml", "x")
            try await changed(after: 0)
            let made = changes.withLock { $0 }
            try shell("echo y > \(rules)/10-a.yaml")
            try await changed(after: made)
            let written = changes.withLock { $0 }
            try shell("rm -r \(rules)")
            try await changed(after: written)
            #expect(observer.marks.isEmpty)
            await observer.stop()
        }
    }
}

extension InotifySource {
    /// Waits until the owner thread is idle: no wake-up between two looks.
    func untilIdle() async throws {
        var last = -1
        try await eventually("the owner thread rests") {
            let now = status().wakeUps
            defer { last = now }
            try await Task.sleep(for: .milliseconds(50))
            return now == last
        }
    }
}
