import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Adds one line to a file, exactly once; separate files record which steps have done so.
private struct Stamp: RuleAction {
    struct Intent: Codable, Sendable { var file: BytePath }

    static let declaration = ActionDeclaration(
        name: "stamp", summary: "Leaves a mark.", guarantee: .exactlyOnce, work: .disk, canUndo: true, parameters: [],
        provides: [ValueSpec("stamp.mark", "The mark.")], example: "stamp")

    let folder: BytePath
    /// Where the process is killed: `before` or `after` the effect, after the `undo`, or nowhere. With `gone` and
    /// `locked` undo fails, permanently or temporarily.
    let killed: String

    func intent(for input: StepInput) async throws -> Intent { Intent(file: input.file.absolute) }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        if killed == "before" { kill(getpid(), SIGKILL) }
        let log = try Descriptor(folder.appending("effects"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
        try log.write(Array("\(context.stepID) \(intent.file.nameText)\n".utf8), at: 0)
        _ = try Mover.create([], at: [mark(context)]) { _, _ in }
        if killed == "after" { kill(getpid(), SIGKILL) }
        return receipt(context)
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        try FileStatus.of(mark(context)) == nil ? .notDone : .done(receipt(context))
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard try FileStatus.of(mark(context)) != nil || context.resumesUndo else {
            throw Fault(.failed, "the mark is gone")
        }
        if killed == "gone" { throw Fault(.failed, "the file is gone", code: Fault.leftAlone) }
        if killed == "locked" { throw Fault(.failed, "it is locked") }
        try Durable.remove(mark(context))
        if killed == "undo" { kill(getpid(), SIGKILL) }
        return Receipt("took the mark back")
    }

    func summary(of intent: Intent) -> String { "stamp" }

    private func mark(_ context: StepContext) -> BytePath { folder.appending("mark-\(context.stepID)") }
    private func receipt(_ context: StepContext) -> Receipt {
        Receipt("stamped", values: ["stamp.mark": .text(context.stepID)])
    }
}

@Suite("Crashes at the worst moment", .timeLimit(.minutes(30)))
struct RunningCrashTests {
    static func bench(_ folder: BytePath, killed: String, _ script: Script = Script()) throws -> Bench {
        try Bench(
            folder, script,
            rules: """
                - rule: R
                  in: inbox
                  do: [ stamp, { probe: { name: next, text: "{{ stamp.mark }}" } } ]
                """,
            more: [ActionDefinition(Stamp.self) { _ in Stamp(folder: folder, killed: killed) }])
    }

    /// What the killed process does.
    static func live(_ folder: String, killed: String) async throws {
        let bench = try bench(BytePath(folder), killed: killed)
        try bench.write("inbox/x", "X")
        try await bench.process("x")
    }

    /// The next run: the effect exists once, the job finishes, and nothing is news.
    private func check(_ folder: TemporaryFolder) async throws {
        let script = Script()
        let bench = try Self.bench(folder.path, killed: "", script)
        let before = try await bench.onlyJob()
        #expect(try await bench.ledger.read { try $0.steps(of: before.id).first?.state } == .intended)
        try await bench.runner.start()
        await bench.runner.idle()
        let job = try await bench.onlyJob()
        #expect(job.id == before.id)
        #expect(job.state == .done)
        #expect(try folder.read("effects") == "\(job.id).0 x\n")
        #expect(script.lines == ["perform next x \(job.id).0"], "the receipt's values reach the next step")
        #expect(try await bench.see("x") == .known)
        let third = try Self.bench(folder.path, killed: "", script)
        try await third.runner.start()
        await third.runner.idle()
        #expect(try folder.read("effects") == "\(job.id).0 x\n")
    }

    @Test("Killed after the intent and before the effect: the effect happens once")
    func beforeEffect() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await RunningCrashTests.live(path, killed: "before")
        }
        #expect(try FileStatus.of(folder.path.appending("effects")) == nil)
        try await check(folder)
    }

    @Test("Killed after the effect and before the receipt: the effect is not repeated")
    func beforeReceipt() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await RunningCrashTests.live(path, killed: "after")
        }
        #expect(try !folder.read("effects").isEmpty)
        try await check(folder)
    }

    @Test("Killed before the job ran at all: it runs after the restart")
    func beforeIntent() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let bench = try RunningCrashTests.bench(BytePath(path), killed: "")
            try bench.write("inbox/x", "X")
            try await bench.see("x")
            kill(getpid(), SIGKILL)
        }
        let bench = try Self.bench(folder.path, killed: "")
        #expect(try await bench.see("x") == .known)
        try await bench.runner.start()
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .done)
        #expect(try folder.read("effects").split(separator: "\n").count == 1)
    }

    @Test("Begun steps are recovered before `start` returns, while the rest of the job may still run")
    func recoveredFirst() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await RunningCrashTests.live(path, killed: "after")
        }
        let bench = try Self.bench(folder.path, killed: "")
        try await bench.runner.setPaused(true)
        try await bench.runner.start()
        let job = try await bench.onlyJob()
        #expect(try await bench.ledger.read { try $0.steps(of: job.id).map(\.state) } == [.done, .pending])
        #expect(job.state == .ready)
    }

    /// A job whose undo was killed between its effect and the receipt.
    private func killedUndo(hidden: Bool = false) async throws -> TemporaryFolder {
        let folder = try TemporaryFolder("steward-crash")
        let bench = try Self.bench(folder.path, killed: "")
        if hidden { bench.hideNames() }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, hidden = hidden as Bool] in
            let bench = try RunningCrashTests.bench(BytePath(path), killed: "undo")
            if hidden { bench.hideNames() }
            _ = try await bench.executor.undo(try await bench.onlyJob().id)
        }
        return folder
    }

    @Test("An undo killed before it was recorded is completed at the next start")
    func undoing() async throws {
        let folder = try await killedUndo()
        let bench = try Self.bench(folder.path, killed: "")
        let states = { [ledger = bench.ledger] (job: JobRecord) in
            try await ledger.read { try $0.steps(of: job.id).map(\.state) }
        }
        let job = try await bench.onlyJob()
        #expect(try await states(job) == [.undoing, .undone])
        try await bench.runner.start()
        #expect(try await bench.onlyJob().state == .undone)
        #expect(try await states(job) == [.undone, .undone])
    }

    @Test("Traces of a hidden file are removed together with the end of its job, or neither happens")
    func forgetsWithItsEnd() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let bench = try Self.bench(folder.path, killed: "")
        bench.hideNames()
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        let script = """
            import sqlite3, sys
            ledger = sqlite3.connect(sys.argv[1])
            ledger.execute("CREATE TRIGGER stop BEFORE UPDATE OF hash ON job BEGIN SELECT RAISE(ABORT, 'stopped'); END")
            ledger.commit()
            """
        try runProgram(["python3", "-c", script, bench.ledger.file.text]).check()
        let job = try await bench.onlyJob()
        await #expect(throws: (any Error).self) { try await bench.executor.undo(job.id) }
        #expect(try await bench.onlyJob().state == .undoing, "it has not ended")
    }

    @Test("If its file's hidden name is unknown at that start, it is completed later")
    func undoingHidden() async throws {
        let folder = try await killedUndo(hidden: true)
        let bench = try Self.bench(folder.path, killed: "")
        bench.hideNames()
        bench.ledger.names.expect(in: "inbox")
        try await bench.runner.start()
        #expect(try await bench.ledger.read { try $0.jobsBeingUndone() }.count == 1)
        try bench.ledger.names.learn("inbox", "x")
        bench.ledger.names.setLearned("inbox")
        try await bench.runner.takeUp()
        // Its own retry may already be in progress, and is not waited for.
        try await waitUntil("it is undone") { try await bench.onlyJob().state == .undone }
        #expect(try await bench.ledger.read { try $0.jobsBeingUndone() }.isEmpty)
    }

    @Test(
        "A killed undo is abandoned if its file is gone, and kept if it can still be completed",
        arguments: ["gone", "locked"])
    func undoGivenUp(why: String) async throws {
        let folder = try await killedUndo()
        let bench = try Self.bench(folder.path, killed: why)
        try await bench.runner.start()
        let job = try await bench.onlyJob()
        #expect(job.state == .undoing && job.problem != nil && job.nextAttempt == nil, "it is not done any more")
        let states = try await bench.ledger.read { try $0.steps(of: job.id).map(\.state) }
        #expect(states == [why == "gone" ? .done : .undoing, .undone])
        #expect(try await bench.ledger.read { try $0.jobsBeingUndone() } == (why == "gone" ? [] : [job.id]))
    }

    @Test("A killed undo is completed by requesting it again")
    func undoneAgain() async throws {
        let folder = try await killedUndo()
        let bench = try Self.bench(folder.path, killed: "")
        #expect(try await bench.executor.undo(try await bench.onlyJob().id) == ["stamp: took the mark back"])
        #expect(try await bench.onlyJob().state == .undone)
    }

    @Test("An undo that cannot be done leaves the step done")
    func undoRefused() async throws {
        let folder = try TemporaryFolder("steward-crash")
        let bench = try Self.bench(folder.path, killed: "")
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        let job = try await bench.onlyJob()
        try Durable.remove(folder.path.appending("mark-\(job.id).0"))
        let fault = await #expect(throws: Fault.self) { try await bench.executor.undo(job.id) }
        #expect(fault?.message == "the mark is gone")
        #expect(try await bench.onlyJob().state == .undoing)
        #expect(try await bench.onlyJob().problem == "the mark is gone")
        #expect(try await bench.ledger.read { try $0.steps(of: job.id).map(\.state) } == [.done, .undone])
    }
}
