import Foundation
import Ledger
import Platform

/// Values fixed when a job is planned: lookups in tables and numbers from counters. They belong to the job from then
/// on, even if the table changes or a step is retried.
package enum PlannedValues {
    /// The counters used by a rule's templates, by value: `counter:invoices@%Y` draws from `invoices@2026`.
    ///
    /// - Parameter arrival: the file's arrival time, which determines the period.
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

    /// Whether a rule could have a counter with this name.
    package static func isCounter(_ name: String) -> Bool { CounterName.isName(name) }

    /// The results of the rule's lookups; a key missing from its table gives nothing.
    ///
    /// - Parameter values: the values that keys are taken from.
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

    /// Draws a number from each counter for a job that has just been added, in the same transaction, so that a number
    /// is used exactly if its job exists, and never drawn again. A job that continues the job of a renamed file keeps
    /// its numbers.
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
    /// - Parameter ledger: nil if there is none yet: each counter then begins at 1.
    /// - Throws: errors of the ledger.
    package static func preview(of rule: Rule, arrival: Timestamp, _ ledger: Ledger?) async throws -> Values {
        let counters = counters(of: rule, arrival: arrival)
        guard !counters.isEmpty else { return [:] }
        guard let ledger else { return counters.mapValues { _ in .integer(1) } }
        return try await ledger.read { transaction in
            try counters.mapValues { .integer(Int(try transaction.nextNumber(of: $0))) }
        }
    }
}
