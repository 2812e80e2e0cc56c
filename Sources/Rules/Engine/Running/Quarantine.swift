import Foundation
import JSONText
import Ledger
import Logging
import Platform
import Synchronization

/// Where refused files lie: `quarantine/<day>/<job>/`, the file with its name, and the reason as text and JSON.
package struct Quarantine: Sendable {
    private let root: BytePath
    /// Bytes that may lie there.
    private let limit: Int64
    private let journal: EffectJournal
    let lane = BlockingPool("quarantine", threads: 1, perBulkhead: true)
    private let tally = Tally()

    private final class Tally: Sendable {
        /// Bytes that lie there, as far as that is known.
        let held = Mutex<Int64?>(nil)
        /// Moves that were cut off and could not be finished yet.
        let left = Mutex<Set<String>>([])
        /// The jobs of those that are being finished.
        let finishing = Mutex<Set<String>>([])
        let inWork = Mutex<PathsInWork?>(nil)
        let rules = Mutex<@Sendable () -> RuleSet>({ .notYetRead })
        let ended = Mutex<(@Sendable (_ job: String) async -> Void)?>(nil)
    }

    package init(root: BytePath, limit: Int64 = .max, journal: EffectJournal) {
        self.root = root
        self.limit = limit
        self.journal = journal
    }

    /// Has what is on its way into quarantine noted there, as what steps are at work on is; and what follows a refusal
    /// planned by the rules that are in force then.
    func share(_ inWork: PathsInWork, _ rules: @escaping @Sendable () -> RuleSet) {
        tally.inWork.withLock { $0 = inWork }
        tally.rules.withLock { $0 = rules }
    }

    private var rules: RuleSet { tally.rules.withLock { $0 }() }

    /// The record with its place's folder as it is configured now.
    ///
    /// - Throws: `Fault(.failed)` where it is not.
    private func placed(_ record: QuarantineRecord) throws -> QuarantineRecord {
        guard let placed = placedIfAny(record) else {
            throw Fault(
                .failed,
                "the place `\(record.place)`, where the file lay, is not in the configuration any more; put it back there, or "
                    + "take the file out of \(record.stored.parent) yourself", path: record.stored)
        }
        return placed
    }

    private func placedIfAny(_ record: QuarantineRecord) -> QuarantineRecord? {
        guard let root = journal.places[name: record.place]?.root else { return nil }
        var placed = record
        placed.root = root
        return placed
    }

    /// Has it told when a move that was cut off is finished, or cannot be yet. What follows the refusal lies in the ledger then.
    func tellEnds(_ tell: @escaping @Sendable (_ job: String) async -> Void) { tally.ended.withLock { $0 = tell } }

    /// The jobs whose files are on their way, by moves that were cut off and are being finished.
    var jobsAtWork: Set<String> { tally.finishing.withLock { $0 } }

    private struct Reason: Codable {
        let file: String
        let place: String
        let rule: String
        let job: String
        let reason: String
        /// The reason in one word, where the action gave one.
        let code: String?
        let time: String
        let restore: String
    }

    /// Moves the job's file into quarantine. Begun and finished in the ledger, so a crash in between is finished by
    /// ``recover(_:again:)``.
    ///
    /// - Returns: the job of `on-failure`, where this calls for it.
    package func isolate(
        _ job: JobRecord, _ file: FileReference, reason: String, code: String? = nil
    ) async throws -> PlannedJob? {
        let id = String(job.id.prefix(12))
        let day = String(Timestamp.now().description.prefix(10))
        // A file that is itself called `reason.txt` must not be replaced by the reason.
        let isReason = file.path.nameText == "reason.txt" || file.path.nameText == "reason.json"
        let name = isReason ? Array("file-".utf8) + file.path.name : file.path.name
        let folder = root.appending(day).appending(id)
        // Of a hidden file the ledger is told the folder alone; below it the file keeps its whole path.
        let isHidden = journal.ledger.names.hides(file.place, file.path)
        let stored = isHidden ? folder.appending(Self.hiddenFolder) : folder.appending(name: name)
        let record = QuarantineRecord(
            id: id, job: job.id, place: file.place, path: file.path, root: file.root, stored: stored, reason: reason,
            code: code)
        let begun = record
        try await journal.ledger.write { try $0.setQuarantine(begun) }
        do {
            return try await finish(record, rule: job.rule, file)
        } catch let fault as Fault where fault.kind == .superseded || fault.code == Self.full {
            try await letGo(record)
            throw fault
        }
    }

    /// - Throws: `Fault(.refused)`, with ``full`` as its code, where there is none.
    private func requireRoom(for source: BytePath, _ files: HeldFiles) throws {
        guard limit < .max, let status = try files.status(source) else { return }
        if tally.held.withLock({ $0 == nil }) {
            let measured = try measured(files)
            tally.held.withLock { $0 = $0 ?? measured }
        }
        // In one go, so that two together do not take more than there is.
        let (held, fits) = tally.held.withLock { held in
            let before = held ?? 0
            let fits = before + status.allocated <= limit
            if fits { held = before + status.allocated }
            return (before, fits)
        }
        if fits { return }
        throw Fault(
            .refused,
            "quarantine is full: \(held) bytes lie there and \(limit) may (`quarantine: { size: … }`); empty it with "
                + "`steward quarantine drop`", path: source, code: Self.full)
    }

    /// Looks through all of it, once: what is isolated afterwards is added up.
    private func measured(_ files: HeldFiles) throws -> Int64 {
        var held: Int64 = 0
        var folders = try files.status(root) == nil ? [] : [root]
        while let path = folders.popLast() {
            let folder = try files.folder(path)
            for entry in try folder.entries() {
                guard let found = try folder[entry.name].status() else { continue }
                if found.kind == .directory { folders.append(path.appending(name: entry.name)) }
                if found.kind == .file { held += found.allocated }
            }
        }
        return held
    }

    /// The ``Fault/code`` of a file that found no room.
    static let full = "quarantine-full"

    /// Finishes what a crash interrupted. What a file system that does not answer keeps from being finished is finished when
    /// it answers, and holds up nothing else.
    ///
    /// - Parameter again: whether only what could not be finished before is tried; other moves may be at work.
    package func recover(_ log: Logger, again: Bool = false) async throws {
        let left = tally.left.withLock { left in
            defer { left = [] }
            return left
        }
        if again, left.isEmpty { return }
        for record in try await journal.ledger.read({ try $0.quarantine(in: [.moving]) })
        where !again || left.contains(record.id) {
            let record = placedIfAny(record) ?? record
            // An earlier try may be at it yet.
            guard tally.finishing.withLock({ $0.insert(record.job).inserted }) else { continue }
            let source = record.root.appending(record.path)
            let inWork = tally.inWork.withLock { $0 }
            inWork?.begin([source])
            let whose = Bulkhead.place(record.place)
            let done: Void? = try await outcome(unlessHung: whose) {
                let result = await Bulkhead.$current.withValue(whose) { await self.finishCutOff(record, log) }
                inWork?.end([source])
                self.tally.finishing.withLock { _ = $0.remove(record.job) }
                let tell = self.tally.ended.withLock { $0 }
                await tell?(record.job)
                try result.get()
            }
            guard done == nil else { continue }
            log.warning(
                """
                a move into quarantine was cut off and waits: the file system of the place \(record.place) does not answer \
                (`steward status` says more); it is finished when that does
                """, metadata: LogFields.job(record.job))
        }
    }

    private func finishCutOff(_ record: QuarantineRecord, _ log: Logger) async -> Result<Void, any Error> {
        let names = journal.ledger.names
        do {
            let job = try await journal.ledger.read { try $0.job(record.job) }
            do {
                if HiddenNames.isToken(record.path) { try names.requireLearned(record.place) }
                let file = try job.map {
                    try FileReference(stored: $0.file, in: journal.places, showing: names)
                }
                _ = try await finish(record, rule: job?.rule ?? "", file)
            } catch let fault as Fault where fault.kind == .superseded || fault.code == Self.full {
                try await letGo(record)
            } catch let fault as Fault where fault.kind == .transient || fault.code == Fault.link {
                // Its place is away, or somebody has put a link in the way: it stays begun, until a place is there again, or
                // for the next start.
                tally.left.withLock { _ = $0.insert(record.id) }
                log.warning("a move into quarantine cannot be finished yet: \(fault.message)")
            }
            return .success(())
        } catch {
            log.error(
                "a move into quarantine was cut off and cannot be finished: \(explain(error))",
                metadata: LogFields.job(record.job))
            return .failure(error)
        }
    }

    /// Ends a move into quarantine that will not be: the file is gone, or another version than the refused one.
    private func letGo(_ record: QuarantineRecord) async throws {
        var dropped = record
        dropped.state = .dropped
        let gone = dropped
        try await journal.ledger.write { transaction in
            // It may have come there by another try.
            guard try transaction.quarantine(in: [.moving]).contains(where: { $0.id == gone.id }) else { return }
            try transaction.setQuarantine(gone)
        }
    }

    /// Where a hidden file lies, below the folder of its job.
    private static let hiddenFolder = "file"

    /// The record with the name of a hidden file, which stands on the disk only. Blocks.
    package static func located(_ record: QuarantineRecord, _ files: HeldFiles) throws -> QuarantineRecord {
        guard try files.status(record.stored)?.kind == .directory else { return record }
        var found = record
        while try files.status(found.stored)?.kind == .directory {
            guard let entry = try files.list(found.stored).first else { return record }
            found.stored = found.stored.appending(name: entry.name)
        }
        found.path = found.stored.relative(to: record.stored) ?? record.path
        return found
    }

    /// - Parameter file: what was refused, and its content, where that was read; nil where it is not known any more.
    /// - Returns: the job of `on-failure`, where this calls for it.
    private func finish(_ record: QuarantineRecord, rule: String, _ file: FileReference?) async throws -> PlannedJob? {
        let journal = journal
        let names = journal.ledger.names
        let source = record.root.appending(record.path)
        let isHidden = record.stored.nameText == Self.hiddenFolder && names.hides(record.place, record.path)
        try await lane.run {
            let folder = record.stored.parent
            let target = isHidden ? record.stored.appending(record.path) : record.stored
            let files = journal.files()
            try files.makeFolders(for: target, mode: 0o700)
            let there = try isHidden ? Self.located(record, files) : record
            if try files.status(there.stored)?.kind == .file {
                try Self.removeSource(of: there, file, files)
            } else {
                try requireRoom(for: source, files)
                let hash = try file?.hash ?? files.hash(source)
                _ = try files.move(source, expecting: hash, to: [target]) {
                    try journal.recordStaged($0, $1, step: record.job)
                }
            }
            let reason = Reason(
                file: isHidden
                    ? names.called(record.place, record.path) : record.root.appending(record.path).description,
                place: record.place, rule: rule, job: record.job,
                reason: record.reason, code: record.code, time: record.time.description,
                restore: "steward quarantine restore \(record.id)")
            try files.replaceOwn(folder.appending("reason.json"), with: Array(try JSONText.indented(reason).utf8))
            let said = """
                \(reason.file)
                was refused by the rule "\(rule)" at \(reason.time):

                \(record.reason)

                To put it back where it was:  \(reason.restore)
                To delete it:                 steward quarantine drop \(record.id)

                """
            // Read in a terminal, as likely as not.
            let text = ShownText.lines(said)
            try files.replaceOwn(folder.appending("reason.txt"), with: Array(text.utf8))
        }
        var held = record
        held.state = .held
        let kept = held
        return try await journal.ledger.write { transaction -> PlannedJob? in
            var next: PlannedJob?
            try transaction.setQuarantine(kept)
            try transaction.clearStaged(job: kept.job)
            try transaction.setGone(kept.place, kept.path)
            try transaction.removeProduct(kept.root.appending(kept.path))
            // Here, so that after a crash the job is not found open with its file gone, nor closed without what follows.
            if var job = try transaction.job(kept.job), job.state.isOpen {
                job.state = .refused
                job.problem = kept.reason
                try transaction.update(job)
                next = try FailureSteps.follow(job, rules, in: transaction)
            }
            try transaction.note(
                "refused", "into quarantine: \(kept.reason)", job: kept.job, place: kept.place, path: kept.path)
            return next
        }
    }

    /// What is left of the source where a move to another file system was cut off when the copy was whole. What has its name
    /// by now, if that is another file, stays.
    private static func removeSource(of there: QuarantineRecord, _ file: FileReference?, _ files: HeldFiles) throws {
        let source = there.root.appending(there.path)
        let hash = try files.hash(there.stored)
        guard file?.hash == nil || file?.hash == hash else { return }
        do {
            guard let left = try files.spotIfAny(source) else { return }
            let (was, print) = (file?.fingerprint, try left.status()?.fingerprint)
            // Devices may have been numbered anew since; and it goes only if it holds what lies in quarantine.
            if let was, let print, (print.inode, print.size, print.modified) == (was.inode, was.size, was.modified) {
                try files.removeSource(source, expecting: hash)
            } else {
                _ = try Mover.finishRemoval(of: left, expecting: hash)
            }
        } catch let fault as Fault where fault.code == Fault.link {
            // Whoever has put a link in the way has what lies there now.
            return
        }
    }

    /// Puts the file back; it counts as seen, so that no rule refuses it at once again.
    ///
    /// - Returns: where it is, by its old name, or by `name (1).ext` where that is taken.
    package func putBack(_ held: QuarantineRecord) async throws -> FileReference {
        let held = try placed(held)
        let journal = journal
        let files = journal.files()
        let record = try await lane.run { try Self.located(held, files) }
        let target = record.root.appending(record.path)
        let placed = try await lane.run {
            try journal.makeFolders(for: target, files)
            let hash = try files.hash(record.stored)
            return try files.move(record.stored, expecting: hash, to: Mover.alternatives(target), .unchanged) {
                try journal.recordStaged($0, $1, step: record.job)
            }
        }
        var restored = held
        restored.state = .restored
        let done = restored
        let relative = placed.path.relative(to: record.root) ?? record.path
        try await journal.ledger.write { transaction in
            try transaction.setQuarantine(done)
            try transaction.clearStaged(job: done.job)
            let version = try transaction.file(done.place, relative)?.version ?? 0
            try transaction.setFile(
                FileRecord(
                    place: done.place, path: relative, fingerprint: placed.fingerprint, hash: placed.hash,
                    version: version + 1))
            try transaction.note("restored", "from quarantine", job: done.job, place: done.place, path: relative)
        }
        try await lane.run { try clearFolder(held, journal.files()) }
        return FileReference(
            place: record.place, root: record.root, path: relative, fingerprint: placed.fingerprint, hash: placed.hash)
    }

    /// Deletes the refused file for good.
    package func drop(_ record: QuarantineRecord) async throws {
        try await lane.run {
            let files = journal.files()
            try files.remove(Self.located(record, files).stored)
            try clearFolder(record, files)
        }
        var dropped = record
        dropped.state = .dropped
        let done = dropped
        try await journal.ledger.write { transaction in
            try transaction.setQuarantine(done)
            try transaction.note("dropped", "from quarantine", job: done.job, place: done.place, path: done.path)
        }
    }

    private func clearFolder(_ record: QuarantineRecord, _ files: HeldFiles) throws {
        tally.held.withLock { $0 = nil }
        let folder = record.stored.parent
        try Self.removeEmptyFolders(record.stored, files)
        try files.remove(folder.appending("reason.json"))
        try files.remove(folder.appending("reason.txt"))
        // A folder that still holds something stays.
        try files.removeFolder(folder)
    }

    private static func removeEmptyFolders(_ folder: BytePath, _ files: HeldFiles) throws {
        guard try files.status(folder)?.kind == .directory else { return }
        for entry in try files.list(folder) {
            try removeEmptyFolders(folder.appending(name: entry.name), files)
        }
        try files.removeFolder(folder)
    }
}
