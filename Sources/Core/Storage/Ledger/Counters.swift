import GRDB
import Platform

/// A counter of which rules draw numbers (`docs/design/values.md`).
package struct CounterRecord: Sendable, Equatable {
    package let name: String
    /// The number that comes next.
    package var next: Int64
    /// The highest number that it ever gave; nil where it has given none.
    package var highest: Int64?
    /// When it last gave one, and to which job.
    package var drawn: Timestamp?
    package var job: String?

    package init(
        name: String, next: Int64 = 1, highest: Int64? = nil, drawn: Timestamp? = nil, job: String? = nil
    ) {
        self.name = name
        self.next = next
        self.highest = highest
        self.drawn = drawn
        self.job = job
    }
}

extension LedgerTransaction {
    /// A counter as it stands; nil where nothing has ever been drawn from it and nobody has set it.
    package func counter(_ name: String) throws -> CounterRecord? {
        guard try hasCounters() else { return nil }
        return try first("SELECT * FROM counter WHERE name = ?", [name], CounterRecord.init(row:))
    }

    /// All of them, by name.
    package func counters() throws -> [CounterRecord] {
        guard try hasCounters() else { return [] }
        return try all("SELECT * FROM counter ORDER BY name", [], CounterRecord.init(row:))
    }

    /// A command may read a ledger that only an older agent has opened.
    private func hasCounters() throws -> Bool { try db.tableExists("counter") }

    /// The number that would come next. Draws nothing.
    package func nextNumber(of name: String) throws -> Int64 { try counter(name)?.next ?? 1 }

    /// Draws the next number for a job. It is the job's for good where the transaction is committed, and nobody's where
    /// it is not: call it in the transaction that adds the job.
    ///
    /// - Throws: `Fault(.failed)` where the counter has come to its end.
    package func draw(_ name: String, for job: String) throws -> Int64 {
        var counter = try self.counter(name) ?? CounterRecord(name: name)
        let number = counter.next
        guard number < .max else { throw Fault(.failed, "the counter \(name) has come to its end at \(number)") }
        counter.next = number + 1
        counter.highest = max(number, counter.highest ?? number)
        counter.drawn = .now()
        counter.job = job
        try setCounter(counter)
        return number
    }

    package func setCounter(_ counter: CounterRecord) throws {
        try execute(
            sql: "INSERT OR REPLACE INTO counter (name, next, highest, drawn, job) VALUES (?, ?, ?, ?, ?)",
            arguments: [counter.name, counter.next, counter.highest, counter.drawn?.nanoseconds, counter.job])
    }
}

extension CounterRecord {
    init(row: Row) {
        name = row["name"]
        next = row["next"]
        highest = row["highest"]
        drawn = (row["drawn"] as Int64?).map(Timestamp.init(nanoseconds:))
        job = row["job"]
    }
}

extension Migrations {
    /// What rules count. A counter outlives the jobs that drew from it: they are forgotten after a while.
    static let counters = """
        CREATE TABLE counter (
            name TEXT PRIMARY KEY, next INTEGER NOT NULL, highest INTEGER, drawn INTEGER, job TEXT) WITHOUT ROWID;
        """
}
