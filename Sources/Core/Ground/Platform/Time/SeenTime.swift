/// How much wall-clock time has been seen to pass, so that nothing irreversible follows from a single reading of the
/// clock.
///
/// While the clock is watched, time passes at the rate of the kernel's monotonic clock. If the wall clock moves by a
/// day more or less than that, because it was set or was not watched in between, the difference counts only after
/// another day of watching, if the clock has not moved back by then (`docs/design/time.md`, "A clock that is wrong").
package struct SeenTime: Codable, Sendable, Equatable {
    private struct Jump: Codable, Sendable, Equatable {
        /// Seconds by which the clock jumped ahead; negative for back.
        var seconds: Double
        /// The total time watched when it happened.
        var watched: Double
        /// The clock's reading after it.
        var time: Timestamp
    }

    /// The clock's last reading.
    package private(set) var clock: Timestamp
    /// Total seconds watched.
    private var watched = 0.0
    /// Jumps that do not count yet; all in one direction.
    private var jumps: [Jump] = []

    /// In seconds; smaller jumps count at once.
    private static let least = 86_400.0
    /// Seconds of watching that confirm a jump.
    private static let confirmation = 86_400.0
    /// Jumps within this many seconds of watching are merged, so there are never many.
    private static let grain = 3_600.0

    /// Starts with a clock that is believed.
    package init(_ clock: Timestamp) { self.clock = clock }

    /// Reads the clock.
    ///
    /// - Parameter elapsed: seconds since the last reading, by a clock that cannot be set; 0 if nothing was watching.
    package mutating func look(_ now: Timestamp, elapsed: Double) {
        var jump = now.seconds - clock.seconds - elapsed
        watched += elapsed
        clock = now
        if abs(jump) > Self.least {
            // Correcting a clock cancels out its earlier jumps.
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

    /// The safe time: the clock without its unconfirmed jumps ahead.
    package var time: Timestamp { clock.adding(seconds: -ahead) }

    private var ahead: Double { jumps.reduce(0) { $0 + max(0, $1.seconds) } }

    /// The unconfirmed part; nil if the clock is believed.
    package var held: HeldTime? {
        guard let first = jumps.first, ahead > 0 else { return nil }
        let left = jumps.map { Self.confirmation - (watched - $0.watched) }
        return HeldTime(
            seconds: ahead, since: first.time, safe: time, next: clock.adding(seconds: left.min() ?? 0),
            last: clock.adding(seconds: left.max() ?? 0))
    }
}

/// How far the wall clock has jumped ahead without confirmation.
package struct HeldTime: Sendable, Equatable {
    /// The size of the jump, or of several.
    package let seconds: Double
    /// The clock's reading after the first of them.
    package let since: Timestamp
    /// The safe time.
    package let safe: Timestamp
    /// When the first and the last of them will be confirmed, if watched until then.
    package let next: Timestamp
    package let last: Timestamp

    /// For display.
    package var message: String {
        let days = (seconds / 8_640).rounded() / 10
        return
            "the clock went ahead by \(days) days that nothing confirms (it showed \(since) then). Until the agent "
            + "has run for a day with it, at \(last) if nothing comes between, ages that make rules trash or delete files are "
            + "counted without these days, and so is the history. If the clock is wrong, set it"
    }
}
