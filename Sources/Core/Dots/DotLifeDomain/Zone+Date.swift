import Foundation
import Platform

extension Zone {
    /// The same zone from the system's data; if the name is unknown there, with Foundation's clock changes of 1900 to
    /// 2100.
    package init(_ zone: TimeZone) {
        self = Zone(identifier: zone.identifier) ?? Zone(foundation: zone)
    }

    /// The zone as Foundation knows it.
    init(foundation zone: TimeZone) {
        func offset(_ second: Int) -> Int { zone.secondsFromGMT(for: Date(whole: second)) }
        let span = -2_208_988_800..<4_133_980_800
        var changes: [(time: Int, offset: Int)] = []
        var last = span.lowerBound
        while let next = zone.nextDaylightSavingTimeTransition(after: Date(whole: last))?.wholeSeconds, next > last,
            span.contains(next)
        {
            changes.append((next, offset(next)))
            last = next
        }
        self.init(identifier: zone.identifier, first: offset(span.lowerBound), changes)
    }

    /// The wall-clock time at an instant. Years of more than six digits are clamped.
    package func local(at date: Date) -> LocalTime { local(at: date.wholeSeconds) }
}

extension Date {
    init(whole seconds: Int) { self.init(timeIntervalSince1970: Double(seconds)) }

    /// Seconds since 1970, rounded down.
    var wholeSeconds: Int {
        let most = Double(365 * 86_400) * 1_000_000
        // `minimum` and `maximum` drop NaN.
        return Int(Double.minimum(.maximum(timeIntervalSince1970.rounded(.down), -most), most))
    }
}
