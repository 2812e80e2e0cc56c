import Ledger
import Platform
import Rules

/// A counter as commands show it.
package struct CounterLine: Codable, Sendable {
    package let name: String
    package let next: Int64
    /// The highest number issued; nil if none was.
    package let highest: Int64?
    /// When the last number was issued, and to which job.
    package let drawn: Timestamp?
    package let job: String?

    init(_ counter: CounterRecord) {
        name = counter.name
        next = counter.next
        highest = counter.highest
        drawn = counter.drawn
        job = counter.job
    }

    fileprivate var line: String {
        let last =
            drawn.map { ", the last number was given \($0)\(job.map { " to the job \($0.prefix(12))" } ?? "")" } ?? ""
        return "\(name)  next \(next)\(highest.map { ", highest \($0)" } ?? "")\(last)"
    }
}

/// `steward counters`: the next number of each counter, and the last one issued.
package struct ListCounters: Query {
    package static let name = "counters"

    package init() {}

    package func read(_ records: Records) async throws -> [CounterLine] {
        try await records.ledger?.read { try $0.counters() }.map(CounterLine.init) ?? []
    }

    package func lines(_ answer: [CounterLine]) -> [String] {
        answer.isEmpty ? ["no rule has drawn a number yet"] : answer.map(\.line)
    }
}

/// `steward counters set`: sets the next number (`docs/design/values.md`).
package struct SetCounter: Command {
    package static let name = "counter-set"
    /// `invoices`, or `invoices@2026`.
    private let counter: String
    /// The next number.
    private let next: Int64
    /// Allows numbers to be issued twice.
    private let isForced: Bool

    package init(_ counter: String, next: Int64, isForced: Bool) {
        (self.counter, self.next, self.isForced) = (counter, next, isForced)
    }

    /// Valid values for the next number.
    private static let numbers: ClosedRange<Int64> = 0...1_000_000_000_000_000

    package func run(in agent: AgentContext) async throws -> CounterLine {
        guard PlannedValues.isCounter(counter) else {
            throw Fault(
                .usage,
                "\"\(counter)\" is not a counter; a rule's `counter:invoices` is the counter invoices")
        }
        guard Self.numbers.contains(next) else {
            throw Fault(.usage, "a counter has values from \(Self.numbers.lowerBound) to \(Self.numbers.upperBound)")
        }
        return try await agent.ledger.write { transaction in
            var counter = try transaction.counter(counter) ?? CounterRecord(name: counter)
            if let highest = counter.highest, next <= highest, !isForced {
                throw Fault(
                    .usage,
                    "the counter \(counter.name) has used numbers up to \(highest); from \(next) on it would use some of "
                        + "them again. `--force` sets it anyway")
            }
            let before = counter.next
            counter.next = next
            try transaction.setCounter(counter)
            try transaction.note("counter", "\(counter.name) was set from \(before) to \(next)")
            return CounterLine(counter)
        }
    }

    package func lines(_ answer: CounterLine) -> [String] { ["the next number of \(answer.name) is \(answer.next)"] }
}
