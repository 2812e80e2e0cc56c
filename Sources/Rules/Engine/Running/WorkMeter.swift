import Ledger
import Metrics
import Platform
import Synchronization

/// Metrics of jobs and steps. Labels are bounded by the rules: actions, rules and results, but no file names.
package final class WorkMeter: Sendable {
    private struct Key: Hashable {
        let subject: String
        let result: String
    }

    private struct Known {
        var steps: [Key: Metrics.Counter] = [:]
        var durations: [String: Metrics.Timer] = [:]
        var jobs: [Key: Metrics.Counter] = [:]
        var latencies: [String: Metrics.Timer] = [:]
        var retries: [String: Metrics.Counter] = [:]
    }

    private let factory: any MetricsFactory
    /// Metric objects, created once per label.
    private let known = Mutex(Known())

    /// - Parameter factory: the metrics backend; nothing is counted by default.
    package init(_ factory: any MetricsFactory = NOOPMetricsHandler.instance) { self.factory = factory }

    func step(_ action: String, doneAfter duration: Duration) {
        step(action, "done").increment()
        let timer = known.withLock { known in
            Self.made(&known.durations[action]) {
                Metrics.Timer(
                    label: "steward_step_duration_seconds", dimensions: [("action", action)], factory: factory)
            }
        }
        timer.recordSeconds(duration / .seconds(1))
    }

    func step(_ action: String, failed error: any Error) {
        step(action, Self.result(error)).increment()
    }

    private static func result(_ error: any Error) -> String {
        guard let fault = error as? Fault else { return error is CancellationError ? "stopped" : "failed" }
        return fault.code == Fault.unanswered ? "asking" : fault.kind.rawValue
    }

    private func step(_ action: String, _ result: String) -> Metrics.Counter {
        known.withLock { known in
            Self.made(&known.steps[Key(subject: action, result: result)]) {
                Metrics.Counter(
                    label: "steward_steps_total", dimensions: [("action", action), ("result", result)],
                    factory: factory)
            }
        }
    }

    func ended(_ job: JobRecord) {
        let counter = known.withLock { known in
            Self.made(&known.jobs[Key(subject: job.rule, result: job.state.rawValue)]) {
                Metrics.Counter(
                    label: "steward_jobs_ended_total",
                    dimensions: [("rule", job.rule), ("result", job.state.rawValue)], factory: factory)
            }
        }
        counter.increment()
        guard job.state == .done else { return }
        let timer = known.withLock { known in
            Self.made(&known.latencies[job.rule]) {
                Metrics.Timer(
                    label: "steward_job_latency_seconds", dimensions: [("rule", job.rule)], factory: factory)
            }
        }
        // The clock may have been set back since.
        timer.recordSeconds(max(0, Timestamp.now().seconds - job.arrived.seconds))
    }

    func retried(_ job: JobRecord) {
        let counter = known.withLock { known in
            Self.made(&known.retries[job.rule]) {
                Metrics.Counter(
                    label: "steward_job_retries_total", dimensions: [("rule", job.rule)], factory: factory)
            }
        }
        counter.increment()
    }

    private static func made<V>(_ kept: inout V?, _ make: () -> V) -> V {
        if let kept { return kept }
        let new = make()
        kept = new
        return new
    }
}
