import Metrics
import Platform
import Synchronization

/// A swift-metrics backend that keeps everything in memory, for `steward metrics`, `steward status` and scrapers. Each
/// agent has its own and passes it to the parts that count; nothing is global.
///
/// Memory stays bounded even if label values come from outside: each metric has a maximum number of series, and values
/// beyond that are counted under `other`.
package final class MetricRegistry: MetricsFactory {
    private struct Family {
        let kind: MetricKind
        var series: [[MetricLabel]: any MetricSeries] = [:]
    }

    private let families = Mutex<[String: Family]>([:])
    private let most: Int

    /// - Parameter most: maximum number of series per metric.
    package init(most: Int = 1_000) { self.most = max(1, most) }

    // MARK: swift-metrics

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(MetricName.counter(label), .counter, dimensions) { CountSeries() }
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(MetricName.counter(label), .counter, dimensions) { AmountSeries() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(MetricName.plain(label), .gauge, dimensions) { LevelSeries() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let name = MetricName.plain(label)
        guard aggregate else { return series(name, .gauge, dimensions) { LevelSeries() } }
        return series(name, .histogram, dimensions) { HistogramSeries(bounds: MetricCatalog.bounds(of: name)) }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let name = MetricName.seconds(label)
        return series(name, .histogram, dimensions) { HistogramSeries(bounds: MetricCatalog.bounds(of: name)) }
    }

    // Keeps the value: a counter that restarts looks like a reset.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    private func series<S: MetricSeries>(
        _ name: String, _ kind: MetricKind, _ dimensions: [(String, String)], _ make: () -> S
    ) -> S {
        let labels = dimensions.map { MetricLabel($0.0, $0.1) }.sorted()
        return families.withLock { families in
            var family = families[name] ?? Family(kind: kind)
            // Two uses disagree on the metric's kind: the second is not recorded, the first stays correct.
            guard family.kind == kind else { return make() }
            if let known = family.series[labels] { return known as? S ?? make() }
            let key = family.series.count < most ? labels : labels.map { MetricLabel($0.name, MetricLabel.other) }
            let found = family.series[key] as? S ?? make()
            family.series[key] = found
            families[name] = family
            return found
        }
    }

    // MARK: Reading

    /// All values, the series of each metric sorted by label.
    package func snapshot() -> [MetricFamily] {
        families.withLock { $0 }.map { name, family in
            MetricFamily(
                name, family.kind,
                samples: family.series.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                    .flatMap { labels, series in series.samples(of: name, labels) })
        }
    }

    /// A counter's sums by the values of one label.
    ///
    /// - Parameters:
    ///   - name: as exported, with `_total`.
    ///   - label: the label's name.
    package func counts(_ name: String, by label: String) -> [String: Int] {
        let family = families.withLock { $0[name] }
        var sums: [String: Int] = [:]
        for (labels, series) in family?.series ?? [:] {
            guard let value = labels.first(where: { $0.name == label })?.value, let series = series as? CountSeries
            else { continue }
            sums[value, default: 0] += series.count
        }
        return sums
    }

    /// A histogram merged over all its series; nil if nothing has been measured.
    package func distribution(_ name: String) -> Distribution? {
        let family = families.withLock { $0[name] }
        var sum: Distribution?
        for series in (family?.series ?? [:]).values {
            guard let found = (series as? HistogramSeries)?.distribution else { continue }
            sum = sum.map { $0.adding(found) } ?? found
        }
        return sum.flatMap { $0.count > 0 ? $0 : nil }
    }
}

/// One metric's values for one set of labels. Updated from any thread, without allocating.
protocol MetricSeries: AnyObject, Sendable {
    func samples(of name: String, _ labels: [MetricLabel]) -> [MetricSample]
}

/// An integer that only increases.
final class CountSeries: MetricSeries, CounterHandler {
    private let value = Atomic<Int64>(0)
    var count: Int { Int(value.load(ordering: .relaxed)) }

    func increment(by amount: Int64) { value.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { value.store(0, ordering: .relaxed) }

    func samples(of name: String, _ labels: [MetricLabel]) -> [MetricSample] {
        [MetricSample(name, labels, Double(count))]
    }
}

/// An amount that only increases: dollars, seconds.
final class AmountSeries: MetricSeries, FloatingPointCounterHandler {
    private let value = Mutex(0.0)

    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func reset() { value.withLock { $0 = 0 } }

    func samples(of name: String, _ labels: [MetricLabel]) -> [MetricSample] {
        [MetricSample(name, labels, value.withLock { $0 })]
    }
}

/// A value that goes up and down.
final class LevelSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func samples(of name: String, _ labels: [MetricLabel]) -> [MetricSample] {
        [MetricSample(name, labels, value.withLock { $0 })]
    }
}
