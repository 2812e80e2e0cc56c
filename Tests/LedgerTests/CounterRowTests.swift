import Ledger
import Platform
import TestSupport
import Testing

@Suite("Counters in the ledger") struct CounterRowTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("A counter begins at one, and continues from a value that is set")
    func draws() async throws {
        let ledger = try Ledger.fresh(folder.path)
        #expect(try await ledger.read { try $0.counter("a") } == nil)
        #expect(try await ledger.read { try $0.nextNumber(of: "a") } == 1)
        #expect(try await ledger.write { try [$0.draw("a", for: "j1"), $0.draw("a", for: "j2")] } == [1, 2])
        try await ledger.write { transaction in
            var counter = try #require(try transaction.counter("a"))
            #expect(counter.highest == 2 && counter.job == "j2" && counter.drawn != nil)
            counter.next = 40
            try transaction.setCounter(counter)
        }
        #expect(try await ledger.write { try $0.draw("a", for: "j3") } == 40)
        #expect(try await ledger.write { try $0.draw("b", for: "j3") } == 1)
        #expect(try await ledger.read { try $0.counters().map(\.name) } == ["a", "b"])
    }

    @Test("A counter that was set back remembers its highest number")
    func highest() async throws {
        let ledger = try Ledger.fresh(folder.path)
        try await ledger.write { try $0.setCounter(CounterRecord(name: "a", next: 5, highest: 9)) }
        #expect(try await ledger.write { try $0.draw("a", for: "j") } == 5)
        #expect(try await ledger.read { try $0.counter("a")?.highest } == 9)
    }

    @Test("A counter at its maximum gives no number, and does not wrap around")
    func end() async throws {
        let ledger = try Ledger.fresh(folder.path)
        try await ledger.write { try $0.setCounter(CounterRecord(name: "a", next: .max)) }
        await #expect(throws: Fault.self) { try await ledger.write { try $0.draw("a", for: "j") } }
        #expect(try await ledger.read { try $0.nextNumber(of: "a") } == .max)
    }

    @Test("Counters survive closing the ledger")
    func reopened() async throws {
        let ledger = try Ledger.fresh(folder.path)
        _ = try await ledger.write { try $0.draw("a", for: "j") }
        try ledger.close()
        #expect(try await Ledger.fresh(folder.path).write { try $0.draw("a", for: "j") } == 2)
        let reading = try #require(try Ledger.openForReading(directory: folder.path))
        #expect(try await reading.read { try $0.nextNumber(of: "a") } == 3)
    }
}
