import Metrics
import Rules

/// The outcome of a file's judgement.
enum JudgedAs: String, CaseIterable, Sendable {
    case known, touched, news, again, unreadable, failed
    case tooLarge = "too-large"

    init(_ verdict: ChangeClassifier.Verdict) {
        switch verdict {
        case .known: self = .known
        case .touched: self = .touched
        case .again: self = .again
        case .tooLarge: self = .tooLarge
        case .news: self = .news
        }
    }
}

/// Counts incoming files per place. All counters are created at the start, so that rates begin at zero.
struct PlaceMeters: Sendable {
    private let judged: [String: [JudgedAs: Metrics.Counter]]
    private let settling: [String: Metrics.Timer]

    init(_ factory: any MetricsFactory, places: [String]) {
        judged = Dictionary(
            uniqueKeysWithValues: places.map { place in
                let counters = JudgedAs.allCases.map { verdict in
                    let dimensions = [("place", place), ("verdict", verdict.rawValue)]
                    return (
                        verdict,
                        Metrics.Counter(label: "steward_files_judged_total", dimensions: dimensions, factory: factory)
                    )
                }
                return (place, Dictionary(uniqueKeysWithValues: counters))
            })
        settling = Dictionary(
            uniqueKeysWithValues: places.map { place in
                (
                    place,
                    Metrics.Timer(label: "steward_settling_seconds", dimensions: [("place", place)], factory: factory)
                )
            })
    }

    func judged(_ place: String, _ verdict: JudgedAs) { judged[place]?[verdict]?.increment() }

    /// Records how long a file of the place took to settle.
    func settling(_ place: String) -> @Sendable (_ seconds: Double) -> Void {
        let timer = settling[place]
        return { timer?.recordSeconds($0) }
    }
}
