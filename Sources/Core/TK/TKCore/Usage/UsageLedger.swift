import Foundation
import GRDB
import Platform
import SQLiteFile

/// The cost of calls to models: one row per call in `~/.tk/usage.sqlite`, which several processes may use at once
/// (docs/design/advisors.md, "Cost").
///
/// A call is recorded as started before it is sent, so that a process that dies during it leaves a trace: its outcome
/// then counts as unknown, and its estimated cost counts towards the budget.
public final class UsageLedger: Sendable {
    private let path: BytePath
    private let pool: DatabasePool
    private let threads: BlockingPool
    private let process: String
    private let budget: Cost?
    private let timeZone: Zone
    private let clock: @Sendable () -> Timestamp
    /// Prices of calls.
    public let prices: ModelTable

    private init(
        _ path: BytePath, _ pool: DatabasePool, _ threads: BlockingPool, _ process: String, _ prices: ModelTable,
        _ budget: Cost?, _ timeZone: Zone, _ clock: @escaping @Sendable () -> Timestamp
    ) {
        (self.path, self.pool, self.threads, self.process) = (path, pool, threads, process)
        (self.prices, self.budget, self.timeZone, self.clock) = (prices, budget, timeZone, clock)
    }

    /// An opened ledger, with messages for a person about its state.
    package struct Opened: Sendable {
        package let ledger: UsageLedger
        /// Not empty if a corrupt database was set aside.
        package let notices: [String]
    }

    /// - Parameters:
    ///   - budget: for a calendar month of `timeZone`; nil for none.
    ///   - process: the process that makes the calls; by default this one.
    package static func open(
        _ path: BytePath, prices: ModelTable, budget: Cost?, timeZone: Zone, process: String? = nil,
        clock: @escaping @Sendable () -> Timestamp = Timestamp.now
    ) async throws -> Opened {
        let threads = BlockingPool("usage")
        return try await threads.run {
            let opened = try TKFile.open(
                SQLiteFile(
                    path, of: "the usage", migrator: UsageSchema.migrator,
                    whenCorrupt: .setAside(LossRegistry([path.parent]))), now: clock())
            let ledger = UsageLedger(
                path, opened.pool, threads, try process ?? ProcessIdentity.current(), prices, budget, timeZone, clock)
            return Opened(ledger: ledger, notices: opened.notices)
        }
    }

    /// Closes the database; later calls fail.
    public func close() async throws {
        try await work("close the usage") { try $0.close() }
    }

    /// Throws if a call of this cost would exceed the month's budget.
    ///
    /// - Returns: the state before the call; its ``BudgetState/warning`` is for display.
    public func allow(estimate: Cost?) async throws -> BudgetState {
        let state = try await budgetState()
        try state.allow(estimate)
        return state
    }

    /// How much of this month's budget is spent.
    public func budgetState() async throws -> BudgetState {
        try await write("read the usage") { db in try self.state(db) }
    }

    /// Records that a call is about to be sent, if the budget allows it; atomically, so that several processes cannot
    /// exceed the budget together.
    ///
    /// - Returns: the row, for ``finish(_:provider:model:usage:)``, and the budget's state before the call.
    public func begin(
        provider: String, model: String, purpose: String, estimate: Cost?
    ) async throws -> (id: Int64, state: BudgetState) {
        try await write("record a call") { db in
            let state = try self.state(db)
            try state.allow(estimate)
            try db.execute(
                sql: """
                    INSERT INTO call (started, process, provider, model, purpose, state, estimate)
                    VALUES (?, ?, ?, ?, ?, 'started', ?)
                    """,
                arguments: [
                    self.clock().nanoseconds, self.process, provider, model, purpose, estimate?.nanodollars,
                ])
            return (db.lastInsertedRowID, state)
        }
    }

    /// Records the answer: the provider, which may be a fallback, and the token counts.
    ///
    /// - Parameter usage: nil if the server did not report it.
    public func finish(_ id: Int64, provider: String, model: String, usage: LLMUsage?) async throws {
        let cost = usage.flatMap { prices.cost(provider: provider, model: model, $0) }
        let counted = usage ?? LLMUsage()
        try await write("record what a call cost") { db in
            try db.execute(
                sql: """
                    UPDATE call SET state = 'answered', finished = ?, provider = ?, model = ?, input = ?, output = ?,
                        cache_read = ?, cache_write = ?, cost = ? WHERE id = ?
                    """,
                arguments: [
                    self.clock().nanoseconds, provider, model, counted.inputTokens, counted.outputTokens,
                    counted.cacheReadTokens, counted.cacheWriteTokens, cost?.nanodollars, id,
                ])
        }
    }

    /// Records a failed call.
    ///
    /// - Parameter mayBeBilled: false if the server refused it or was never reached.
    public func fail(_ id: Int64, mayBeBilled: Bool) async throws {
        try await write("record a failed call") { db in
            try db.execute(
                sql: "UPDATE call SET state = ?, finished = ?, cost = ? WHERE id = ?",
                arguments: [mayBeBilled ? "unknown" : "failed", self.clock().nanoseconds, mayBeBilled ? nil : 0, id])
        }
    }

    /// A summary of the calls that started in a time range, sorted by key.
    ///
    /// - Parameters:
    ///   - start: seconds since 1970; nil for the beginning.
    ///   - end: exclusive.
    public func summary(by grouping: UsageGrouping, from start: Date? = nil, to end: Date? = nil) async throws
        -> [UsageSummary]
    {
        return try await write("read the usage") { db in
            try self.sweep(db)
            var groups: [String: UsageSummary] = [:]
            let rows = try Row.fetchCursor(
                db, sql: "SELECT * FROM call WHERE started >= ? AND started < ? ORDER BY id",
                arguments: [Self.nanoseconds(start) ?? .min, Self.nanoseconds(end) ?? .max])
            while let row = try rows.next() {
                let key: String =
                    switch grouping {
                    case .day: self.day(row["started"])
                    case .month: self.month(row["started"])
                    case .model: "\(row["provider"] as String)/\(row["model"] as String)"
                    case .provider: row["provider"]
                    case .purpose: row["purpose"]
                    }
                groups[key, default: UsageSummary(key: key)].add(row)
            }
            return groups.values.sorted { $0.key < $1.key }
        }
    }

    /// Deletes all calls except those in flight.
    public func reset() async throws {
        try await write("forget the usage") { db in
            try self.sweep(db)
            try db.execute(sql: "DELETE FROM call WHERE state <> 'started'")
        }
    }

    // MARK: -

    private func state(_ db: Database) throws -> BudgetState {
        try sweep(db)
        let now = clock().nanoseconds
        let month = self.month(now)
        // Slightly more than the 31 days of a month, because clocks are put back; the rows' own month decides.
        let rows = try Row.fetchCursor(
            db, sql: "SELECT started, state, cost, estimate FROM call WHERE started >= ?",
            arguments: [now - 32 * 86_400_000_000_000])
        var spent = Cost.zero
        while let row = try rows.next() {
            guard self.month(row["started"]) == month else { continue }
            let state: String = row["state"]
            spent = spent + Cost(nanodollars: row["cost"] ?? (state == "failed" ? nil : row["estimate"]) ?? 0)
        }
        return BudgetState(budget: budget, spent: spent, month: month)
    }

    /// Calls of dead processes get an unknown outcome.
    private func sweep(_ db: Database) throws {
        let processes = try String.fetchAll(
            db, sql: "SELECT DISTINCT process FROM call WHERE state = 'started' AND process <> ?", arguments: [process])
        for gone in processes where !ProcessIdentity.isAlive(gone) {
            try db.execute(
                sql: "UPDATE call SET state = 'unknown' WHERE state = 'started' AND process = ?", arguments: [gone])
        }
    }

    /// `2026-11-21`
    private func day(_ nanoseconds: Int64) -> String {
        timeZone.local(at: Timestamp(nanoseconds: nanoseconds)).civil.date.description
    }

    /// `2026-11`
    private func month(_ nanoseconds: Int64) -> String { String(day(nanoseconds).prefix(7)) }

    private static func nanoseconds(_ date: Date?) -> Int64? {
        date.map { Int64(min(max($0.timeIntervalSince1970, -9e9), 9e9)) * 1_000_000_000 }
    }

    private func write<R: Sendable>(
        _ doing: String, _ body: @escaping @Sendable (Database) throws -> R
    ) async throws -> R {
        try await work(doing) { try $0.write(body) }
    }

    private func work<R: Sendable>(
        _ doing: String, _ body: @escaping @Sendable (DatabasePool) throws -> R
    ) async throws -> R {
        try await threads.use(pool, "\(doing) at \(path)", body)
    }
}

extension UsageSummary {
    fileprivate mutating func add(_ row: Row) {
        let state: String = row["state"]
        let known: Int64? = row["cost"]
        calls += 1
        inputTokens += row["input"]
        outputTokens += row["output"]
        cacheReadTokens += row["cache_read"]
        cacheWriteTokens += row["cache_write"]
        if let known {
            cost = cost + Cost(nanodollars: known)
        } else if let estimate: Int64 = row["estimate"] {
            unknownCost = unknownCost + Cost(nanodollars: estimate)
        }
        switch state {
        case "failed": failedCalls += 1
        case "answered": if known == nil { unpricedCalls += 1 }
        default: unknownCalls += 1
        }
    }
}
