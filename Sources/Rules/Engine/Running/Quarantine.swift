import Foundation
import JSONText
import Ledger
import Logging
import Platform
import Synchronization

/// Where refused files go: `quarantine/<day>/<job>/` holds the file under its name, and the reason as text and JSON.
package struct Quarantine: Sendable {
    private let root: BytePath
    /// Maximum size in bytes.
    private let limit: Int64
    private let journal: EffectJournal
    let pool = BlockingPool("quarantine", threads: 1, perBulkhead: true)
    private let tally = Tally()

    private final class Tally: Sendable {
        /// Bytes in quarantine; nil until measured.
        let held = Mutex<Int64?>(nil)
        /// Interrupted moves that could not be finished yet.
        let left = Mutex<Set<String>>([])
        /// The jobs of the moves being finished.
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

    /// Sets where paths on their way into quarantine are recorded, as those of steps are, and the rules by which the
    /// follow-up of a refusal is planned.
    func share(_ inWork: PathsInWork, _ rules: @escaping @Sendable () -> RuleSet) {
        tally.inWork.withLock { $0 = inWork }
        tally.rules.withLock { $0 = rules }
    }

    private var rules: RuleSet { tally.rules.withLock { $0 }() }

    /// The record with its place's root as currently configured.
    ///
    /// - Throws: `Fault(.failed)` if the place is not configured any more.
    private func placed(_ record: QuarantineRecord) throws -> QuarantineRecord {
        guard let placed = placedIfAny(record) else {
            throw Fault(
                .failed,
                "the file's place `\(record.place)` is no longer in the configuration; put it back there, or "
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

    /// Sets the handler called when an interrupted move is finished, or cannot be finished yet. By then, the
    /// follow-up of the refusal is in the ledger.
    func tellEnds(_ tell: @escaping @Sendable (_ job: String) async -> Void) { tally.ended.withLock { $0 = tell } }

    /// The jobs whose interrupted moves are being finished.
    var jobsAtWork: Set<String> { tally.finishing.withLock { $0 } }

    private struct Reason: Codable {
        let file: String
        let place: String
        let rule: String
        let job: String
        let reason: String
        /// The fault's code, if the action gave one.
        let code: String?
        let time: String
        let restore: String
    }

    /// Moves the job's file into quarantine. Start and end are committed to the ledger, so ``recover(_:again:)`` can
    /// finish the move after a crash.
    ///
    /// - Returns: the `on-failure` job, if there is one.
    package func isolate(
        _ job: JobRecord, _ file: FileReference, reason: String, code: String? = nil
    ) async throws -> PlannedJob? {
        let id = String(job.id.prefix(12))
        let day = String(Timestamp.now().description.prefix(10))
        // Keeps the reason from replacing a file that is itself called `reason.txt`.
        let isReason = file.path.nameText == "reason.txt" || file.path.nameText == "reason.json"
        let name = isReason ? Array("file-".utf8) + file.path.name : file.path.name
        let folder = root.appending(day).appending(id)
        // For a hidden file the ledger records only the folder; the file keeps its whole path below it.
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

    /// - Throws: `Fault(.refused)` with code ``full`` if there is no room.
    private func requireRoom(for source: BytePath, _ files: HeldFiles) throws {
        guard limit < .max, let status = try files.status(source) else { return }
        if tally.held.withLock({ $0 == nil }) {
            let measured = try measured(files)
            tally.held.withLock { $0 = $0 ?? measured }
        }
        // In one critical section, so that concurrent moves do not exceed the limit.
        let (held, fits) = tally.held.withLock { held in
            let before = held ?? 0
            let fits = before + status.allocated <= limit
            if fits { held = before + status.allocated }
            return (before, fits)
        }
        if fits { return }
        throw Fault(
            .refused,
            "quarantine is full: it holds \(held) of at most \(limit) bytes (`quarantine: { size: … }`); empty it with "
                + "`steward quarantine drop`", path: source, code: Self.full)
    }

    /// Measures the whole quarantine once; later additions are added to the total.
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

    /// The ``Fault/code`` for a file that does not fit.
    static let full = "quarantine-full"

    /// Finishes moves that a crash interrupted. A move on a file system that does not answer is finished once it
    /// answers, and delays nothing else.
    ///
    /// - Parameter again: only retries what could not be finished before; other moves may be in flight.
    package func recover(_ log: Logger, again: Bool = false) async throws {
        let left = tally.left.withLock { left in
            defer { left = [] }
            return left
        }
        if again, left.isEmpty { return }
        for record in try await journal.ledger.read({ try $0.quarantine(in: [.moving]) })
        where !again || left.contains(record.id) {
            let record = placedIfAny(record) ?? record
            // An earlier try may still be running.
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
                // Its place is away, or there is a symlink in the way. The move stays begun until a place comes back,
                // or until the next start.
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

    /// Drops a move into quarantine whose file is gone or has changed since it was refused.
    private func letGo(_ record: QuarantineRecord) async throws {
        var dropped = record
        dropped.state = .dropped
        let gone = dropped
        try await journal.ledger.write { transaction in
            // Another try may have finished the move.
            guard try transaction.quarantine(in: [.moving]).contains(where: { $0.id == gone.id }) else { return }
            try transaction.setQuarantine(gone)
        }
    }

    /// Name of the folder for a hidden file, below the folder of its job.
    private static let hiddenFolder = "file"

    /// The record with the real name of a hidden file, which is only on disk. Blocks.
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

    /// - Parameter file: the refused file, with its hash if it was read; nil if not known any more.
    /// - Returns: the `on-failure` job, if there is one.
    private func finish(_ record: QuarantineRecord, rule: String, _ file: FileReference?) async throws -> PlannedJob? {
        let journal = journal
        let names = journal.ledger.names
        let source = record.root.appending(record.path)
        let isHidden = record.stored.nameText == Self.hiddenFolder && names.hides(record.place, record.path)
        try await pool.run {
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
            // Likely to be read in a terminal.
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
            // In the same transaction: after a crash, the job must be neither open without its file nor closed
            // without its follow-up.
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

    /// Removes the source if a move to another file system was interrupted after copying. If another file has taken
    /// the name, it stays.
    private static func removeSource(of there: QuarantineRecord, _ file: FileReference?, _ files: HeldFiles) throws {
        let source = there.root.appending(there.path)
        let hash = try files.hash(there.stored)
        guard file?.hash == nil || file?.hash == hash else { return }
        do {
            guard let left = try files.entryIfAny(source) else { return }
            let (was, print) = (file?.fingerprint, try left.status()?.fingerprint)
            // Device numbers may have changed. The source is removed only if it has the content now in quarantine.
            if let was, let print, (print.inode, print.size, print.modified) == (was.inode, was.size, was.modified) {
                try files.removeSource(source, expecting: hash)
            } else {
                _ = try Mover.finishRemoval(of: left, expecting: hash)
            }
        } catch let fault as Fault where fault.code == Fault.link {
            // Through the symlink this is another file; it stays.
            return
        }
    }

    /// Puts the file back. It counts as seen, so that no rule refuses it again right away.
    ///
    /// - Returns: its location: its old name, or `name (1).ext` if that is taken.
    package func putBack(_ held: QuarantineRecord) async throws -> FileReference {
        let held = try placed(held)
        let journal = journal
        let files = journal.files()
        let record = try await pool.run { try Self.located(held, files) }
        let target = record.root.appending(record.path)
        let placed = try await pool.run {
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
        try await pool.run { try clearFolder(held, journal.files()) }
        return FileReference(
            place: record.place, root: record.root, path: relative, fingerprint: placed.fingerprint, hash: placed.hash)
    }

    /// Deletes the refused file for good.
    package func drop(_ record: QuarantineRecord) async throws {
        try await pool.run {
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
        // A folder that is not empty stays.
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
