import Foundation
import Ledger
import Platform
import Rules
import Watching

/// The work section of `steward status`, from the same metrics that are scraped.
package struct WorkNumbers: Codable, Sendable, Equatable {
    /// Files with a running job.
    package var atWork: Int
    /// Jobs ready to run.
    package var queued: Int
    /// Jobs waiting for a retry.
    package var waiting: Int
    /// When the oldest ready or waiting job was planned.
    package var oldest: Timestamp?
    /// Jobs ended since the start, by result: done, parked, refused and so on.
    package var ended: [String: Int]
    /// Files judged since the start.
    package var judged: Int
    /// Median and 99th percentile of the seconds from a file's judgement to its job's last receipt, for jobs that were
    /// done; nil before the first one.
    package var median: Double?
    package var ninetyNine: Double?
    /// Kernel events, and full rescans of all places, since the start.
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

    /// For the terminal.
    var lines: [String] {
        var out = [
            "work: \(atWork) at work, \(queued) queued, \(waiting) waiting for a retry"
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
