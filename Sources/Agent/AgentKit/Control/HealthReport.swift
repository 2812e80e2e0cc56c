import Ledger
import Platform
import SQLiteFile

/// `steward health`: whether all is well, and if not, what needs a person's attention.
package struct HealthReport: Codable, Sendable, Equatable {
    package struct Finding: Codable, Sendable, Equatable {
        /// One word, for programs.
        package let subject: String
        package let count: Int
        /// The problem and the remedy, in one line.
        package let message: String
    }

    package let isRunning: Bool
    package let findings: [Finding]
    package let isHealthy: Bool

    /// - Parameter now: the time at which ages are computed.
    package init(_ status: StatusReport, now: Timestamp = .now()) {
        isRunning = status.isRunning
        var findings: [Finding] = []
        func find(_ subject: String, _ count: Int, _ message: @autoclosure () -> String) {
            if count > 0 { findings.append(Finding(subject: subject, count: count, message: message())) }
        }
        let losses = status.losses.map(\.line)
        for loss in losses { find("loss", 1, loss) }
        for warning in status.warnings where !losses.contains(warning) { find("warning", 1, warning) }
        for hang in status.hanging { find("hanging", 1, hang) }
        for place in status.places where !status.isHanging(.place(place.name)) {
            if let other = place.usedBy {
                find("place", 1, "the place \(place.name) is in use by \(other): \(place.path)")
                continue
            }
            guard !place.isPresent else { continue }
            find("place", 1, "the place \(place.name) is \(place.isReplaced ? "away" : "not there"): \(place.path)")
        }
        for vault in status.vaults where vault.isSilent != true || !status.isHanging(.vault(vault.name)) {
            for problem in vault.problems { find("vault", 1, "the vault \(vault.name): \(problem)") }
        }
        let (parked, asking) = (status.jobs["parked"] ?? 0, status.jobs["asking"] ?? 0)
        find("parked", parked, "\(parked) jobs are parked: `steward status` says why, `steward retry JOB` tries again")
        let unknown = status.unknownJobs ?? 0
        find(
            "unknown", unknown,
            "\(unknown) jobs are ready, but no scheduler knows them, which is a bug: restart the "
                + "agent, which runs them, and please report it with its log")
        let stuck = status.undoing.count { $0.nextAttempt == nil && !$0.problem.isEmpty }
        find("undo", stuck, "\(stuck) jobs are partly undone: `steward status` says why, `steward undo JOB` continues")
        find("asking", asking, "\(asking) jobs ask you: `steward confirm`")
        find(
            "quarantine", status.quarantined, "\(status.quarantined) files are in quarantine: `steward quarantine list`"
        )
        let (dead, held) = (status.outbox.dead, status.outbox.held)
        find("outbox", dead + held, "\(dead) events were given up and \(held) are held behind them: `steward outbox`")
        let missing = status.missingBlocks.count
        find("blocks", missing, "\(missing) blocks are missing from notes: `steward blocks list`")
        if let last = status.lastBackup, last.days(at: now) >= LastBackup.warningAge {
            find("backup", 1, last.warning(at: now))
        }
        self.findings = findings
        isHealthy = isRunning && findings.isEmpty
    }

    /// For the terminal.
    package var lines: [String] {
        if !isRunning { return ["not running"] }
        return isHealthy ? ["healthy"] : findings.map(\.message)
    }

    /// What may be shown to anyone on the network: no names.
    package var counts: [String] {
        var sums: [String: Int] = [:]
        for finding in findings { sums[finding.subject, default: 0] += finding.count }
        return isHealthy ? ["healthy"] : sums.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    }
}
