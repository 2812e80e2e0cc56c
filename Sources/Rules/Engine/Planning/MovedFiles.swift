import Ledger
import Platform

extension Fault {
    /// The ``Fault/code`` of a step on a whole folder that waits for jobs on its contents.
    package static let heldUp = "held-up"
}

/// Coordination of jobs on the same file, or on a folder and its contents.
extension JobExecutor {
    /// Updates the file's location in its other jobs; for a folder, also in the jobs for its contents.
    func tellOthers(
        _ from: FileReference, _ to: FileReference, _ mover: JobRecord, in transaction: LedgerTransaction
    ) throws {
        let entry = JobRecord.FileLocation(place: from.place, path: from.path)
        let others =
            to.isFolder
            ? try transaction.jobs(in: Self.followers, within: entry)
            : try transaction.jobs(at: entry).filter { Self.followers.contains($0.state) }
        for var other in others where other.id != mover.id {
            let known = try file(other)
            guard let below = known.absolute.relative(to: from.absolute), to.isFolder || below.isEmpty else { continue }
            var found = to
            if !below.isEmpty {
                found.path = to.path.appending(below)
                (found.fingerprint, found.hash, found.isFolder) = (known.fingerprint, known.hash, known.isFolder)
            }
            try other.setFile(found, hiding: names)
            try transaction.setFile(of: other)
        }
    }

    /// The states in which a job may still need its file; a parked job may be retried.
    private static let followers: Set<JobRecord.State> = [.ready, .waiting, .asking, .parked]

    /// Checks, in the transaction that begins a step, that the job's file is where it was when the step was decided.
    /// If a whole folder is to move, also checks that no job works on its contents. Both held when the folder was
    /// judged, but a person's answer or a timed rule may have come in between.
    ///
    /// - Throws: `Fault(.transient)`.
    func requireAtRest(_ job: JobAtWork, _ targets: [BytePath], in transaction: LedgerTransaction) throws {
        if let now = try transaction.file(ofJob: job.record.id), now != job.record.file {
            throw Fault(.transient, "\(job.file.absolute) has just got another name", path: job.file.absolute)
        }
        guard job.file.isFolder, targets.contains(job.file.absolute) else { return }
        if let other = try atWork(in: job.file, besides: job.record.id, transaction).first {
            throw Fault(
                .transient, "the rule \"\(other.rule)\" is not done with \(try file(other).absolute), which is in it",
                path: job.file.absolute, code: Fault.heldUp)
        }
        guard !inWork.touches(job.file.absolute, besides: targets) else {
            throw Fault(
                .transient, "the agent is at work in \(job.file.absolute)", path: job.file.absolute, code: Fault.heldUp)
        }
    }

    /// The pending jobs for a folder's contents. Other jobs for the folder itself run after this one, at its new
    /// path.
    func atWork(
        in folder: FileReference, besides own: String, _ transaction: LedgerTransaction
    ) throws -> [JobRecord] {
        let entry = JobRecord.FileLocation(place: folder.place, path: folder.path)
        return try transaction.jobs(in: [.ready, .waiting], within: entry).filter {
            $0.id != own && $0.whereabouts != entry
        }
    }

    /// Marks a job as waiting for others to finish with the contents of its folder. Does not count as a try.
    func wait(_ job: JobRecord, _ fault: Fault) async throws -> Outcome {
        let folder = try file(job)
        let others = try await ledger.write { transaction in
            var job = job
            job.state = .waiting
            job.nextAttempt = nil
            if try transaction.job(job.id)?.problem != job.problem {
                try transaction.note("waiting", fault.message, job: job.id, place: job.place, path: job.path)
            }
            try transaction.update(job)
            return Set(try self.atWork(in: folder, besides: job.id, transaction).map(\.id))
        }
        return .heldUp(by: others)
    }

    /// Whether another job has moved the file since `job` was read.
    func wasTold(_ job: JobRecord) async -> Bool {
        do {
            guard let now = try await ledger.read({ try $0.job(job.id) }) else { return false }
            return now.file != job.file
        } catch {
            // The original error is what matters.
            return false
        }
    }
}
