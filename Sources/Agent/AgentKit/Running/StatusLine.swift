import Foundation
import Ledger
import Platform
import Rules
import Synchronization
import Watching

/// Forwards change notifications to a listener. The notice is created before its listener.
package final class ChangeNotice: Sendable {
    /// A function stored directly in a generic type gains a reabstraction wrapper with each access, and calls go
    /// through all of them; inside a struct it does not.
    private struct Listener {
        let call: @Sendable () -> Void
    }

    private let listener = Mutex<Listener?>(nil)

    package init() {}

    package func listen(_ listener: (@Sendable () -> Void)?) {
        self.listener.withLock { $0 = listener.map { Listener(call: $0) } }
    }

    package func tell() { listener.withLock { $0 }?.call() }
}

/// The line in `systemctl status`: sent when it has changed, at most once every few seconds. Idle while nothing
/// changes.
package final class StatusLine: Sendable {
    private struct Turn {
        var isPending = false
        var last: ContinuousClock.Instant?
    }

    private struct SentLine {
        var line = ""
        var isClosed = false
    }

    private let manager: SystemNotification
    private let pause: Duration
    private let text: @Sendable () async throws -> String
    private let turn = Mutex(Turn())
    /// Locked while a line is sent, so that none is sent after ``close()``. ``changed()`` does not take it.
    private let said = Mutex(SentLine())

    /// - Parameters:
    ///   - manager: receives the line.
    ///   - pause: the minimum time between two lines.
    ///   - text: the current line. If it throws, the previous line stays.
    package init(
        _ manager: SystemNotification, pause: Duration = .seconds(5),
        text: @escaping @Sendable () async throws -> String
    ) {
        (self.manager, self.pause, self.text) = (manager, pause, text)
    }

    /// Something changed that the line may show.
    package func changed() {
        guard manager.isHeard else { return }
        let wait = turn.withLock { turn -> Duration? in
            if turn.isPending { return nil }
            turn.isPending = true
            return turn.last.map { max(.zero, $0 + pause - .now) } ?? .zero
        }
        guard let wait else { return }
        Task {
            try? await Task.sleep(for: wait)
            await self.send()
        }
    }

    private func send() async {
        // Before the text is built, so that a later change causes another line.
        turn.withLock { ($0.isPending, $0.last) = (false, .now) }
        guard let line = try? await text() else { return }
        said.withLock { said in
            if said.isClosed || said.line == line { return }
            said.line = line
            manager.send("STATUS=\(ShownText.line(line))")
        }
    }

    /// Sends no more lines.
    package func close() { said.withLock { $0.isClosed = true } }
}

extension Agent {
    /// Text for the service manager. Places are not accessed.
    func statusText() async throws -> String {
        let runner = await runner.status()
        let roots = source.status().roots
        let rules = core.planner.ruleSet.rules.count
        let (jobs, quarantined, dead) = try await core.ledger.read { transaction in
            (try transaction.jobCounts(), try transaction.quarantine().count, try transaction.outboxCounts().dead)
        }
        var parts = ["\(roots.count) places", "\(rules) rules"]
        if runner.paused { parts.append("paused") }
        for (count, word) in [
            (runner.running, "at work"), (runner.queued, "queued"), (runner.waiting, "waiting"),
            (jobs["asking"] ?? 0, "asking"), (jobs["parked"] ?? 0, "parked"), (quarantined, "in quarantine"),
            (dead, "events given up"),
        ] where count > 0 { parts.append("\(count) \(word)") }
        let problems =
            roots.count { !$0.present } + HangWatch.shared.hangs.count + (reloadDiagnostics.hasErrors ? 1 : 0)
            + (core.ledger.problem == nil ? 0 : 1)
        if problems > 0 { parts.append("\(problems) problems: `steward health`") }
        return parts.joined(separator: ", ")
    }
}
