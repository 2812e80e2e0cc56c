import Platform
import Rules

/// Copies the file into a place: verified and on the disk before the receipt.
struct CopyFile: RuleAction {
    static let declaration = ActionDeclaration(
        name: "copy", summary: "Copies the file into a folder of a place.", guarantee: .exactlyOnce, work: .disk,
        canUndo: true,
        parameters: [
            DestinationParameters.place, DestinationParameters.folder, DestinationParameters.name,
            ExistsPolicy.parameter,
        ],
        provides: PlacementValues.specs, example: "copy: { place: backup, exists: same }")

    private let arguments: Arguments
    private let services: ActionServices

    init(_ arguments: Arguments, _ services: ActionServices) throws {
        let staysInFolder = try arguments.template("folder").text.isEmpty
        guard arguments.has("place") || !staysInFolder || arguments.has("name") else {
            throw ArgumentFault("place", "`copy` needs a `place`, a `folder` or a `name` to copy to")
        }
        self.arguments = arguments
        self.services = services
    }

    func intent(for input: StepInput) async throws -> FilePlacement {
        try await FilePlacement.decide(
            input, root: arguments.root(input), folder: arguments.folder(input), name: arguments.name(input),
            exists: arguments.choice("exists", as: ExistsPolicy.self), files: services.files)
    }

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        if intent.destination.skips { return skipped(intent) }
        let journal = services.journal
        let trash = services.trash
        return try await services.files.run {
            try Durable.makeDirectory(intent.destination.target.parent)
            if let done = try finished(intent, context) { return done }
            try intent.destination.clear(trash: trash)
            let placed = try Mover.copy(intent.source, expecting: intent.hash, to: intent.destination.candidates) {
                try journal.recordStaged($0, $1, step: context.stepID)
            }
            return receipt(intent, placed)
        }
    }

    func settle(_ intent: FilePlacement, _ context: StepContext) async throws -> Settlement {
        if intent.destination.skips { return .done(skipped(intent)) }
        return try await services.files.run {
            if let done = try finished(intent, context) { return .done(done) }
            return .notDone
        }
    }

    func undo(_ intent: FilePlacement, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        try await ProductRemoval(services: services).undo(receipt)
    }

    func targets(of intent: FilePlacement) -> [BytePath] { [intent.destination.target] }

    func summary(of intent: FilePlacement) -> String { "copy \(intent.source) to \(intent.destination.target)" }

    private func finished(_ intent: FilePlacement, _ context: StepContext) throws -> Receipt? {
        guard
            let (path, status) = try intent.destination.find({
                try services.journal.isProduct(of: context.stepID, $0)
            }), try ContentHash.ofFile(path) == intent.hash
        else { return nil }
        return receipt(intent, Mover.Placed(path: path, fingerprint: status.fingerprint, hash: intent.hash))
    }

    private func receipt(_ intent: FilePlacement, _ placed: Mover.Placed) -> Receipt {
        Receipt(
            "copied \(intent.source) to \(placed.path)", values: PlacementValues.of(placed.path),
            effects: [.created(placed.path, placed.fingerprint, placed.hash)])
    }

    private func skipped(_ intent: FilePlacement) -> Receipt {
        Receipt(
            "made no copy: \(intent.destination.target) is there already",
            values: PlacementValues.of(intent.destination.target))
    }
}

/// Taking back a file that a step made: it goes to the trash, if it is still what was made.
struct ProductRemoval: Sendable {
    let services: ActionServices

    func undo(_ receipt: Receipt) async throws -> Receipt {
        guard case .created(let path, _, let hash)? = receipt.effects.first else {
            return Receipt("nothing had been made")
        }
        let trash = services.trash
        try await services.files.run {
            guard let status = try FileStatus.of(path), status.kind == .file, try ContentHash.ofFile(path) == hash
            else {
                throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
            }
            _ = try trash.put(path, expecting: hash, mark: hash.description.prefix(8))
        }
        return Receipt("put \(path) into the trash", effects: [.removed(path)])
    }
}
