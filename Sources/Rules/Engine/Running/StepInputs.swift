import Ledger
import Platform

/// The inputs of a step, and the file location that it passes to the next.
extension JobExecutor {
    /// Where the job's file is after `effects`, if they moved it.
    func follow(_ file: FileReference, _ effects: [FileEffect]) -> FileReference? {
        for effect in effects {
            switch effect {
            case .moved(file.absolute, let to, let fingerprint, let hash):
                return reference(to, fingerprint, hash, isFolder: false)
            case .movedFolder(file.absolute, let to, let fingerprint, let contents):
                return reference(to, fingerprint, contents, isFolder: true)
            default: continue
            }
        }
        return nil
    }

    private func reference(
        _ path: BytePath, _ fingerprint: Fingerprint, _ hash: ContentHash, isFolder: Bool
    ) -> FileReference {
        let (place, below) = journal.places.locate(path) ?? (nil, BytePath(bytes: path.name))
        return FileReference(
            place: place?.name ?? "", root: place?.root ?? path.parent, path: below, fingerprint: fingerprint,
            hash: hash,
            isFolder: isFolder)
    }

    /// An action for recovering or undoing a step, even if its rule is gone or has changed. For steps that have yet
    /// to run, use ``RuleSet/step(_:of:)``.
    func actionForLookingBack(at step: StepRecord) throws -> any RuleAction {
        let arguments = PlannedFrom(step).arguments
        return try registry.action(named: step.action, storedArguments: arguments, in: journal.places).action
    }

    func file(_ job: JobRecord) throws -> FileReference {
        try FileReference(stored: job.file, in: journal.places, showing: names)
    }

    func input(
        _ job: JobAtWork, _ step: StepRecord, _ later: StepsLater, _ files: HeldFiles
    ) throws -> StepInput {
        let record = job.record
        guard let event = FileEvent(rawValue: record.event) else {
            throw Fault(.failed, "the ledger names an event that this version does not know: \(record.event)")
        }
        return StepInput(
            jobID: record.id, stepID: step.id, rule: record.rule, event: event, file: job.file,
            arrival: record.arrived, values: try job.values(of: step), namesUsedLater: later.names,
            attempt: record.attempts, files: files)
    }

    /// The steps after a step.
    struct StepsLater {
        let isNone: Bool
        /// The names of the values that they use.
        let names: Set<String>
    }

    /// For each step, the steps after it. There may be thousands of steps, of a few kinds.
    func stepsLater(_ steps: [StepRecord], of job: JobRecord) throws -> [StepsLater] {
        let rules = rules
        var names: Set<String> = []
        var all: [StepsLater] = []
        for step in steps.reversed() {
            all.append(StepsLater(isNone: all.isEmpty, names: names))
            let own = try rules.step(step, of: job).valueNames
            if !own.isSubset(of: names) { names.formUnion(own) }
        }
        return all.reversed()
    }
}
