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
        try first("SELECT * FROM counter WHERE name = ?", [name], CounterRecord.init(row:))
    }

    /// All of them, by name.
    package func counters() throws -> [CounterRecord] {
        try all("SELECT * FROM counter ORDER BY name", [], CounterRecord.init(row:))
    }

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
    /// What rules count. A counter outlives the jobs that drew from it: they are forgotten after a while.
    static let counters = """
        CREATE TABLE counter (
            name TEXT PRIMARY KEY, next INTEGER NOT NULL, highest INTEGER, drawn INTEGER, job TEXT) WITHOUT ROWID;
        """
}
