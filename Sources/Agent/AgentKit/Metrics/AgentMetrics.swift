import ComicVault
import FileActions
import Foundation
import Ledger
import NoteActions
import OwnFiles
import Platform
import RuleActions
import Rules
import SQLiteFile
import Watching

/// All metrics of an agent: counters since its start, and the current state of the ledger and the watcher. Places are
/// not accessed, so one that hangs does not delay a scrape.
package struct AgentMetrics: Sendable {
    private let agent: Agent

    package init(_ agent: Agent) { self.agent = agent }

    /// In the Prometheus text format.
    package func document() async -> String { MetricText.document(await families()) }

    package func families() async -> [MetricFamily] {
        let (ledger, losses) = (agent.core.ledger, agent.core.directories.losses)
        let files = await BlockingPool("metrics").runQuietly {
            Self.sizes(of: ledger.file) + Self.lastBackup(in: ledger.file.parent) + Self.losses(losses)
                + ProcessNumbers.families()
        }
        let parts = [
            agent.core.metrics.snapshot(), watching(), await running(), await unknownJobs(), await vaults(),
            await stored(), files,
        ]
        return parts.flatMap(\.self)
    }

    private static func gauge(_ name: String, _ value: Double) -> MetricFamily { gauge(name, [([], value)]) }

    private static func gauge(_ name: String, by label: String, _ values: [String: Int]) -> MetricFamily {
        gauge(name, values.map { ([MetricLabel(label, $0.key)], Double($0.value)) })
    }

    private static func gauge(_ name: String, _ values: [([MetricLabel], Double)]) -> MetricFamily {
        MetricFamily(name, .gauge, samples: values.map { MetricSample(name, $0.0, $0.1) })
    }

    private static func counter(_ name: String, _ value: Int) -> MetricFamily {
        MetricFamily(name, .counter, samples: [MetricSample(name, Double(value))])
    }

    // MARK: In memory

    private func watching() -> [MetricFamily] {
        let watch = agent.source.status()
        let polled = watch.roots.map { ([MetricLabel("place", $0.name)], Double($0.polledFolders)) }
        return [
            Self.counter("steward_watch_events_total", watch.events),
            Self.counter("steward_watch_overflows_total", watch.overflows),
            Self.counter("steward_watch_rescans_total", watch.rescans),
            Self.gauge("steward_watches", Double(watch.watches)),
            Self.gauge("steward_watch_limit_reached", watch.watchLimitHit ? 1 : 0),
            Self.gauge("steward_place_polled_folders", polled),
            Self.gauge("steward_hanging_calls", Double(HangWatch.shared.hangs.count)),
        ]
    }

    private func running() async -> [MetricFamily] {
        let runner = await agent.runner.status()
        return [
            Self.gauge("steward_jobs_at_work", Double(runner.running)),
            Self.gauge("steward_paused", runner.paused ? 1 : 0),
            Self.gauge("steward_files_settling", Double(await agent.pipeline.settling().count)),
            Self.gauge("steward_notes_held_up", Double(agent.core.notes.waitingFor().count)),
            Self.gauge("steward_rules", Double(agent.core.planner.ruleSet.rules.count)),
            Self.gauge("steward_rules_valid", agent.reloadDiagnostics.hasErrors ? 0 : 1),
            Self.counter("steward_log_lines_lost_total", agent.lines.lost),
            Self.gauge("steward_ledger_writable", agent.core.ledger.problem == nil ? 1 : 0),
        ]
    }

    /// Empty if the ledger cannot be read: 0 would mean that all is well.
    private func unknownJobs() async -> [MetricFamily] {
        guard let count = try? await agent.runner.unknownJobs() else { return [] }
        return [Self.gauge("steward_jobs_unknown", Double(count))]
    }

    private func vaults() async -> [MetricFamily] {
        var values: [([MetricLabel], Double)] = []
        for service in agent.core.vaults.services {
            values.append(([MetricLabel("vault", service.place.name)], await service.isUnlocked ? 1 : 0))
        }
        return values.isEmpty ? [] : [Self.gauge("steward_vault_unlocked", values)]
    }

    // MARK: On disk

    /// Metrics from the ledger. Empty if it cannot be read, for which ``MetricCatalog`` has a separate metric.
    private func stored() async -> [MetricFamily] {
        let roots = agent.source.status().roots
        let holding = agent.core.configuration.publish.filter { $0.onDead == .hold }.map(\.name)
        let inUse = agent.core.journal.presence.claims?.inUse ?? [:]
        let found = try? await agent.core.ledger.read { transaction in
            let now = Timestamp.now()
            var jobs = Dictionary(uniqueKeysWithValues: JobRecord.State.allCases.map { ($0.rawValue, 0) })
            jobs.merge(try transaction.jobCounts()) { $1 }
            var outbox = try transaction.outboxCounts()
            outbox.hold(try transaction.heldLanes(of: holding))
            let up = try roots.map { root in
                let isUp = try root.present && inUse[root.name] == nil && transaction.place(root.name)?.other == nil
                return ([MetricLabel("place", root.name)], isUp ? 1.0 : 0)
            }
            func age(_ time: Timestamp?) -> Double { time.map { max(0, now.seconds - $0.seconds) } ?? 0 }
            return [
                Self.gauge("steward_place_up", up),
                Self.gauge("steward_jobs", by: "state", jobs),
                Self.gauge("steward_oldest_job_age_seconds", age(try transaction.oldestOpenJob())),
                Self.gauge("steward_files", Double(try transaction.countFiles())),
                Self.gauge("steward_quarantined_files", Double(try transaction.quarantine().count)),
                Self.gauge(
                    "steward_blocks_missing",
                    Double(try MissingBlock.all(removed: false, in: transaction).prefix(100).count)),
                Self.gauge(
                    "steward_outbox_events", by: "state",
                    ["waiting": outbox.waiting, "due": outbox.due, "held": outbox.held, "dead": outbox.dead]),
                Self.gauge("steward_outbox_oldest_age_seconds", age(outbox.oldest)),
            ]
        }
        return found ?? []
    }

    /// Blocks.
    private static func sizes(of file: BytePath) -> [MetricFamily] {
        let files = [("ledger", file), ("log", BytePath(bytes: file.bytes + Array("-wal".utf8)))]
        let sizes = files.map { name, path in
            ([MetricLabel("file", name)], Double(((try? FileStatus.of(path)) ?? nil)?.size ?? 0))
        }
        return [gauge("steward_ledger_bytes", sizes)]
    }

    /// Empty if the losses cannot be read; `status` and `health` report that. Blocks.
    private static func losses(_ registry: LossRegistry) -> [MetricFamily] {
        guard let standing = try? registry.standing() else { return [] }
        return [gauge("steward_stores_lost", Double(standing.count))]
    }

    /// Empty if no backup is known; an unreadable record is reported by `status` and `health`. Blocks.
    private static func lastBackup(in state: BytePath) -> [MetricFamily] {
        guard let last = try? LastBackup.read(in: state) else { return [] }
        return [gauge("steward_last_backup_timestamp_seconds", last.time.seconds)]
    }
}
