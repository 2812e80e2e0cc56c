import Platform

/// A counter that rules draw numbers from (`docs/design/values.md`).
package struct CounterRecord: Sendable, Equatable {
    package let name: String
    /// The next number.
    package var next: Int64
    /// The highest number ever drawn; nil if none was.
    package var highest: Int64?
    /// When a number was last drawn, and by which job.
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
    /// A counter's state; nil if it was never drawn from or set.
    package func counter(_ name: String) throws -> CounterRecord? {
        try first("SELECT * FROM counter WHERE name = ?", [name], CounterRecord.init(row:))
    }

    /// All counters, by name.
    package func counters() throws -> [CounterRecord] {
        try all("SELECT * FROM counter ORDER BY name", [], CounterRecord.init(row:))
    }

    /// The next number, without drawing it.
    package func nextNumber(of name: String) throws -> Int64 { try counter(name)?.next ?? 1 }

    /// Draws the next number for a job. The number belongs to the job if the transaction commits, and is not used up if
    /// it rolls back: call this in the transaction that adds the job.
    ///
    /// - Throws: `Fault(.failed)` if the counter is exhausted.
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

    private static let counterUpsert = upsert("counter", key: ["name"], ["next", "highest", "drawn", "job"])

    package func setCounter(_ counter: CounterRecord) throws {
        try execute(
            Self.counterUpsert, [counter.name, counter.next, counter.highest, counter.drawn, counter.job])
    }
}

extension CounterRecord {
    init(row: any SQLRow) throws {
        name = try row["name"]
        next = try row["next"]
        highest = try row["highest"]
        drawn = try row["drawn"]
        job = try row["job"]
    }
}

extension Migrations {
    /// Counters of rules. A counter outlives the jobs that drew from it, which are pruned after a while.
    static let counters = """
        CREATE TABLE counter (
            name TEXT PRIMARY KEY, next INTEGER NOT NULL, highest INTEGER, drawn INTEGER, job TEXT) WITHOUT ROWID;
        """
}
