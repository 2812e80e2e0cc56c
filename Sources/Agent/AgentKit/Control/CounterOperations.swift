import Ledger
import Platform
import Rules

/// What `steward counters set` asks for.
package struct CounterSetting: Codable, Sendable, Equatable {
    /// `invoices`, or `invoices@2026`.
    package let name: String
    /// The number that comes next.
    package let next: Int64
    /// Also where numbers would be given a second time.
    package let isForced: Bool

    package init(name: String, next: Int64, isForced: Bool) {
        self.name = name
        self.next = next
        self.isForced = isForced
    }
}

/// A counter as commands show it.
package struct CounterLine: Codable, Sendable {
    package let name: String
    package let next: Int64
    /// The highest number that it has given; nil for none.
    package let highest: Int64?
    /// When it gave the last one, and to which job.
    package let drawn: Timestamp?
    package let job: String?

    init(_ counter: CounterRecord) {
        name = counter.name
        next = counter.next
        highest = counter.highest
        drawn = counter.drawn
        job = counter.job
    }

    var line: String {
        let last =
            drawn.map { ", the last number was given \($0)\(job.map { " to the job \($0.prefix(12))" } ?? "")" } ?? ""
        return "\(name)  next \(next)\(highest.map { ", highest \($0)" } ?? "")\(last)"
    }
}

/// `steward counters`: the numbers that rules draw (`docs/design/values.md`).
extension Operations {
    /// What numbers may be set to.
    private static let numbers: ClosedRange<Int64> = 0...1_000_000_000_000_000

    /// All counters, from the ledger alone.
    ///
    /// - Parameter state: the folder of the ledger.
    /// - Throws: what the ledger does.
    package static func counters(state: BytePath) async throws -> ControlReply {
        let ledger = try Ledger.openForReading(directory: state)
        let found = try await ledger?.read { try $0.counters() }.map(CounterLine.init) ?? []
        return try ControlReply(
            found, lines: found.isEmpty ? ["no rule has drawn a number yet"] : found.map(\.line))
    }

    /// Sets the number that comes next.
    ///
    /// - Throws: `Fault(.usage)` for a name or a number that cannot be, and where a number would be given a second time
    ///   and nobody has said that it may be.
    package func setCounter(_ setting: CounterSetting) async throws -> ControlReply {
        let name = setting.name
        guard PlannedValues.isCounter(name) else {
            throw Fault(
                .usage,
                "\"\(name)\" is no counter; a rule names it as `counter:invoices`, which is the counter invoices")
        }
        guard Self.numbers.contains(setting.next) else {
            throw Fault(.usage, "a counter goes from \(Self.numbers.lowerBound) to \(Self.numbers.upperBound)")
        }
        let counter = try await core.ledger.write { transaction in
            var counter = try transaction.counter(name) ?? CounterRecord(name: name)
            if let highest = counter.highest, setting.next <= highest, !setting.isForced {
                throw Fault(
                    .usage,
                    "the counter \(name) has given numbers up to \(highest); from \(setting.next) on it would give some of "
                        + "them again. `--force` sets it all the same")
            }
            let before = counter.next
            counter.next = setting.next
            try transaction.setCounter(counter)
            try transaction.note("counter", "\(name) was set from \(before) to \(setting.next)")
            return counter
        }
        return try ControlReply(CounterLine(counter), lines: ["the next number of \(name) is \(counter.next)"])
    }
}
