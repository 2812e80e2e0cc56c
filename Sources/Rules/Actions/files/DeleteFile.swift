import FilePlacing
import Platform
import Rules

/// Deletes the file for good.
struct DeleteFile: RuleAction {
    struct Intent: Codable, Sendable, Equatable {
        let content: JudgedContent
        /// When the file was made, by which it is told from one that got its inode after it; nil where nobody knows.
        let birth: Int64?

        /// Whether it is the file of that name.
        func isFile(at spot: Spot) throws -> Bool {
            guard let judged = content.fingerprint, let now = try spot.status(), now.inode == judged.inode,
                now.device == judged.device
            else { return false }
            return try birth == nil || spot.birth() == birth
        }
    }

    static let declaration = ActionDeclaration(
        name: "delete",
        summary:
            "Deletes the file for good: it goes into no trash and cannot be brought back. Only for a rule with a least "
            + "`age` in `where`, or after a step `confirm`. A file that has changed since it was looked at stays, and so "
            + "does one that is being written, or that has other names (hard links), under which it would be there all "
            + "the same.",
        guarantee: .exactlyOnce, work: .disk, canUndo: false, isIrrevocable: true, parameters: [], example: "delete")

    /// What is noted of the step until the receipt: that the file is about to be taken from its name, and that it has
    /// been found to be the one, aside and unused, and goes. Only then what is nowhere any more has been deleted; before,
    /// somebody may have moved it on.
    private static let begun = "deleting"
    private static let going = "gone"

    private let services: FileServices

    init(_ arguments: Arguments, _ services: FileServices) throws { self.services = services }

    func intent(for input: StepInput) async throws -> Intent {
        let content = try JudgedContent(of: input)
        let files = input.files
        return try await services.files.run {
            let open = try files.file(content.file)
            try Self.requireOneName(open)
            return Intent(content: content, birth: try open.birth())
        }
    }

    func perform(_ intent: Intent, _ context: StepContext) async throws -> Receipt {
        let files = context.files
        return try await services.files.run {
            if let done = try finished(intent, context) { return done }
            let (path, hash) = (intent.content.file, intent.content.hash)
            _ = try files.judged(path)
            let open = try files.present(path)
            try Self.requireOneName(open)
            guard try ContentHash.of(open) == hash else {
                throw Fault(.superseded, "\(path) has changed since it was looked at", path: path)
            }
            try services.journal.note(Self.begun, step: context.stepID)
            try files.removeSource(path, expecting: hash) {
                try services.journal.note(Self.going, step: context.stepID)
            }
            // What was being written at that moment has gone back to its name.
            guard try open.status().links == 0 else {
                guard try ContentHash.of(open) == hash else {
                    throw Fault(.superseded, "\(path) was changed just when it was to be deleted; it stays", path: path)
                }
                throw Fault(.transient, "\(path) is open for writing, so it was not deleted", path: path)
            }
            return Self.receipt(intent)
        }
    }

    func recover(_ intent: Intent, _ context: StepContext) async throws -> Recovery {
        try await services.files.run { try finished(intent, context).map { .done($0) } ?? .notDone }
    }

    func targets(of intent: Intent) -> [BytePath] { [intent.content.file] }

    func summary(of intent: Intent) -> String { "delete \(intent.content.file) for good" }

    /// The receipt, where the file was on its way out when the step was cut off; what was left of it is removed.
    private func finished(_ intent: Intent, _ context: StepContext) throws -> Receipt? {
        let journal = services.journal
        guard let noted = try journal.noted(step: context.stepID), [Self.begun, Self.going].contains(noted) else {
            return nil
        }
        // Without its folder it is gone as well. From aside it may come back, because somebody had begun to write it.
        if let spot = try context.files.spotIfAny(intent.content.file),
            try intent.isFile(at: spot)
                || !Mover.finishRemoval(
                    of: spot, expecting: intent.content.hash,
                    going: { try journal.note(Self.going, step: context.stepID) })
        {
            if noted == Self.going { try journal.note(Self.begun, step: context.stepID) }
            return nil
        }
        return try journal.noted(step: context.stepID) == Self.going ? Self.receipt(intent) : nil
    }

    private static func receipt(_ intent: Intent) -> Receipt {
        Receipt("deleted \(intent.content.file) for good", effects: [.removed(intent.content.file)])
    }

    private static func requireOneName(_ open: Descriptor) throws {
        try JudgedContent.requireOneName(
            open, "it would be there all the same; it was not deleted. Use `trash` to take this name away")
    }
}
