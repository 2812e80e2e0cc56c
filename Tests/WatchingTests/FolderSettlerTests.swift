import Glibc
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Watching

@Suite("When a whole folder is at rest", .timeLimit(.minutes(30))) struct FolderSettlerTests {
    let folder: TemporaryFolder
    let calls = Calls()

    /// The settler's calls, in order, and the answers it got.
    final class Calls: Sendable {
        private let said = Mutex<[BytePath]>([])
        private let refusals = Mutex(0)

        var paths: [BytePath] { said.withLock { $0 } }

        func refuse(_ times: Int) { refusals.withLock { $0 = times } }

        func note(_ path: BytePath) -> Bool {
            said.withLock { $0.append(path) }
            return refusals.withLock { left in
                left -= 1
                return left < 0
            }
        }
    }

    init() throws { folder = try TemporaryFolder("folders") }

    private func settler(_ seconds: Double = 0.1, wants: Bool = true) -> FolderSettler {
        FolderSettler(WatchRoot(name: "root", path: folder.path)) { _, _ in
            wants ? seconds : nil
        } handle: { [calls] path, _ in
            calls.note(path) ? .done : .again
        }
    }

    @Test("It is reported once, however many events there are") func once() async throws {
        let settler = settler()
        for number in 0..<20 {
            try folder.write(BytePath("a/deep/\(number)"), "text")
            await settler.touch(["a", "a/deep"])
        }
        try await eventually("both are told") { Set(calls.paths) == ["a", "a/deep"] }
        try await eventually("nothing is left") { await settler.isIdle }
        #expect(calls.paths.count == 2)
    }

    @Test("One that nobody wants is not waited for") func unwanted() async throws {
        let settler = settler(wants: false)
        try folder.write("a/1", "text")
        await settler.touch(["a"])
        try await eventually("nothing is left") { await settler.isIdle }
        #expect(calls.paths.isEmpty)
    }

    @Test("One that is gone, or is now a file, is reported as well") func gone() async throws {
        let settler = settler()
        try folder.write("file", "text")
        await settler.touch(["nowhere", "file"])
        try await eventually("both are told") { Set(calls.paths) == ["nowhere", "file"] }
    }

    @Test("A file inside that is open for writing is waited for, at any depth") func writer() async throws {
        let settler = settler()
        try folder.write("a/deep/1", "text")
        var writer: Descriptor? = try Descriptor(folder.path.appending("a/deep/1"), O_WRONLY)
        await settler.touch(["a"])
        try await eventually("it waits") { await settler.pending().first?.waitingFor == .writer }
        #expect(calls.paths.isEmpty)
        try writer?.write(Array("more".utf8), at: 4)
        writer = nil
        try await eventually("it is told") { calls.paths == ["a"] }
    }

    @Test("A download filling one may never continue: it is set aside until something happens there")
    func download() async throws {
        let settler = settler()
        try folder.write("a/film.mkv.part", "half")
        await settler.touch(["a"])
        try await eventually("it waits") { await settler.pending().first?.waitingFor == .download }
        try await eventually("nobody waits for it") { await settler.isIdle }
        try Durable.remove(folder.path.appending("a/film.mkv.part"))
        #expect(calls.paths.isEmpty)
        await settler.touch(["a"])
        try await eventually("it is told") { calls.paths == ["a"] }
        try await eventually("nothing is left") { await settler.pending().isEmpty }
    }

    @Test("Postponed folders are set aside, and woken afterwards; those nobody waits for stay so")
    func later() async throws {
        let settler = FolderSettler(WatchRoot(name: "root", path: folder.path)) { _, _ in
            0.1
        } handle: { [calls] path, _ in
            calls.note(path) ? .done : .later(.jobs)
        }
        calls.refuse(1)
        try folder.write("a/1", "text")
        try folder.write("b/1", "text")
        await settler.touch(["a"])
        try await eventually("it is put aside") { await settler.pending().first?.waitingFor == .jobs }
        #expect(await settler.isIdle)
        await settler.wake(["a", "b"])
        try await eventually("it is told once more") { calls.paths == ["a", "a"] }
        try await eventually("nothing is left") { await settler.pending().isEmpty }
    }

    @Test(
        "An unreadable part is set aside, and reported",
        .enabled(if: geteuid() != 0, "nothing is closed to root")) func closed()
        async throws
    {
        let settler = settler()
        try folder.write("a/deep/1", "text")
        chmod(folder.path.appending("a/deep").text, 0)
        await settler.touch(["a"])
        try await eventually("it is put aside") { await settler.pending().first?.waitingFor == .readable }
        #expect(await settler.isIdle)
        chmod(folder.path.appending("a/deep").text, 0o755)
        await settler.touch(["a"])
        try await eventually("it is told") { calls.paths == ["a"] }
    }

    @Test("If it could not be processed, it is reported again") func again() async throws {
        calls.refuse(2)
        let settler = settler()
        try folder.write("a/1", "text")
        await settler.touch(["a"])
        try await eventually("it is told until it was dealt with") { calls.paths == ["a", "a", "a"] }
        try await eventually("nothing is left") { await settler.isIdle }
    }

    @Test("Changes during the examination restart it: a long settle time is waited for, and can be ended")
    func stopped() async throws {
        let settler = settler(3_600)
        try folder.write("a/1", "text")
        await settler.touch(["a"])
        try await eventually("it has been looked at") { await settler.pending().count == 1 }
        await settler.stop()
        #expect(await settler.isIdle && calls.paths.isEmpty)
    }
}
