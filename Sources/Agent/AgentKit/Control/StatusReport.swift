import ComicVault
import Foundation
import Glibc
import Ledger
import NoteActions
import Platform
import RuleActions
import Rules
import SQLiteFile
import Watching

/// `steward status`: what the agent is doing, and what needs a person's attention.
package struct StatusReport: Codable, Sendable {
    package struct Place: Codable, Sendable {
        package var name: String
        package var kind: PlaceKind
        package var path: BytePath
        package var isPresent: Bool
        /// Whether the folder there is not the one from which the place's files are known.
        package var isReplaced: Bool
        /// The other agent using the place, so that this one does nothing there; nil if there is none.
        package var usedBy: String?
        /// `inotify`, or why the place is polled.
        package var mode: String
        package var watches: Int
        /// Folders and files that the agent may not read, relative to the place.
        package var unreadable: [BytePath]
        /// Files above the place's size limit, with their size in bytes; nil if no daemon runs.
        package var tooLarge: [String: Int64]?
        /// Files skipped because of their names, with the matching patterns; nil if no daemon runs.
        package var passedOver: [String: String]?
    }

    package struct Pending: Codable, Sendable {
        package var place: String
        package var path: BytePath
        package var waitingFor: String
    }

    package struct Waiting: Codable, Sendable {
        package var job: String
        package var rule: String
        package var path: BytePath
        package var problem: String
        package var nextAttempt: Timestamp?
    }

    package var isRunning: Bool
    package var process: Int32?
    package var since: Timestamp?
    package var isPaused: Bool
    package var rules: Int?
    package var files: Int
    package var jobs: [String: Int]
    package var places: [Place]
    package var settling: [Pending]
    /// Number of files waiting for a content worker; nil for none.
    package var unread: Int?
    /// Notes that cannot be written just now, with the reasons.
    package var heldUpNotes: [String: String] = [:]
    /// Calls that have not returned, for places, rules and notes whose file system does not answer.
    package var hanging: [String] = []
    /// Blocks missing from their notes that nobody is known to have removed.
    package var missingBlocks: [MissingBlock] = []
    package var waiting: [Waiting]
    package var parked: [Waiting]
    /// Jobs waiting for confirmation.
    package var asking: [Waiting] = []
    /// Jobs being undone: with the time of the next try, or with the reason why there is none.
    package var undoing: [Waiting] = []
    /// Ready jobs that no scheduler knows: a bug if not zero.
    package var unknownJobs: Int?
    package var quarantined: Int
    /// The last finished backup; nil if there is none.
    package var lastBackup: LastBackup?
    /// When time alone triggers something next; nil for never, as far as is known.
    package var nextDue: Timestamp?
    /// Published events that have not been delivered.
    package var outbox = OutboxCounts()
    /// Event sequences blocked by an event that was given up (`on-dead: hold`); at most a hundred.
    package var heldLanes: [HeldLane] = []
    package var overflows: Int
    package var watchLimitHit: Bool
    package var vaults: [VaultStatus] = []
    /// Lost databases that have not been acknowledged.
    package var losses: [StoreLoss] = []
    /// Why ages and history are not computed by the clock; nil if they are.
    package var clock: String?
    /// nil if no agent is running.
    package var work: WorkNumbers?
    /// Warnings for people: a lost ledger, rules that were not reloaded.
    package var warnings: [String]

    static func live(_ agent: Agent) async throws -> StatusReport {
        let watch = agent.source.status()
        // From memory: a place that hangs is not accessed.
        let there = Dictionary(watch.roots.map { ($0.name, $0.present) }) { first, _ in first }
        var report = try await fromLedger(
            agent.core.ledger, agent.core.configuration, agent.core.directories.losses, there)
        let runner = await agent.runner.status()
        report.hanging = HangWatch.shared.hangs.map(\.message)
        report.work = try await .of(agent)
        report.isRunning = true
        report.clock = agent.core.seen.look().held?.message
        report.process = getpid()
        report.since = agent.started
        report.isPaused = runner.paused
        report.unknownJobs = try await agent.runner.unknownJobs()
        report.rules = agent.core.planner.ruleSet.rules.count
        report.settling = await agent.pipeline.settling().prefix(100).map {
            Pending(place: $0.root, path: $0.path, waitingFor: $0.waitingFor.rawValue)
        }
        report.settling += await agent.pipeline.reading().prefix(100).map {
            Pending(
                place: $0.place, path: $0.path, waitingFor: "its \($0.size) bytes to be read, one large file at a time")
        }
        report.settling += agent.core.contents.looks.map { look in
            let seconds = Int((look.since.duration(to: .now) / .seconds(1)).rounded(.down))
            let called = look.path.map { agent.core.ledger.names.told(look.place, $0) }
            return Pending(
                place: look.place, path: called ?? "a file",
                waitingFor: "a process reads it, for \(seconds) s so far")
        }
        let unread = agent.core.contents.waiting
        if unread > 0 { report.unread = unread }
        for (note, reason) in agent.core.notes.waitingFor() { report.heldUpNotes[note.description] = reason }
        report.overflows = watch.overflows
        report.watchLimitHit = watch.watchLimitHit
        let inUse = agent.core.journal.presence.claims?.inUse ?? [:]
        for (index, place) in report.places.enumerated() {
            report.places[index].usedBy = inUse[place.name]?.description
            guard let status = watch.roots.first(where: { $0.name == place.name }) else { continue }
            report.places[index].isPresent = status.present && !place.isReplaced
            report.places[index].watches = status.watches
            report.places[index].unreadable =
                status.unreadable + (await agent.pipeline.unreadable(place.name)).prefix(100)
            let large = await agent.pipeline.refusedBySize(place.name).prefix(100)
            report.places[index].tooLarge = Dictionary(large.map { ($0.path.description, $0.size) }) { first, _ in first
            }
            report.places[index].passedOver = await agent.pipeline.passedOver(place.name)
            switch status.mode {
            case .inotify: report.places[index].mode = "inotify"
            case .poll(let reason): report.places[index].mode = "polled: \(reason)"
            }
        }
        let vaults = agent.core.vaults.services.map { service in Task { try await VaultStatus.live(service) } }
        for vault in vaults { report.vaults.append(try await vault.value) }
        report.warnings += await agent.warnings().map(\.line)
        report.hide(by: agent.core.ledger.names)
        return report
    }

    /// The part that comes from the ledger, with or without a daemon.
    package static func fromLedger(
        _ ledger: Ledger, _ configuration: Configuration, _ losses: LossRegistry
    ) async throws -> StatusReport {
        var there: [String: Bool] = [:]
        var hanging: [String] = []
        for place in configuration.places.map(\.info) {
            let isThere = try await answer(within: 3) { isFolder(place.root) }
            there[place.name] = isThere ?? false
            if isThere == nil { hanging.append(silent(place.root, place.name)) }
        }
        var report = try await fromLedger(ledger, configuration, losses, there)
        report.hanging = hanging
        return report
    }

    /// The message for a place whose file system does not answer.
    static func silent(_ path: BytePath, _ name: String) -> String {
        "the place \(name): no response at \(path); check whether its disk, server or program is still running"
    }

    /// - Parameter there: by name, whether the place's folder exists.
    private static func fromLedger(
        _ ledger: Ledger, _ configuration: Configuration, _ losses: LossRegistry, _ there: [String: Bool]
    ) async throws -> StatusReport {
        let infos = configuration.places.map(\.info)
        let state = ledger.file.parent
        return try await ledger.read { transaction in
            let places = try infos.map { place in
                let isFolder = there[place.name] ?? false
                let isReplaced = try isFolder && transaction.place(place.name)?.other != nil
                return Place(
                    name: place.name, kind: place.kind, path: place.root, isPresent: isFolder && !isReplaced,
                    isReplaced: isReplaced, mode: "not watched", watches: 0, unreadable: [])
            }
            func waiting(_ state: JobRecord.State) throws -> [Waiting] {
                try transaction.jobs(in: [state], limit: 100).map {
                    Waiting(
                        job: $0.id, rule: $0.rule, path: transaction.names.told($0.place, $0.path),
                        problem: $0.problem ?? "", nextAttempt: $0.nextAttempt)
                }
            }
            var report = StatusReport(
                isRunning: false, process: nil, since: nil, isPaused: try transaction.meta("paused") != nil, rules: nil,
                files: try transaction.countFiles(), jobs: try transaction.jobCounts(), places: places, settling: [],
                waiting: try waiting(.waiting), parked: try waiting(.parked),
                quarantined: try transaction.quarantine().count, overflows: 0, watchLimitHit: false, warnings: [])
            report.asking = try transaction.openQuestions().prefix(100).map { question, job in
                Waiting(
                    job: job.id, rule: job.rule, path: transaction.names.told(job.place, job.path),
                    problem: question.text, nextAttempt: question.until)
            }
            report.undoing = try waiting(.undoing)
            if var seen = try transaction.keptTime() {
                seen.look(.now(), elapsed: 0)
                report.clock = seen.held?.message
            }
            report.outbox = try transaction.outboxCounts()
            report.nextDue = try transaction.nextDue()
            let held = try transaction.heldLanes(of: configuration.publish.filter { $0.onDead == .hold }.map(\.name))
            report.outbox.hold(held)
            report.heldLanes = Array(held.prefix(100))
            report.missingBlocks = Array(try MissingBlock.all(removed: false, in: transaction).prefix(100))
            do {
                report.lastBackup = try LastBackup.read(in: state)
            } catch {
                report.warnings.append(explain(error))
            }
            do {
                report.losses = try losses.standing()
                report.warnings += report.losses.map(\.line)
            } catch {
                report.warnings.append("lost databases cannot be checked: \(explain(error))")
            }
            return report
        }
    }

    /// Whether calls made on its behalf have not returned.
    func isHanging(_ whose: Bulkhead) -> Bool { hanging.contains { $0.hasPrefix("\(whose.label):") } }

    /// The message for a place whose folder is a different one.
    static func other(_ path: BytePath, _ name: String) -> String {
        "the folder at \(path) is a different one and lacks the known files. They do not count as removed, and nothing is "
            + "written, until the original is mounted or put back. If the change is intended: `steward rebuild --accept "
            + "\(name)`"
    }

    private static func isFolder(_ path: BytePath) -> Bool {
        var found = stat()
        return path.withCString { stat($0, &found) } == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// For the terminal.
    package var lines: [String] {
        var out: [String] = []
        if isRunning {
            out.append(
                "running as process \(process ?? 0) since \(since?.description ?? "?")\(isPaused ? ", paused" : "")")
        } else {
            out.append("not running\(isPaused ? " (paused)" : "")")
        }
        out += (warnings + hanging).map { "! \($0)" }
        out.append("")
        for place in places {
            let state =
                if isHanging(.place(place.name)) {
                    "does not respond"
                } else if let other = place.usedBy {
                    "in use by \(other)"
                } else if place.isPresent {
                    "(\(place.mode))"
                } else {
                    place.isReplaced ? "is away" : "does not exist"
                }
            out.append("  \(place.name.padding(toLength: 10, withPad: " ", startingAt: 0)) \(place.path)  \(state)")
            if place.isReplaced { out.append("    \(Self.other(place.path, place.name))") }
            out += place.unreadable.map { "    unreadable: \($0) (grant the agent's user access)" }
            out += (place.tooLarge ?? [:]).sorted { $0.key < $1.key }.map {
                "    too large: \($0.key) (\($0.value) bytes; `limits: { size: … }` at the place)"
            }
        }
        for place in places {
            let names = (place.passedOver ?? [:]).sorted { $0.key < $1.key }
            out += names.prefix(10).map {
                "  skipped in \(place.name): \($0.key) (matches `\($0.value)`; see `ignore` in steward.yaml)"
            }
            if names.count > 10 { out.append("  skipped in \(place.name): \(names.count - 10) more") }
        }
        out += vaults.filter { $0.isThere || !$0.problems.isEmpty }.map { vault in
            "  vault \(vault.name): \(vault.isUnlocked ? "unlocked" : "locked")"
                + (vault.problems.isEmpty ? "" : "; see `steward vault status`")
        }
        out.append("")
        let counts = JobRecord.State.allCases.compactMap { state in
            jobs[state.rawValue].map { "\($0) \(state.rawValue)" }
        }
        out.append("\(files) files known; jobs: \(counts.isEmpty ? "none yet" : counts.joined(separator: ", "))")
        out += work?.lines ?? []
        if quarantined > 0 { out.append("\(quarantined) in quarantine: `steward quarantine list`") }
        if let lastBackup { out.append("last backup: \(lastBackup.time), \(lastBackup.path)") }
        if let clock { out.append("held back: \(clock)") }
        if let nextDue { out.append("next with time: \(nextDue): `steward due`") }
        if outbox.waiting > 0 {
            out.append(
                "outbox: \(outbox.waiting) waiting, \(outbox.due) of them due"
                    + (outbox.held > 0 ? ", \(outbox.held) held" : "")
                    + (outbox.oldest.map { ", the oldest since \($0)" } ?? "") + ": `steward outbox`")
        }
        if outbox.dead > 0 { out.append("outbox: \(outbox.dead) given up and waiting for you: `steward outbox`") }
        out += heldLanes.prefix(10).map { "  \($0.line)" }
        if heldLanes.count > 10 { out.append("  \(heldLanes.count - 10) more sequences are held: `steward outbox`") }
        if !settling.isEmpty { out.append("settling:") }
        out += settling.prefix(10).map { "  \($0.place)/\($0.path): \($0.waitingFor)" }
        if let unread { out.append("  \(unread) more wait for a process that reads their content") }
        out += heldUpNotes.sorted { $0.key < $1.key }.map { "waiting to write \($0.key): \($0.value)" }
        if !missingBlocks.isEmpty { out.append("missing from notes (`steward blocks restore` puts them back):") }
        out += missingBlocks.prefix(10).map { "  \($0.line)" }
        if !waiting.isEmpty { out.append("waiting:") }
        out += waiting.prefix(10).map { "  \($0.job.prefix(12))  \($0.rule): \($0.problem)" }
        if !asking.isEmpty { out.append("asking you (`steward confirm JOB`, `steward decline JOB`):") }
        out += asking.prefix(10).map { "  \($0.job.prefix(12))  \($0.rule): \($0.problem)" }
        if !undoing.isEmpty { out.append("being undone (`steward undo JOB` tries at once):") }
        out += undoing.prefix(10).map { "  \($0.job.prefix(12))  \($0.rule): \($0.problem)" }
        if !parked.isEmpty { out.append("parked and waiting for you (`steward retry JOB`):") }
        out += parked.prefix(10).map { "  \($0.job.prefix(12))  \($0.rule): \($0.problem)" }
        return out
    }
}
