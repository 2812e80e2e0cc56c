import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import SQLiteFile
import Watching

/// Checks shared by the start and `doctor`, so that both find the same and word it the same.
extension Examination {
    package struct Check: Sendable {
        package enum Moment: Sendable {
            /// Before a start opens its state; a failure ends the start.
            case first
            /// After the state is open; the start logs failures and goes on.
            case opened
            /// Only in `doctor`: a start finds the same when it opens the databases.
            case asked
        }

        let moment: Moment
        /// Blocks.
        let look: @Sendable (Examination) -> [Finding]
    }

    package static let checks = [
        Check(moment: .first) { $0.stateFolder() },
        Check(moment: .first) { $0.interruptedRestore() },
        Check(moment: .opened) { [$0.space($0.directories.state, "state directory")] },
        Check(moment: .opened) { [$0.clock()] },
        Check(moment: .opened) { [$0.secrets()] },
        Check(moment: .opened) { $0.losses() },
        Check(moment: .asked) { $0.missingLedger() },
        Check(moment: .asked) { $0.damages() },
    ]

    /// The failed checks of a moment. Blocks.
    func complaints(_ moment: Check.Moment) -> [Finding] {
        Self.checks.filter { $0.moment == moment }.flatMap { $0.look(self) }.filter { !$0.isWell }
    }

    private func stateFolder() -> [Finding] {
        let state = directories.state
        guard let remote = FileSystemKind.remoteName(Self.existing(state)) else { return [] }
        return [
            Finding(
                "state directory", "the state directory \(state) is on \(remote), where a ledger is not safe",
                remedy: "put it on a local file system with STEWARD_STATE")
        ]
    }

    private func interruptedRestore() -> [Finding] {
        let state = directories.state
        do {
            guard let found = try StateLock.interruptedRestore(into: state), StateLock.holder(of: state) == nil else {
                return []
            }
            return [Finding("state directory", found.trouble, remedy: found.remedy)]
        } catch {
            return [Finding("state directory", "it cannot be read with your permissions: \(explain(error))")]
        }
    }

    /// The path, or its nearest existing ancestor.
    private static func existing(_ path: BytePath) -> BytePath {
        var path = path
        while !path.isEmpty, (try? FileStatus.of(path)) ?? nil == nil { path = path.parent }
        return path
    }

    func space(_ path: BytePath, _ subject: String) -> Finding {
        var found = statvfs()
        guard Self.existing(path).withCString({ statvfs($0, &found) }) == 0 else {
            return Finding(subject, "\(path) cannot be examined", remedy: "check its permissions")
        }
        let free = Int64(found.f_bavail) * Int64(found.f_frsize)
        if free < 64 << 20 {
            return Finding(
                subject, "\(free >> 20) MiB are free for \(path)",
                remedy: "free some space: work waits while the disk is full")
        }
        return Finding(subject, "\(path), \(free >> 20) MiB free")
    }

    private func clock() -> Finding {
        let now = Timestamp.now()
        let year = configuration.timeZone.local(at: now).civil.date.year
        if year < 2025 {
            return Finding(
                "clock", "it says \(year)", remedy: "set the clock: days of notes and times in anchors come from it")
        }
        let shown = "\(now), zone \(configuration.timeZone.identifier)"
        do {
            return try compared(now) ?? fallback() ?? Finding("clock", shown)
        } catch {
            return fallback()
                ?? Finding("clock", "\(shown); it could not be compared with the ledger: \(explain(error))")
        }
    }

    /// nil unless the zone is UTC because what should name it names none.
    private func fallback() -> Finding? {
        guard configuration.timeZone == .gmt, let unreadable = Zone.unreadable else { return nil }
        return Finding(
            "clock", "the time zone is UTC, as \(printable(unreadable)) names none that is readable",
            remedy:
                "correct it, install tzdata (tzdata-legacy for an old name), or set `time-zone` in the configuration")
    }

    /// Compares the clock with the ledger; nil if they agree.
    private func compared(_ now: Timestamp) throws -> Finding? {
        guard let ledger = try Ledger.openForReading(directory: directories.state) else { return nil }
        let (newest, kept) = try ledger.readBlocking { (try $0.newestEntry(), try $0.keptTime()) }
        guard let newest, var seen = kept else { return nil }
        let both = "it says \(now), and the newest entry of the ledger is of \(newest)"
        if newest.seconds - now.seconds > 3_600 {
            return Finding(
                "clock", "\(both): it is behind, or was ahead then",
                remedy: "set the clock; if it is right now, there is nothing to do")
        }
        seen.look(now, elapsed: 0)
        return seen.held.map {
            Finding(
                "clock", "\(both); \($0.message)",
                remedy: "if the machine was off, there is nothing to do; otherwise set the clock")
        }
    }

    private func secrets() -> Finding {
        guard let status = try? FileStatus.of(directories.configuration) else {
            return Finding("configuration", "\(directories.configuration)")
        }
        if status.mode & 0o022 != 0 {
            return Finding(
                "configuration", "\(directories.configuration) can be changed by others",
                remedy: "chmod go-w \(directories.configuration): whoever writes it decides what runs")
        }
        return Finding("configuration", "\(directories.configuration)")
    }

    private func losses() -> [Finding] {
        do {
            let standing = try directories.losses.standing()
            if standing.isEmpty { return [Finding("databases", "none was lost")] }
            return standing.map {
                Finding("database \($0.database.nameText)", "\($0.time): \($0.message)", remedy: $0.remedy)
            }
        } catch {
            return [Finding("databases", "losses cannot be checked with your permissions: \(explain(error))")]
        }
    }

    /// What has happened if there is no ledger but ``Directories/alive``.
    static func loss(of state: BytePath) -> String {
        "the ledger was lost: there was none in \(state), where an agent has run before"
    }

    private func missingLedger() -> [Finding] {
        let state = directories.state
        do {
            guard try FileStatus.of(directories.alive) != nil, try FileStatus.of(RestoreJournal.file(state)) == nil,
                try FileStatus.of(state.appending("ledger.sqlite"))?.size ?? 0 == 0
            else { return [] }
            return [
                Finding(
                    "database ledger.sqlite", Self.loss(of: state),
                    remedy: "put a backup in its place (`steward restore`) before a start begins an empty one")
            ]
        } catch {
            return [Finding("database ledger.sqlite", "it cannot be read with your permissions: \(explain(error))")]
        }
    }

    /// Databases that would be set aside or refused when next opened.
    private func damages() -> [Finding] {
        let stores = BackupStore.all(
            directories, vaults: [], places: [],
            tk: BackupStore.drafts(ProcessInfo.processInfo.environment), takesSecrets: false)
        return stores.flatMap { store in
            store.databases.compactMap { name -> Finding? in
                let path = store.root.appending(BytePath(name))
                do {
                    return try SQLiteFile.damage(of: path).map {
                        Finding(
                            "database \(name)", "\(path) is corrupt (\($0))",
                            remedy: "move it away, or put a backup in its place (`steward restore`)")
                    }
                } catch {
                    return Finding(
                        "database \(name)", "it cannot be read with your permissions: \(explain(error))")
                }
            }
        }
    }
}
