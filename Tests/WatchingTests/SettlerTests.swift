import Foundation
import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

/// When a file is complete, and when it is gone.
@Suite("When a file is complete, and when it is gone", .timeLimit(.minutes(30))) struct SettlerTests {
    let folder: TemporaryFolder
    let root: WatchRoot
    let settler = Settler(timeout: 2)
    let results = Results()

    /// The settler's results, in order.
    final class Results: Sendable {
        private let list = Mutex<[String]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        var said: [String] { list.withLock { $0 } }

        func forget() { list.withLock { $0 = [] } }

        func collect(_ settler: Settler) {
            let running = Task {
                while !Task.isCancelled {
                    let batch = await settler.next().map(Self.describe)
                    self.list.withLock { $0 += batch }
                }
            }
            task.withLock { $0 = running }
        }

        deinit { task.withLock { $0 }?.cancel() }

        private static func describe(_ settled: Settled) -> String {
            switch settled {
            case .whole(_, let path, let status, _): "whole \(path) \(status.size)"
            case .gone(_, let path): "gone \(path)"
            }
        }
    }

    init() throws {
        folder = try TemporaryFolder("settle")
        root = WatchRoot(name: "root", path: folder.path)
        results.collect(settler)
    }

    @Test("A file at rest") func fileStandsStill() async throws {
        try folder.write("a.txt", "abc")
        await settler.add(root: root, path: "a.txt", settle: 0.05)
        try await eventually("it is whole") { results.said == ["whole a.txt 3"] }
        #expect(await settler.pending().isEmpty)
    }

    @Test("Its time runs from when it was reported, not from when that was passed on") func namedBefore() async throws {
        let tookSeconds = Mutex<Double?>(nil)
        let settler = Settler(timeout: 2) { seconds in tookSeconds.withLock { $0 = seconds } }
        results.collect(settler)
        try folder.write("a.txt", "abc")
        await settler.add(
            root: root, path: "a.txt", settle: 0.05, named: WatchLoop.now() - WatchLoop.nanoseconds(500))
        try await eventually("it is whole") { results.said == ["whole a.txt 3"] }
        #expect(try #require(tookSeconds.withLock { $0 }) >= 500)
    }

    @Test("A file reported again at the last moment has to come to rest again")
    func namedInLastMoment() async throws {
        for number in 0..<50 {
            let name = BytePath("f\(number)")
            try folder.write(name, "x")
            await settler.add(root: root, path: name, settle: 0.03)
            // For some of these a pool thread is already waiting.
            try await Task.sleep(for: .microseconds(27_000 + 60 * number))
            await settler.add(root: root, path: name, settle: 1_000)
        }
        try folder.write("last", "x")
        await settler.add(root: root, path: "last", settle: 0.05)
        try await eventually("what was looked at before has been told") { results.said.contains("whole last 1") }
        #expect(await settler.pending().count == 50)
        #expect(Set(results.said).count == results.said.count)
    }

    /// The file is closed when this returns.
    private static func append(_ text: String, to path: BytePath) throws {
        let file = try Descriptor(path, O_WRONLY)
        try file.write(Array(text.utf8), at: try file.status().size)
    }

    @Test("A file written in parts by a writer that closes it in between")
    func aFileWrittenInPiecesByOneWhoClosesInBetween()
        async throws
    {
        let path = try folder.write("a.txt", "")
        for number in 0..<20 {
            // No process has it open when it is looked at.
            try Self.append("piece", to: path)
            await settler.add(root: root, path: "a.txt", settle: 3600)
            // The settler's own look, which comes at once: another file settles after it.
            try folder.write(BytePath("other-\(number)"), "x")
            await settler.add(root: root, path: BytePath("other-\(number)"), settle: 0)
            try await eventually("others are looked at") { results.said.count > number }
        }
        #expect(!results.said.contains { $0.hasPrefix("whole a.txt") })
        results.forget()
        await settler.add(root: root, path: "a.txt", settle: 0.05)
        try await eventually("it is whole") { !results.said.isEmpty }
        #expect(results.said == ["whole a.txt 100"])
    }

    @Test("A file that another process holds open") func fileAnotherProcess() async throws {
        let path = try folder.write("a.txt", "half")
        let writer = Process([
            "/bin/sh", "-c", "exec 3>>\(path); touch \(folder.path)/open; read line; printf whole >&3",
        ])
        let input = Pipe()
        writer.standardInput = input
        try writer.run()
        try await eventually("the writer has it open") { try FileStatus.of(folder.path.appending("open")) != nil }
        await settler.add(root: root, path: "a.txt", settle: 0.02)
        try await eventually("it waits for the writer") {
            await settler.pending() == [Unsettled(root: "root", path: "a.txt", waitingFor: .writer)]
        }
        #expect(results.said.isEmpty)
        input.fileHandleForWriting.write(Data("\n".utf8))
        writer.waitUntilExit()
        try await eventually("it is whole") { results.said == ["whole a.txt 9"] }
    }

    @Test("A save by renaming the old one away") func saveRenamingOld() async throws {
        try folder.write("note.md", "old")
        try rename(folder.path.appending("note.md"), folder.path.appending("note.md~"))
        await settler.add(root: root, path: "note.md", settle: 0.02)
        try await eventually("it waits for its return") {
            await settler.pending() == [Unsettled(root: "root", path: "note.md", waitingFor: .absent)]
        }
        try folder.write("note.md", "newer")
        await settler.add(root: root, path: "note.md", settle: 0.02)
        try remove(folder.path.appending("note.md~"))
        try await eventually("the new one is whole") { results.said == ["whole note.md 5"] }
    }

    @Test("A file that is gone") func fileGone() async throws {
        await settler.add(root: root, path: "never.txt", settle: 0.02)
        try await eventually("it is gone") { results.said == ["gone never.txt"] }
    }

    @Test("A lock file promises a return only for a while") func lockFilePromises() async throws {
        try folder.write(".note.md.swp", "")
        await settler.add(root: root, path: "note.md", settle: 0.02)
        try await eventually("it is gone in the end") { results.said == ["gone note.md"] }
    }

    @Test("Anything but a regular file is ignored") func regularFileNone() async throws {
        try shell("mkfifo \(folder.path)/fifo; ln -s /etc/passwd \(folder.path)/link; mkdir \(folder.path)/folder")
        for name in ["fifo", "link", "folder"] { await settler.add(root: root, path: BytePath(name), settle: 0.02) }
        try await eventually("none of them is a file, and none blocks") {
            Set(results.said) == ["gone fifo", "gone link", "gone folder"]
        }
    }

    @Test("A file just written comes before those found by a scan, unless they were written too")
    func freshFirst() async throws {
        let settler = Settler()
        for number in 0..<200 { try folder.write(BytePath("\(number).old"), "x") }
        for number in 0..<200 {
            await settler.add(
                root: root, path: BytePath("\(number).old"), settle: 0, alreadyStill: true, isBacklog: true)
        }
        try await eventually("all are whole") { await settler.pending().count == 0 }
        try folder.write("new", "x")
        await settler.add(root: root, path: "new", settle: 0)
        await settler.add(root: root, path: "199.old", settle: 0)
        try await eventually("they are whole") { await settler.pending().count == 0 }
        func names(_ batch: [Settled]) -> Set<String> {
            Set(batch.map { if case .whole(_, let path, _, _) = $0 { path.text } else { "" } })
        }
        #expect(names(await settler.next()) == ["new", "199.old"])
        var rest: [Settled] = []
        while rest.count < 200 {
            let batch = await settler.next()
            #expect(batch.count <= 64, "who fetches them has to be back soon")
            rest += batch
        }
        #expect(names(rest) == Set((0..<200).map { "\($0).old" }))
    }

    @Test("A file that a scan found to be old need not wait") func scanFoundOld() async throws {
        let path = try folder.write("old.txt", "x")
        try folder.write("new.txt", "x")
        try await eventually("a second has passed since") {
            try FileStatus.of(path).map { Timestamp.now().seconds - Double($0.fingerprint.changed) / 1e9 > 1 } ?? false
        }
        try folder.write("new.txt", "y")
        await settler.add(root: root, path: "old.txt", settle: 1, alreadyStill: true)
        await settler.add(root: root, path: "new.txt", settle: 1, alreadyStill: true)
        try await eventually("both are whole, the old one first") {
            results.said == ["whole old.txt 1", "whole new.txt 1"]
        }
    }

    @Test("A root that is forgotten") func rootForgotten() async throws {
        await settler.add(root: root, path: "a.txt", settle: 1000)
        try await eventually("it is pending") { await settler.pending().count == 1 }
        await settler.forget(root: "root")
        #expect(await settler.pending().count == 0)
    }

    @Test("A hundred thousand at once") func hundredThousandOnce() async throws {
        try folder.write("a.txt", "x")
        for number in 0..<100_000 {
            await settler.add(
                root: root, path: number % 2 == 0 ? BytePath("missing\(number)") : BytePath("a.txt/\(number)"),
                settle: 0.1)
        }
        try await eventually("all are answered", 600) { results.said.count == 100_000 }
        #expect(await settler.pending().count == 0)
    }

    @Test func aBurstIsTakenOnlyAsFarAsThereIsRoom() async throws {
        let settler = Settler()
        var taken = 0
        while await settler.offer(root: root, path: BytePath("f\(taken)"), settle: 1000) { taken += 1 }
        #expect(await settler.pending().count == taken)
        #expect(await settler.offer(root: root, path: "f0", settle: 1000), "one that is pending can be named again")
        await settler.forget(root: "root")
        #expect(await settler.offer(root: root, path: "new", settle: 1000))
    }

    @Test func roomIsWaitedFor() async throws {
        let settler = Settler()
        for name in ["a", "b"] { await settler.add(root: root, path: BytePath(name), settle: 0) }
        await settler.room(below: 3)
        let load = Task {
            await settler.room(below: 2)
            return await settler.load
        }
        // It could look now if it did not wait.
        for _ in 0..<100 { await Task.yield() }
        // They are gone; taking them frees capacity.
        var gone = 0
        while gone < 2 { gone += await settler.next().count }
        #expect(await load.value < 2)
        #expect(gone == 2)
        let stuck = Task { await settler.room(below: 0) }
        stuck.cancel()
        await stuck.value
        #expect(await settler.load == 0, "there was no room below that")
    }

    @Test("A file is pending until its receiver is done with it, and settling until its state is known")
    func pendingUntilSeenTo() async throws {
        let settler = Settler()
        #expect(await !settler.isPending("a", of: "root"))
        await settler.add(root: root, path: "a", settle: 1000)
        #expect(await settler.isPending("a", of: "root"))
        #expect(await settler.isSettling("a", of: "root"))
        #expect(await !settler.isPending("a", of: "other"))
        await settler.add(root: root, path: "a", settle: 0)
        #expect(await settler.next().count == 1)
        #expect(await settler.isPending("a", of: "root"))
        #expect(await !settler.isSettling("a", of: "root"))
        await settler.acknowledge()
        #expect(await !settler.isPending("a", of: "root"))
    }

    @Test("A file reported again while it is processed remains pending afterwards") func pendingTwice() async throws {
        let settler = Settler()
        await settler.add(root: root, path: "a", settle: 0)
        #expect(await settler.next().count == 1)
        await settler.add(root: root, path: "a", settle: 0)
        try await eventually("it waits to be fetched") { await !settler.isSettling("a", of: "root") }
        await settler.acknowledge()
        #expect(await settler.isPending("a", of: "root"))
        #expect(await settler.next().count == 1)
        await settler.acknowledge()
        #expect(await !settler.isPending("a", of: "root"))
    }

    @Test func whoIsWaitedForTakesNoRoom() async throws {
        let path = try folder.write("open.txt", "x")
        let writer = try Descriptor(path, O_WRONLY)
        let settler = Settler()
        await settler.add(root: root, path: "open.txt", settle: 0)
        try await eventually("its writer is waited for") {
            await settler.pending().map(\.waitingFor) == [.writer]
        }
        await settler.room(below: 1)
        _ = try writer.status()
    }
}
