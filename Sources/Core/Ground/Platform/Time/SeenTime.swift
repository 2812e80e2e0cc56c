/// How much of the calendar's time somebody has seen pass, so that nothing irreversible follows from one reading of a clock.
///
/// While it is looked at, time passes as the kernel's monotonic clock says. Where the calendar's clock has moved by a day
/// more or less than that, because it was set or because nobody looked in between, the difference counts only after another
/// day of looking, if the clock has not gone back by then (`docs/design/time.md`, "A clock that is wrong").
package struct SeenTime: Codable, Sendable, Equatable {
    private struct Jump: Codable, Sendable, Equatable {
        /// By how many seconds the clock went ahead; less than nothing for back.
        var seconds: Double
        /// How long had been looked on when it did.
        var watched: Double
        /// What the clock said then.
        var time: Timestamp
    }

    /// What the clock said when it was last looked at.
    package private(set) var clock: Timestamp
    /// Seconds that have been looked on in all.
    private var watched = 0.0
    /// What does not count yet; all in one direction.
    private var jumps: [Jump] = []

    /// Seconds: what is less counts at once.
    private static let least = 86_400.0
    /// Seconds of looking on that confirm a jump.
    private static let confirmation = 86_400.0
    /// Seconds of looking on within which several jumps are one: so there are never many.
    private static let grain = 3_600.0

    /// Begins with a clock that is believed.
    package init(_ clock: Timestamp) { self.clock = clock }

    /// Takes a look at the clock.
    ///
    /// - Parameter elapsed: seconds since the last look, by a clock that nobody sets; 0 where nobody has looked on.
    package mutating func look(_ now: Timestamp, elapsed: Double) {
        var jump = now.seconds - clock.seconds - elapsed
        watched += elapsed
        clock = now
        if abs(jump) > Self.least {
            // A clock that is set right again takes back what it was wrong by.
            while let last = jumps.last, last.seconds * jump < 0 {
                jump += last.seconds
                jumps.removeLast()
                if jump * last.seconds > 0 {
                    jumps.append(Jump(seconds: jump, watched: last.watched, time: last.time))
                    jump = 0
                }
            }
            if abs(jump) > 0 { add(jump) }
            jumps.removeAll { abs($0.seconds) <= Self.least }
        }
        jumps.removeAll { watched - $0.watched >= Self.confirmation }
    }

    private mutating func add(_ seconds: Double) {
        guard let last = jumps.last, (last.watched / Self.grain).rounded(.down) == (watched / Self.grain).rounded(.down)
        else { return jumps.append(Jump(seconds: seconds, watched: watched, time: clock)) }
        jumps[jumps.count - 1] = Jump(seconds: last.seconds + seconds, watched: watched, time: last.time)
    }

    /// What is safe to count on: the clock without what it has jumped ahead by.
    package var time: Timestamp { clock.adding(seconds: -ahead) }

    private var ahead: Double { jumps.reduce(0) { $0 + max(0, $1.seconds) } }

    /// What does not count yet; nil where the clock is believed.
    package var held: HeldTime? {
        guard let first = jumps.first, ahead > 0 else { return nil }
        let left = jumps.map { Self.confirmation - (watched - $0.watched) }
        return HeldTime(
            seconds: ahead, since: first.time, safe: time, next: clock.adding(seconds: left.min() ?? 0),
            last: clock.adding(seconds: left.max() ?? 0))
    }
}

/// By how much the calendar's clock has jumped ahead, as far as that is not confirmed.
package struct HeldTime: Sendable, Equatable {
    /// Of the jump, or of several.
    package let seconds: Double
    /// What the clock said after the first of them.
    package let since: Timestamp
    /// What is safe to count on.
    package let safe: Timestamp
    /// When the first of them is confirmed, if it is looked on until then, and when the last is.
    package let next: Timestamp
    package let last: Timestamp

    /// For a person.
    package var message: String {
        let days = (seconds / 8_640).rounded() / 10
        return
            "the clock went ahead by \(days) days without anybody seeing them pass (it said \(since) then). Until the agent "
            + "has run for a day with it, at \(last) if nothing comes between, ages that make rules trash or delete files are "
            + "counted without these days, and so is the history. If the clock is wrong, set it"
    }
}
