import Foundation
import Glibc
import Ledger
import Logging
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Interrupted moves into quarantine", .timeLimit(.minutes(30)))
struct RunningQuarantineTests {
    private let folder: TemporaryFolder
    private let script = Script()
    private let log = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init() throws { folder = try TemporaryFolder() }

    // MARK: To another file system

    /// A quarantine folder on another file system than the places.
    private func elsewhere() throws -> TemporaryFolder {
        let far: TemporaryFolder
        do {
            far = try TemporaryFolder("steward-far", beneath: "/dev/shm")
        } catch { try Test.cancel("no /dev/shm") }
        guard try FileStatus.of(far.path)?.device != FileStatus.of(folder.path)?.device else {
            try Test.cancel("/dev/shm is no other file system")
        }
        return far
    }

    static func refusing(_ folder: BytePath, _ far: BytePath) throws -> Bench {
        let script = Script()
        script.decide("a") { _ in throw Fault(.refused, "not a comic") }
        return try Bench(
            folder, script, rules: "- { rule: R, in: inbox, do: { probe: { name: a } } }", quarantine: far)
    }

    private func killed(at point: String, _ far: TemporaryFolder) async {
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [folder = folder.path.text as String, far = far.path.text as String, point = point as String] in
            setenv("STEWARD_FAULT", point, 1)
            let bench = try RunningQuarantineTests.refusing(BytePath(folder), BytePath(far))
            try bench.write("inbox/x", "X")
            try await bench.process("x")
        }
    }

    @Test(
        "Once the copy has its name, only the copy is left, and the file is refused once",
        arguments: ["renamed:1", "renamed:2", "removed:1"])
    func copied(point: String) async throws {
        let far = try elsewhere()
        await killed(at: point, far)
        let bench = try Self.refusing(folder.path, far.path)
        try await bench.quarantine.recover(log)
        #expect(try listDirectory(bench.path("inbox")).isEmpty)
        let held = try await bench.ledger.read { try $0.quarantine() }
        #expect(try held.map { try Descriptor($0.stored).readAll() } == [Array("X".utf8)])
        #expect(try await bench.see("x") == .known)
        try await bench.runner.start()
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .refused)
        #expect(try await bench.ledger.read { try $0.staged() }.isEmpty)
    }

    @Test("Another file that takes the name meanwhile stays, and is news")
    func another() async throws {
        let far = try elsewhere()
        await killed(at: "renamed:1", far)
        let bench = try Self.refusing(folder.path, far.path)
        try bench.write("inbox/x", "better")
        try await bench.quarantine.recover(log)
        #expect(try bench.read("inbox/x") == "better")
        let held = try await bench.ledger.read { try $0.quarantine() }
        #expect(try held.map { try Descriptor($0.stored).readAll() } == [Array("X".utf8)])
        #expect(Bench.rules(try await bench.see("x")) == ["R"])
    }

    @Test("No temporary file stays recorded of a file that went there and came back")
    func staged() async throws {
        let far = try elsewhere()
        let bench = try Self.refusing(folder.path, far.path)
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(try await bench.ledger.read { try $0.staged() }.isEmpty)
        let held = try #require(try await bench.ledger.read { try $0.quarantine() }.first)
        _ = try await bench.quarantine.putBack(held)
        #expect(try bench.read("inbox/x") == "X")
        #expect(try await bench.ledger.read { try $0.staged() }.isEmpty)
    }

    // MARK: What follows

    private static let following = """
        - rule: R
          in: inbox
          refused: quarantine
          do: [{ probe: { name: a } }]
          on-failure: [{ probe: { name: f, text: "{{ failure.step }}: {{ failure.message }}" } }]
        """

    private func bench() throws -> Bench { try Bench(folder.path, script, rules: Self.following) }

    /// Leaves a job whose file is being moved, according to the ledger.
    private func begin() async throws {
        let bench = try bench()
        try bench.write("inbox/x", "X")
        try await bench.see("x")
        let job = try await bench.onlyJob()
        let id = String(job.id.prefix(12))
        let record = QuarantineRecord(
            id: id, job: job.id, place: "inbox", path: "x", root: bench.path("inbox"),
            stored: bench.path(BytePath("quarantine/day/\(id)/x")), reason: "not a comic")
        try await bench.ledger.write { try $0.setQuarantine(record) }
    }

    @Test("After a refusal the rule's `on-failure` runs once the file is in quarantine")
    func followed() async throws {
        let bench = try bench()
        script.decide("a") { _ in throw Fault(.refused, "not a comic") }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(script.lines == ["perform f x probe: not a comic"])
        #expect(try await bench.jobs().map(\.state) == [.refused, .done])
        #expect(try await bench.ledger.read { try $0.quarantine() }.count == 1)
    }

    @Test("It also runs if the next start finds the file on its way")
    func followedLater() async throws {
        try await begin()
        let next = try bench()
        try await next.quarantine.recover(log)
        try await next.runner.start()
        await next.runner.idle()
        #expect(script.lines == ["perform f x probe: not a comic"])
        #expect(try await next.jobs().map(\.state) == [.refused, .done])
    }

    @Test("And if the file could be quarantined only when its place was back, in the same run")
    func followedWhenBack() async throws {
        try await begin()
        let next = try bench()
        let (place, aside) = (next.path("inbox"), next.path("aside"))
        #expect(rename(place.text, aside.text) == 0)
        try await next.quarantine.recover(log)
        try await next.runner.setPaused(true)
        try await next.runner.start()
        #expect(rename(aside.text, place.text) == 0)
        try await next.quarantine.recover(log, again: true)
        try await next.runner.setPaused(false)
        await next.runner.idle()
        #expect(script.lines == ["perform f x probe: not a comic"])
        #expect(try await next.jobs().map(\.state) == [.refused, .done])
    }
}
