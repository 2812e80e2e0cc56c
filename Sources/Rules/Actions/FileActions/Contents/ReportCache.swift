import Platform
import Rules
import Synchronization

/// Cache of recent reports, so that several rules cost one process. Bounded in bytes, least recently used out first.
package final class ReportCache: Sendable {
    package struct Key: Hashable, Sendable {
        let hash: ContentHash
        let aspect: ContentAspect
        /// Part of the key because the result depends on it: an extension may mark the file as HTML.
        let mime: String
    }

    private struct State {
        var reports: [Key: (report: ContentReport, use: Int)] = [:]
        var bytes = 0
        var uses = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: in bytes.
    package init(limit: Int = 8 << 20) { self.limit = limit }

    func report(_ key: Key) -> ContentReport? {
        state.withLock { state in
            guard let found = state.reports[key]?.report else { return nil }
            state.uses += 1
            state.reports[key]?.use = state.uses
            return found
        }
    }

    func keep(_ report: ContentReport, _ key: Key) {
        let cost = report.cost
        guard cost <= limit else { return }
        state.withLock { state in
            if let old = state.reports.removeValue(forKey: key) { state.bytes -= old.report.cost }
            while state.bytes + cost > limit, let oldest = state.reports.min(by: { $0.value.use < $1.value.use }) {
                state.reports[oldest.key] = nil
                state.bytes -= oldest.value.report.cost
            }
            state.uses += 1
            state.reports[key] = (report, state.uses)
            state.bytes += cost
        }
    }
}
