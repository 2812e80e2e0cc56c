import Foundation
import Ledger
import Platform
import Rules
import Synchronization
import TestSupport
import Testing

/// Counts how often it is created.
private struct Counted: RuleAction {
    struct Intent: Codable, Sendable {}

    final class Count: Sendable {
        private let number = Mutex(0)
        var all: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    static let declaration = ActionDeclaration(
        name: "counted", summary: "Does nothing.", guarantee: .exactlyOnce, work: .disk, canUndo: true,
        parameters: [ParameterSpec("text", .template, default: "", "What to say.")], example: "counted")

    func intent(for input: StepInput) async throws -> Intent { Intent() }
    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt { Receipt("did nothing") }
    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery { .notDone }
    func undo(_ intent: Intent, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt { receipt }
    func summary(of intent: Intent) -> String { "nothing" }
}

@Suite("Actions")
struct RunningMadeOnceTests {
    private static func rule(_ text: String) -> String {
        """
        - rule: R
          in: inbox
          do: [ { counted: { text: "\(text) {{ file.name }}" } } ]
        """
    }

    private func bench(_ folder: TemporaryFolder, _ text: String, _ count: Counted.Count) throws -> Bench {
        try Bench(
            folder.path, rules: Self.rule(text),
            more: [
                ActionDefinition(Counted.self) { _ in
                    count.add()
                    return Counted()
                }
            ])
    }

    @Test("Are created once, when rules are loaded, for all files and for undo")
    func once() async throws {
        let folder = try TemporaryFolder("steward-once")
        let count = Counted.Count()
        let bench = try bench(folder, "one", count)
        #expect(count.all == 1)
        for name in ["a", "b", "c"].map({ BytePath($0) }) {
            try bench.write(BytePath("inbox").appending(name), name.text)
            try await bench.process(name)
        }
        for job in try await bench.jobs() {
            #expect(job.state == .done)
            _ = try await bench.executor.undo(job.id)
        }
        #expect(count.all == 1)
        try bench.setRules(Self.rule("two"))
        #expect(count.all == 2)
    }

    @Test("Of the rule in force are used for jobs planned by an earlier version of it")
    func earlier() async throws {
        let folder = try TemporaryFolder("steward-once")
        do {
            let first = try bench(folder, "one", Counted.Count())
            for name in (1...20).map({ BytePath("f\($0)") }) {
                try first.write(BytePath("inbox").appending(name), name.text)
                try await first.see(name)
            }
        }
        let count = Counted.Count()
        let next = try bench(folder, "two", count)
        #expect(count.all == 1)
        try await next.runner.start()
        await next.runner.idle()
        #expect(try await next.jobs().map(\.state) == Array(repeating: .done, count: 20))
        #expect(count.all == 1)
    }
}
