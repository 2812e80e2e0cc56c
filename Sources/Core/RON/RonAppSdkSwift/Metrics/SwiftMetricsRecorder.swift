import Metrics
import Synchronization

/// Reports calls to swift-metrics, and so to the program's backend.
///
/// It creates these metrics, with the dimensions `method` and `path`:
/// - `ron_client_calls_total`, a counter; also with `status` and `code` (a problem's code, or `ok`);
/// - `ron_client_call_duration`, a timer in nanoseconds; also with `status`;
/// - `ron_client_request_bytes` and `ron_client_response_bytes`, recorders of body sizes;
/// - `ron_client_calls_in_flight`, a meter, without dimensions.
///
/// Paths and codes are counted by name up to a limit and as `other` beyond it, and so are those longer than 128 bytes:
/// neither servers nor callers can grow the backend's memory without bound.
public final class SwiftMetricsRecorder: RonMetrics {
    private struct State {
        var paths: Set<String> = []
        var codes: Set<String> = []
        var inFlight = 0
    }

    private static let longestName = 128

    private let factory: any MetricsFactory
    private let limit: Int
    private let state = Mutex(State())

    /// A recorder.
    ///
    /// - Parameters:
    ///   - factory: the backend; the program's own by default.
    ///   - distinctNames: how many paths, and how many codes, are counted separately.
    public init(factory: any MetricsFactory = MetricsSystem.factory, distinctNames: Int = 200) {
        self.factory = factory
        limit = distinctNames
    }

    /// Counts the call among those in flight.
    ///
    /// - Parameter call: the call.
    public func callStarted(_ call: RonCall) { changeInFlight(by: 1) }

    /// Records status, code, duration and sizes.
    ///
    /// - Parameters:
    ///   - call: the call.
    ///   - outcome: its outcome.
    public func callFinished(_ call: RonCall, _ outcome: RonCallOutcome) {
        changeInFlight(by: -1)
        let (path, code) = state.withLock { state in
            (
                bounded(call.pathTemplate, in: &state.paths),
                outcome.problemCode.map { bounded($0.lowercased(), in: &state.codes) } ?? "ok"
            )
        }
        let what = [("method", call.method), ("path", path)]
        let status = [("status", String(outcome.status))]
        Counter(label: "ron_client_calls_total", dimensions: what + status + [("code", code)], factory: factory)
            .increment()
        Metrics.Timer(label: "ron_client_call_duration", dimensions: what + status, factory: factory)
            .recordNanoseconds(outcome.duration.nanoseconds)
        Recorder(label: "ron_client_request_bytes", dimensions: what, aggregate: true, factory: factory)
            .record(outcome.bytesSent)
        Recorder(label: "ron_client_response_bytes", dimensions: what, aggregate: true, factory: factory)
            .record(outcome.bytesReceived)
    }

    private func changeInFlight(by change: Int) {
        // Set under the lock, so that the backend sees the counts in order.
        state.withLock { state in
            state.inFlight += change
            Meter(label: "ron_client_calls_in_flight", dimensions: [], factory: factory).set(state.inFlight)
        }
    }

    private func bounded(_ name: String, in names: inout Set<String>) -> String {
        if names.contains(name) { return name }
        guard names.count < limit, name.utf8.count <= Self.longestName else { return "other" }
        names.insert(name)
        return name
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to Int64.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    }
}
