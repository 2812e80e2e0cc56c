import Glibc

/// Detects whether a silent worker is still doing anything.
struct StandstillWatch {
    private let id: pid_t
    private let standstill: Int64
    private let halt: Int64
    private let secondsBetweenWords: UInt64?
    /// CPU seconds at its last activity and its last record; nil if unknown.
    private var used: Double?
    private var usedAtWord: Double?
    private var lastMoved = SuspendingClock.now
    private var haltedSince: SuspendingClock.Instant?

    /// - Parameters:
    ///   - standstill: wall-clock seconds that it may be inactive.
    ///   - halt: wall-clock seconds for which it may be stopped (SIGSTOP).
    ///   - secondsBetweenWords: CPU seconds between two records; nil if it need not send any.
    init(_ id: pid_t, standstill: Int64, halt: Int64, secondsBetweenWords: UInt64?) {
        (self.id, self.standstill, self.halt) = (id, standstill, halt)
        self.secondsBetweenWords = secondsBetweenWords
        used = Self.processorSeconds(id)
        usedAtWord = used
    }

    /// CPU seconds that it has used.
    var seconds: Double { Self.processorSeconds(id) ?? 0 }

    /// Notes activity other than a record.
    mutating func moved() { (lastMoved, haltedSince) = (.now, nil) }

    mutating func heard() {
        moved()
        if secondsBetweenWords != nil { usedAtWord = Self.processorSeconds(id) }
    }

    /// How the run ends, if it must not continue.
    mutating func look<Last>() -> CagedEnding<Last>? {
        let now = Self.processorSeconds(id)
        if let most = secondsBetweenWords, let now, let usedAtWord, now - usedAtWord > Double(most) {
            return .killed(signal: SIGXCPU)
        }
        if Self.isHalted(id) {
            let since = haltedSince ?? .now
            haltedSince = since
            if since.duration(to: .now) > .seconds(min(halt, standstill)) { return .halted }
        } else {
            haltedSince = nil
        }
        if now == nil || now != used {
            (used, lastMoved) = (now, .now)
        } else if lastMoved.duration(to: .now) > .seconds(standstill) {
            return .stalled
        }
        return nil
    }

    private static func processorSeconds(_ id: pid_t) -> Double? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(id, &clock) == 0, clock_gettime(clock, &time) == 0 else { return nil }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether it is currently stopped by a signal.
    private static func isHalted(_ id: pid_t) -> Bool {
        var found = siginfo_t()
        guard waitid(P_PID, id_t(id), &found, WSTOPPED | WNOHANG | WNOWAIT) == 0 else { return false }
        return found.si_signo == SIGCHLD
    }
}
