import Foundation
import Platform

extension Zone {
    /// The same zone by the system's data; where that has none of the name, the offset that Foundation has at present.
    package init(_ zone: TimeZone) {
        self = Zone(identifier: zone.identifier) ?? Zone(secondsFromGMT: zone.secondsFromGMT())
    }

    /// What the clock on the wall shows at an instant. Years of more than six digits are not told apart.
    package func local(at date: Date) -> LocalTime { local(at: date.wholeSeconds) }
}

extension Date {
    init(whole seconds: Int) { self.init(timeIntervalSince1970: Double(seconds)) }

    /// Seconds since 1970, rounded down.
    var wholeSeconds: Int {
        let most = Double(365 * 86_400) * 1_000_000
        // `minimum` and `maximum` leave out what is no number.
        return Int(Double.minimum(.maximum(timeIntervalSince1970.rounded(.down), -most), most))
    }
}
