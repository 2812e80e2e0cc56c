import Foundation
import Ledger
import Platform
import Rules
import Watching

/// What `steward status` says of the work, from the numbers that are scraped as well.
package struct WorkNumbers: Codable, Sendable, Equatable {
    /// Files that jobs are carried out for.
    package var atWork: Int
    /// Jobs that are ready for their turn.
    package var queued: Int
    /// Jobs that wait for their next try.
    package var waiting: Int
    /// When the oldest of those that are ready or wait was planned.
    package var oldest: Timestamp?
    /// How many have ended since the start, by result: done, parked, refused and so on.
    package var ended: [String: Int]
    /// Files that were judged since the start.
    package var judged: Int
    /// Seconds from a file's being judged to the last receipt, which half of the jobs that were done did not exceed, and
    /// 99 of 100; nil before the first one.
    package var median: Double?
    package var ninetyNine: Double?
    /// Events of the kernel since the start, and times that all places were looked through.
    package var events: Int
    package var rescans: Int

    static func of(_ agent: Agent) async throws -> WorkNumbers {
        let metrics = agent.core.metrics
        let (runner, watch) = (await agent.runner.status(), agent.source.status())
        let latency = metrics.distribution("steward_job_latency_seconds")
        return WorkNumbers(
            atWork: runner.running, queued: runner.queued, waiting: runner.waiting,
            oldest: try await agent.core.ledger.read { try $0.oldestOpenJob() },
            ended: metrics.counts("steward_jobs_ended_total", by: "result"),
            judged: metrics.counts("steward_files_judged_total", by: "place").values.reduce(0, +),
            median: latency?.quantile(0.5), ninetyNine: latency?.quantile(0.99), events: watch.events,
            rescans: watch.rescans)
    }

    /// For a terminal.
    var lines: [String] {
        var out = [
            "work: \(atWork) at work, \(queued) queued, \(waiting) waiting for another try"
                + (oldest.map { ", the oldest since \($0)" } ?? "")
        ]
        let results = ended.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
        guard !results.isEmpty else { return out }
        var line = "since the start: \(results.joined(separator: ", "))"
        if let median, let ninetyNine {
            line +=
                "; half of those done within \(Self.seconds(median)) of being judged, 99 of 100 within "
                + Self.seconds(ninetyNine)
        }
        out.append(line)
        return out
    }

    private static func seconds(_ value: Double) -> String { String(format: value < 10 ? "%.2f s" : "%.0f s", value) }
}
