import Ledger
import Platform

extension Fault {
    /// The ``Fault/code`` of a step on a whole folder that waits for what is at work in it.
    package static let heldUp = "held-up"
}

/// What jobs on one file, or on a folder and on what lies in it, have to know of each other.
extension JobExecutor {
    /// Other jobs that wait for the file look for it where it is now; of a folder, those of what lies in it, too.
    func tellOthers(
        _ from: FileReference, _ to: FileReference, _ mover: JobRecord, in transaction: LedgerTransaction
    ) throws {
        let spot = JobRecord.FileLocation(place: from.place, path: from.path)
        let others =
            to.isFolder
            ? try transaction.jobs(in: Self.followers, within: spot)
            : try transaction.jobs(at: spot).filter { Self.followers.contains($0.state) }
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

    /// Those that may still have something to do with their file, also one that a person has tried again.
    private static let followers: Set<JobRecord.State> = [.ready, .waiting, .asking, .parked]

    /// Asked in the transaction that begins a step: whether the job's file is where the step was decided, and, where a folder
    /// is to go as a whole, whether nothing is at work in it. When it was judged that was so; a person's answer, or time,
    /// may have come between.
    ///
    /// - Throws: `Fault(.transient)`.
    func requireAtRest(_ job: JobAtWork, _ targets: [BytePath], in transaction: LedgerTransaction) throws {
        if let now = try transaction.file(ofJob: job.record.id), now != job.record.file {
            throw Fault(.transient, "\(job.file.absolute) has just got another name", path: job.file.absolute)
        }
        guard job.file.isFolder, targets.contains(job.file.absolute) else { return }
        if let other = try atWork(in: job.file, besides: job.record.id, transaction).first {
            throw Fault(
                .transient, "the rule \"\(other.rule)\" is not done with \(try file(other).absolute), which lies in it",
                path: job.file.absolute, code: Fault.heldUp)
        }
        guard !inWork.touches(job.file.absolute, besides: targets) else {
            throw Fault(
                .transient, "the agent is at work in \(job.file.absolute)", path: job.file.absolute, code: Fault.heldUp)
        }
    }

    /// The jobs that are to be done with what lies in a folder. Others about the folder itself have their turn after this
    /// one, wherever it is then.
    func atWork(
        in folder: FileReference, besides own: String, _ transaction: LedgerTransaction
    ) throws -> [JobRecord] {
        let spot = JobRecord.FileLocation(place: folder.place, path: folder.path)
        return try transaction.jobs(in: [.ready, .waiting], within: spot).filter {
            $0.id != own && $0.whereabouts != spot
        }
    }

    /// Notes that a job waits until others are done with what lies in its folder. That is no try.
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

    /// Whether another job has put the file elsewhere since `job` was read.
    func wasTold(_ job: JobRecord) async -> Bool {
        do {
            guard let now = try await ledger.read({ try $0.job(job.id) }) else { return false }
            return now.file != job.file
        } catch {
            // What went wrong with the file is the news.
            return false
        }
    }
}
