import Foundation
import Platform

extension Zone {
    /// The same zone from the system's data; if the name is unknown there, Foundation's current offset.
    package init(_ zone: TimeZone) {
        self = Zone(identifier: zone.identifier) ?? Zone(secondsFromGMT: zone.secondsFromGMT())
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
