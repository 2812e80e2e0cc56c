import Foundation
import Ledger
import Platform

/// The values that are not read from a file but fixed when a job is planned: what a table holds, and numbers of counters.
/// From then on they are the job's, whatever the table says later and however often a step is tried.
package enum PlannedValues {
    /// The counters that a rule's templates name, by value: `counter:invoices@%Y` draws from `invoices@2026`.
    ///
    /// - Parameter arrival: when the file came, of which each period is told.
    package static func counters(of rule: Rule, arrival: Timestamp) -> [String: String] {
        var counters: [String: String] = [:]
        for step in rule.ownSteps {
            for value in step.valueNames {
                guard let name = CounterName(value: value) else { continue }
                counters[value] = name.counter(arrival: arrival, timeZone: step.arguments.timeZone)
            }
        }
        return counters
    }

    /// Whether a rule could draw from a counter of this name.
    package static func isCounter(_ name: String) -> Bool { CounterName.isName(name) }

    /// What the rule's look-ups give; a key that its table does not hold gives nothing.
    ///
    /// - Parameter values: those that keys are taken from.
    package static func lookups(of rule: Rule, in values: Values) -> Values {
        guard !rule.tables.isEmpty else { return [:] }
        var found: Values = [:]
        for step in rule.ownSteps {
            let names = step.valueNames.compactMap(LookupName.init)
            found.merge(lookups(names, rule.tables, in: values, step.arguments.timeZone)) { $1 }
        }
        return found
    }

    static func lookups(
        _ names: [LookupName], _ tables: [String: LookupTable], in values: Values, _ timeZone: Zone
    ) -> Values {
        var found: Values = [:]
        for name in names {
            guard let key = values[name.key] else { continue }
            found[name.value] = tables[name.table]?.value(name.column, of: key.shown(timeZone)).map { .text($0) }
        }
        return found
    }

    /// Draws a number of each counter for a job that has just been added, in the same transaction: the numbers are its own
    /// exactly where it is there, and never drawn again. A job that goes on with what a renamed file's job has begun keeps
    /// the numbers of that.
    static func draw(
        _ counters: [String: String], for job: JobRecord, in transaction: LedgerTransaction
    ) throws {
        guard !counters.isEmpty else { return }
        var job = job
        var values = try LedgerJSON.decode(Values.self, from: job.values)
        let counters = counters.filter { values[$0.key] == nil }
        var numbers: [String: Int64] = [:]
        for counter in Set(counters.values).sorted() {
            let number = try transaction.draw(counter, for: job.id)
            numbers[counter] = number
            try transaction.note(
                "counter", "\(counter) has given \(number)", job: job.id, place: job.place, path: job.path)
        }
        for (value, counter) in counters { values[value] = numbers[counter].map { .integer(Int($0)) } }
        job.values = try LedgerJSON.encode(values)
        try transaction.update(job)
    }

    /// The numbers that would be drawn next; draws nothing.
    ///
    /// - Parameter ledger: nil where there is none yet: then each counter begins.
    /// - Throws: what the ledger does.
    package static func preview(of rule: Rule, arrival: Timestamp, _ ledger: Ledger?) async throws -> Values {
        let counters = counters(of: rule, arrival: arrival)
        guard !counters.isEmpty else { return [:] }
        guard let ledger else { return counters.mapValues { _ in .integer(1) } }
        return try await ledger.read { transaction in
            try counters.mapValues { .integer(Int(try transaction.nextNumber(of: $0))) }
        }
    }
}
