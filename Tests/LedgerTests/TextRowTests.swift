import Platform
import Testing

@testable import Ledger

@Suite("Texts referenced by intents")
struct TextRowTests {
    private let ledger: Ledger
    private let step = StepRecord(job: "j", number: 0, action: "a", arguments: "{}", repeatSafe: false)
    private let other = StepRecord(job: "k", number: 0, action: "a", arguments: "{}", repeatSafe: false)

    init() throws { ledger = try Ledger.inMemory() }

    private func text(_ text: String, _ use: KeptText.Use = .perform) -> KeptText {
        KeptText(hash: Sample.hash(text), text: text, use: use)
    }

    private func begin(_ step: StepRecord, _ texts: KeptText...) async throws {
        try await ledger.write { transaction in
            _ = try transaction.addJob(Sample.job(step.job), steps: [step])
            try transaction.setIntent(step, "{}", texts: texts)
        }
    }

    private func texts(_ job: String) async throws -> Set<String> {
        Set(try await ledger.read { try $0.texts(ofJob: job) }.values)
    }

    private func count() async throws -> Int? { try await ledger.read { try $0.value("SELECT COUNT(*) FROM text") } }

    @Test("Are stored with the intent, each once, and only for its own job")
    func kept() async throws {
        try await begin(step, text("one"), text("two", .undo))
        try await begin(other, text("two"))
        #expect(try await texts("j") == ["one", "two"])
        #expect(try await texts("k") == ["two"])
        #expect(try await ledger.read { try $0.texts(ofJob: "j")[Sample.hash("one")] } == "one")
        #expect(try await count() == 2)
    }

    @Test("Are removed with the receipt, except those undo needs, which are removed with undo")
    func done() async throws {
        try await begin(step, text("one"), text("two", .undo))
        try await ledger.write { try $0.setReceipt(step, "{}") }
        #expect(try await texts("j") == ["two"])
        try await ledger.write { try $0.setReceipt(step, "{}", state: .undone) }
        #expect(try await texts("j") == [])
        #expect(try await count() == 0)
    }

    @Test("Stay while another step references them")
    func shared() async throws {
        try await begin(step, text("one"))
        try await begin(other, text("one"))
        try await ledger.write { try $0.setReceipt(step, "{}") }
        #expect(try await texts("j") == [])
        #expect(try await texts("k") == ["one"])
        #expect(try await count() == 1)
    }

    @Test("Are removed when the intent is withdrawn, to be decided again")
    func cleared() async throws {
        try await begin(step, text("one"), text("two", .undo))
        try await ledger.write { try $0.clearIntent(step) }
        #expect(try await count() == 0)
    }

    @Test("Are removed with the pruned job, and those of a block with the block")
    func pruned() async throws {
        try await begin(step, text("two", .undo))
        let block = KeptBlockRecord(note: "/n.md", step: step.id, token: "a", request: "{}")
        try await ledger.write { transaction in
            try transaction.setReceipt(step, "{}")
            try transaction.beginKeptBlock(block, texts: [text("two", .undo), text("three")])
            var job = try #require(try transaction.job("j"))
            job.state = .done
            try transaction.update(job)
        }
        #expect(try await ledger.read { try $0.texts(ofBlock: step.id).count } == 2)
        let future = Timestamp.now().adding(seconds: 3600)
        try await ledger.write { transaction in
            var late = Sample.write("/n.md", step: step.id)
            late.blocks = [NoteBlockRecord(step: step.id, token: "a")]
            _ = try transaction.beginNoteWrite(late)
        }
        #expect(try await ledger.prune(before: future) == 1)
        #expect(try await texts("j") == [])
        #expect(try await count() == 2, "the block is remembered while a write holds it")
        try await ledger.write { try $0.dropKeptBlock("/n.md", step: step.id) }
        #expect(try await count() == 0)
    }

    @Test("Are removed with a block whose write is voided")
    func void() async throws {
        let block = KeptBlockRecord(note: "/n.md", step: step.id, token: "a", request: "{}")
        try await ledger.write { transaction in
            try transaction.beginKeptBlock(block, texts: [text("one")])
            try transaction.voidNoteWrite(try transaction.beginNoteWrite(Sample.write("/n.md", step: step.id)))
        }
        #expect(try await count() == 0)
    }
}
