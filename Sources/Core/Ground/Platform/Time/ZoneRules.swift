/// The offsets of a time zone and when they change, for all time.
///
/// The daylight saving rule for the years beyond the table is expanded for 400 years: after that the calendar, with its
/// days of the week, repeats.
struct ZoneRules: Sendable {
    /// Seconds since 1970, ascending.
    private var changes: [Int] = []
    /// Seconds east of Greenwich: before the first change, and from each one on. Consecutive offsets differ.
    private var offsets: [Int]
    /// From here on, everything repeats what happened 400 years earlier; nil if there are no more changes.
    private var horizon: Int?

    /// 400 years, in seconds.
    private static let period = 146_097 * 86_400
    /// The largest possible offset in seconds (RFC 8536).
    private static let reach = 26 * 3_600

    /// - Parameters:
    ///   - first: the offset before all changes.
    ///   - changes: ascending, in seconds since 1970, each with the offset from then on.
    ///   - rule: applies after the last of them; nil for no more changes.
    init(first: Int, _ changes: [(time: Int, offset: Int)], then rule: PosixRule?) {
        offsets = [first]
        for change in changes { append(change) }
        if let rule, let last = changes.last { repeating(rule, after: last.time) }
    }

    /// A rule that has always been in force.
    init(_ rule: PosixRule) {
        offsets = [rule.standard]
        repeating(rule, after: CivilDateTime(CivilDate(daysSince1970: 0).adding(months: -1_200)).secondsSince1970)
    }

    private mutating func repeating(_ rule: PosixRule, after last: Int) {
        guard rule.summer != nil else { return }
        let year = CivilDateTime(secondsSince1970: last).date.year
        for year in year...(year + 403) {
            for change in rule.changes(in: year) where change.time > last { append(change) }
        }
        horizon = rule.start(of: year + 402)
    }

    private mutating func append(_ change: (time: Int, offset: Int)) {
        if changes.last == change.time {
            changes.removeLast()
            offsets.removeLast()
        }
        guard offsets.last != change.offset else { return }
        changes.append(change.time)
        offsets.append(change.offset)
    }

    /// - Returns: an equivalent time within the table, and how much earlier it is.
    private func folded(_ seconds: Int) -> (seconds: Int, by: Int) {
        guard let horizon, seconds >= horizon else { return (seconds, 0) }
        let by = ((seconds - horizon) / Self.period + 1) * Self.period
        return (seconds - by, by)
    }

    /// The number of changes up to then: the index of the offset in force.
    private func index(at seconds: Int) -> Int {
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle] <= seconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func offset(at seconds: Int) -> Int { offsets[index(at: folded(seconds).seconds)] }

    func nextChange(after seconds: Int) -> Int? {
        let (seconds, by) = folded(seconds)
        let index = index(at: seconds)
        return index < changes.count ? changes[index] + by : nil
    }

    /// The offsets at which a clock shows this many seconds since the beginning of 1970, earlier time first.
    ///
    /// - Returns: no offset if the clock is put forward past it; `skipped` then says when, and from which offset.
    func showing(_ shown: Int) -> (offsets: [Int], skipped: (change: Int, offset: Int)?) {
        let (shown, by) = folded(shown)
        let near = index(at: shown - Self.reach)...index(at: shown + Self.reach)
        let found = near.filter { place in
            let time = shown - offsets[place]
            return (place == 0 || changes[place - 1] <= time) && (place == changes.count || time < changes[place])
        }
        guard found.isEmpty else { return (found.map { offsets[$0] }, nil) }
        let gap = near.dropLast().first { shown - offsets[$0] >= changes[$0] && shown - offsets[$0 + 1] < changes[$0] }
        return ([], gap.map { (changes[$0] + by, offsets[$0]) })
    }
}
