import Foundation
import Ledger
import Platform
import Rules
import Synchronization
import Watching

/// Hands on that something has changed, to whoever wants to hear of it. What tells is made before who listens.
package final class ChangeNotice: Sendable {
    /// A function that lies in a generic type by itself is wrapped once more each time that it is looked at, and so called
    /// through all of these; within a structure it is not.
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

/// What `systemctl status` shows in a line: sent when it has changed, and not more often than every few seconds. Nothing
/// runs while nothing changes.
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
    /// Held while a line goes out, so that none goes out after ``close()``; not asked for where something changes.
    private let said = Mutex(SentLine())

    /// - Parameters:
    ///   - manager: gets it.
    ///   - pause: between two lines at least.
    ///   - text: what there is to say now. Where it throws, the line of before stays.
    package init(
        _ manager: SystemNotification, pause: Duration = .seconds(5),
        text: @escaping @Sendable () async throws -> String
    ) {
        self.manager = manager
        self.pause = pause
        self.text = text
    }

    /// Something has changed that the line may tell.
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
        // Before it is asked: what changes from here on is told once more.
        turn.withLock { ($0.isPending, $0.last) = (false, .now) }
        guard let line = try? await text() else { return }
        said.withLock { said in
            if said.isClosed || said.line == line { return }
            said.line = line
            manager.send("STATUS=\(ShownText.line(line))")
        }
    }

    /// Nothing more is told.
    package func close() { said.withLock { $0.isClosed = true } }
}

extension Agent {
    /// For the service manager. What lies on places is not asked.
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
