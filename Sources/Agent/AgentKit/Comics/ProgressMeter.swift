import Foundation
import Glibc
import Platform
import Synchronization

/// A progress line on the terminal. Thread-safe; cheap to update often.
package final class ProgressMeter: Sendable {
    private struct State {
        var lastDrawn: Timestamp
        var isShown = false
    }

    private let width: Int?
    private let put: @Sendable (String) -> Void
    private let now: @Sendable () -> Timestamp
    private let state: Mutex<State>

    /// Nanoseconds until the line appears, and between two updates.
    private static let delay: Int64 = 300_000_000
    private static let pace: Int64 = 100_000_000

    /// - Parameter width: columns; nil shows nothing.
    package init(
        width: Int?, now: @escaping @Sendable () -> Timestamp = { .now() }, put: @escaping @Sendable (String) -> Void
    ) {
        (self.width, self.put, self.now) = (width, put, now)
        state = Mutex(State(lastDrawn: Timestamp(nanoseconds: now().nanoseconds + Self.delay - Self.pace)))
    }

    /// On standard error, if that is a terminal that can move its cursor, unless `isOff`.
    package static func standard(isOff: Bool = false) -> ProgressMeter {
        let isDumb = ["dumb", ""].contains(ProcessInfo.processInfo.environment["TERM"] ?? "")
        return ProgressMeter(width: isOff || isDumb ? nil : TextWidth.terminal(STDERR_FILENO)) { text in
            let bytes = Array(text.utf8)
            // A terminal that accepts no more output is not worth waiting or failing for.
            _ = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        }
    }

    /// - Parameters:
    ///   - done: out of `total`, in any unit.
    ///   - text: the current activity; shortened to fit.
    package func show(_ done: Int64, of total: Int64, _ text: @autoclosure () -> String) {
        guard let width else { return }
        let time = now()
        let isDue = state.withLock { state in
            guard time.nanoseconds - state.lastDrawn.nanoseconds >= Self.pace else { return false }
            state.lastDrawn = time
            state.isShown = true
            return true
        }
        if isDue { put("\r" + Self.line(done, total, ShownText.line(text()), width: width) + "\u{1B}[K") }
    }

    /// Erases the line; later output starts in its place.
    package func clear() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if wasShown { put("\r\u{1B}[K") }
    }

    static func line(_ done: Int64, _ total: Int64, _ text: String, width: Int) -> String {
        let share = total > 0 ? min(1, max(0, Double(done) / Double(total))) : 0
        let cells = min(30, max(8, width / 4))
        let full = Int(share * Double(cells))
        let percent = String(Int(share * 100))
        let bar = String(repeating: "#", count: full) + String(repeating: ".", count: cells - full)
        let front = "[\(bar)] \(String(repeating: " ", count: 3 - percent.count))\(percent) %  "
        return front + TextWidth.shortened(text, to: max(0, width - front.count - 1))
    }
}
