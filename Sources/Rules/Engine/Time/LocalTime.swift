import Foundation
import Platform

/// What a clock on the wall shows: a day, and the seconds since its midnight.
struct LocalTime: Equatable, Sendable {
    let date: CivilDate
    /// 0 to 86,399.
    let second: Int
}

/// From clocks on the wall to points in time. Foundation tells the offset of a zone at a point in time, and nothing more is
/// taken from it: how it looks for a local time that does not exist, or exists twice, differs between its versions.
extension TimeZone {
    func local(at time: Timestamp) -> LocalTime {
        let seconds = floorDivision(time.nanoseconds, 1_000_000_000)
        let shown = seconds + Int64(offset(at: Int(seconds)))
        let day = floorDivision(shown, 86_400)
        return LocalTime(date: CivilDate(daysSince1970: Int(day)), second: Int(shown - day * 86_400))
    }

    /// When the clock shows that: the first time where it does so twice; where it never does, because it is put forward
    /// past it, when it is put forward.
    func time(at local: LocalTime) -> Timestamp {
        let shown = local.date.daysSince1970 * 86_400 + local.second
        // No zone changes twice within two days.
        let (before, after) = (offset(at: shown - 86_400), offset(at: shown + 86_400))
        let (early, late) = (shown - before, shown - after)
        if offset(at: early) == before { return Timestamp(whole: early) }
        if offset(at: late) == after { return Timestamp(whole: late) }
        // `late` is before the change, since more is taken off, and `early` behind it.
        var (low, high) = (late, early)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(at: middle) == before { low = middle } else { high = middle }
        }
        return Timestamp(whole: high)
    }

    private func offset(at seconds: Int) -> Int {
        secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
}

private func floorDivision(_ value: Int64, _ divisor: Int64) -> Int64 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
}

extension Timestamp {
    /// Seconds since 1970; beyond what nanoseconds can tell, the first or last time that they can.
    init(whole seconds: Int) {
        let (nanoseconds, isFar) = Int64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: isFar ? (seconds < 0 ? .min : .max) : nanoseconds)
    }

    /// So much later, as far as nanoseconds can tell.
    func adding(nanoseconds more: Int64) -> Timestamp {
        let (sum, isFar) = nanoseconds.addingReportingOverflow(more)
        return Timestamp(nanoseconds: isFar ? (more < 0 ? .min : .max) : sum)
    }

    /// The first time after it.
    var next: Timestamp { adding(nanoseconds: 1) }
}
