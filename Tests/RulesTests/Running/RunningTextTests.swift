import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// Writes a long text in place of another; undo restores the other.
private struct Scribe: RuleAction {
    struct Intent: Codable, Sendable {
        let file: BytePath
        let old: IntentText
        let new: IntentText
        let short: IntentText
    }

    static let declaration = ActionDeclaration(
        name: "scribe", summary: "Writes a text.", guarantee: .exactlyOnce, work: .disk, canUndo: true, parameters: [],
        provides: [ValueSpec("scribe.text", "The text.")], example: "scribe")

    static let old = String(repeating: "The old text. ", count: 100)
    static let new = String(repeating: "The new text. ", count: 100)

    let folder: BytePath
    /// Where the process is killed: `deed` or `undo`, before its effect, or nowhere.
    let killed: String

    private var file: BytePath { folder.appending("text") }

    func intent(for input: StepInput) async throws -> Intent {
        Intent(
            file: input.file.absolute, old: IntentText(Self.old, isForUndo: true), new: IntentText(Self.new),
            short: IntentText("short"))
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        if killed == "deed" { kill(getpid(), SIGKILL) }
        return try write(intent)
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery { .done(try write(intent)) }

    private func write(_ intent: Intent) throws -> Receipt {
        let text = try intent.new.text() + intent.short.text()
        try Durable.replaceOwn(file, with: Array(text.utf8))
        return Receipt("wrote", values: ["scribe.text": .text(text)])
    }

    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        if killed == "undo" { kill(getpid(), SIGKILL) }
        try Durable.replaceOwn(file, with: Array(try intent.old.text().utf8))
        if (try? intent.new.text()) != nil { Issue.record("the deed alone needed it, and it is kept") }
        return Receipt("wrote it back")
    }

    func summary(of intent: Intent) -> String { "write \(intent.new.shown)" }
}

@Suite("Long texts of intents", .timeLimit(.minutes(30)))
struct RunningTextTests {
    static func bench(_ folder: BytePath, killed: String = "", _ script: Script = Script()) throws -> Bench {
        try Bench(
            folder, script,
            rules: """
                - rule: R
                  in: inbox
                  do: [ scribe, { probe: { name: next, text: "{{ scribe.text }}" } } ]
                """,
            more: [ActionDefinition(Scribe.self) { _ in Scribe(folder: folder, killed: killed) }])
    }

    static func process(_ folder: String, killed: String) async throws {
        let bench = try bench(BytePath(folder), killed: killed)
        try bench.write("inbox/x", "X")
        try await bench.process("x")
    }

    private static func kept(_ transaction: LedgerTransaction) throws -> [String] {
        try transaction.jobs(of: "inbox", "x").flatMap { try transaction.texts(ofJob: $0.id).values.sorted() }
    }

    private func kept(_ bench: Bench) async throws -> [String] { try await bench.ledger.read(Self.kept) }

    @Test("The ledger stores an intent that references its long texts; those for undo stay until it is undone")
    func named() async throws {
        let folder = try TemporaryFolder("steward-texts")
        let script = Script()
        let bench = try Self.bench(folder.path, script)
        script.perform("next") { _, _ in
            let kept = try? bench.ledger.readBlocking(Self.kept)
            #expect(kept == [Scribe.old])
            return Receipt("looked")
        }
        try bench.write("inbox/x", "X")
        try await bench.process("x")
        #expect(try folder.read("text") == Scribe.new + "short")
        #expect(script.lines.last?.hasSuffix(Scribe.new + "short") == true, "a later step has the whole value")
        let job = try await bench.onlyJob()
        #expect(job.state == .done && job.values == "{}")
        let steps = try await bench.ledger.read { try $0.steps(of: job.id) }
        let intent = try #require(steps[0].intent)
        #expect(
            intent.utf8.count < 500 && intent.contains("short")
                && intent.contains("\(ContentHash(of: Scribe.new.utf8))"))
        #expect(steps[0].receipt.map { $0.utf8.count < 100 } == true)
        #expect(try await kept(bench) == [Scribe.old])
        _ = try await bench.executor.undo(job.id)
        #expect(try folder.read("text") == Scribe.old)
        #expect(try await kept(bench) == [])
    }

    @Test("Killed between intent and effect, the next run has the texts")
    func killed() async throws {
        let folder = try TemporaryFolder("steward-texts")
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await RunningTextTests.process(path, killed: "deed")
        }
        let bench = try Self.bench(folder.path)
        #expect(try await kept(bench) == [Scribe.new, Scribe.old])
        try await bench.runner.start()
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .done)
        #expect(try folder.read("text") == Scribe.new + "short")
        #expect(try await kept(bench) == [Scribe.old])
    }

    @Test("Killed in the middle of an undo, the next run has what it needs")
    func killedUndo() async throws {
        let folder = try TemporaryFolder("steward-texts")
        let path: String = folder.path.text
        try await Self.process(path, killed: "")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let bench = try RunningTextTests.bench(BytePath(path), killed: "undo")
            _ = try await bench.executor.undo(try await bench.onlyJob().id)
        }
        let bench = try Self.bench(folder.path)
        try await bench.runner.start()
        await bench.runner.idle()
        #expect(try await bench.onlyJob().state == .undone)
        #expect(try folder.read("text") == Scribe.old)
        #expect(try await kept(bench) == [])
    }
}
