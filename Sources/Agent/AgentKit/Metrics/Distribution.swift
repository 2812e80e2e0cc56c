import Metrics
import Synchronization

/// A histogram: the number of values within each of several bounds.
package struct Distribution: Sendable, Equatable {
    /// Inclusive upper bounds in ascending order; the last bucket has none.
    package let bounds: [Double]
    /// One per bound, and one for values beyond the last.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0
    package private(set) var count = 0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package mutating func record(_ value: Double) {
        // NaN or infinity would corrupt the sum for good.
        guard value.isFinite else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
        count += 1
    }

    /// - Parameter other: must have the same bounds, or it is ignored.
    package func adding(_ other: Distribution) -> Distribution {
        guard other.bounds == bounds else { return self }
        var all = self
        for (index, count) in other.counts.enumerated() { all.counts[index] += count }
        all.sum += other.sum
        all.count += other.count
        return all
    }

    /// A quantile, interpolated linearly within its bucket; beyond the last bound, the last bound.
    ///
    /// - Parameter part: from 0 to 1.
    /// - Returns: nil if nothing has been recorded.
    package func quantile(_ part: Double) -> Double? {
        guard count > 0 else { return nil }
        let rank = part * Double(count)
        var below = 0
        for (index, bound) in bounds.enumerated() {
            let here = counts[index]
            if here > 0, Double(below + here) >= rank {
                let floor = index == 0 ? 0 : bounds[index - 1]
                return floor + (bound - floor) * max(0, rank - Double(below)) / Double(here)
            }
            below += here
        }
        return bounds.last
    }
}

/// A thread-safe histogram.
final class HistogramSeries: MetricSeries, RecorderHandler, TimerHandler {
    private let state: Mutex<Distribution>
    var distribution: Distribution { state.withLock { $0 } }

    init(bounds: [Double]) { state = Mutex(Distribution(bounds: bounds)) }

    func record(_ value: Int64) { record(Double(value)) }
    func record(_ value: Double) { state.withLock { $0.record(value) } }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func samples(of name: String, _ labels: [MetricLabel]) -> [MetricSample] {
        let found = distribution
        var below = 0
        var samples: [MetricSample] = []
        for (bound, count) in zip(found.bounds + [.infinity], found.counts) {
            below += count
            samples.append(
                MetricSample(name + "_bucket", labels + [MetricLabel("le", MetricText.number(bound))], Double(below)))
        }
        return samples + [
            MetricSample(name + "_sum", labels, found.sum), MetricSample(name + "_count", labels, Double(found.count)),
        ]
    }
}
