import Platform
import Rules

/// A file that goes somewhere: the intent that `move`, `copy` and `rename` share.
struct FilePlacement: Codable, Sendable, Equatable {
    let source: BytePath
    let fingerprint: Fingerprint?
    let hash: ContentHash
    let destination: Destination

    static func decide(
        _ input: StepInput, root: BytePath, folder: BytePath, name: [UInt8], exists: ExistsPolicy, files: BlockingLanes
    ) async throws -> FilePlacement {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        let source = input.file.absolute
        let destination: Destination
        if root.appending(folder).appending(name: name) == source {
            destination = Destination(target: source, exists: exists, replaces: nil, skips: true)
        } else {
            destination = try await Destination.decide(
                root: root, folder: folder, name: name, exists: exists, content: hash, files: files)
        }
        return FilePlacement(source: source, fingerprint: input.file.fingerprint, hash: hash, destination: destination)
    }

    var targets: [BytePath] { [source, destination.target] }
}

/// Moving by intent: shared by `move` and `rename`.
struct FileMoving: Sendable {
    let services: ActionServices
    let verb: String

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        if intent.destination.skips { return skipped(intent) }
        let journal = services.journal
        let trash = services.trash
        return try await services.files.run {
            try Durable.makeDirectory(intent.destination.target.parent)
            // Called again after it was done, the file is found where it went.
            if let done = try finished(intent, context) { return done }
            try intent.destination.clear(trash: trash)
            let placed = try Mover.move(intent.source, expecting: intent.hash, to: intent.destination.candidates) {
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

    /// Moves the file back to its old name, if nobody has changed it since.
    func undo(_ intent: FilePlacement, _ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .moved(let from, let to, _, let hash)? = receipt.effects.first else {
            return Receipt("nothing had been moved")
        }
        let journal = services.journal
        let files = services.files
        let placed = try await files.run {
            guard let status = try FileStatus.of(to), status.kind == .file, try ContentHash.ofFile(to) == hash else {
                throw Fault(.failed, "\(to) is gone or has been changed since; nothing was moved back", path: to)
            }
            try Durable.makeDirectory(from.parent)
            return try Mover.move(to, expecting: hash, to: Mover.alternatives(from)) {
                try journal.recordStaged($0, $1, step: context.stepID)
            }
        }
        return Receipt(
            "moved back to \(placed.path)", effects: [.moved(to, to: placed.path, placed.fingerprint, placed.hash)])
    }

    /// The receipt, if the move was made: by rename the inode is the source's, by copy it is the staged one, and then
    /// the source may still have to go.
    private func finished(_ intent: FilePlacement, _ context: StepContext) throws -> Receipt? {
        let found = try intent.destination.find { status in
            let isSource =
                status.inode == intent.fingerprint?.inode && status.device == intent.fingerprint?.device
            return try isSource || services.journal.isProduct(of: context.stepID, status)
        }
        guard let (path, status) = found, path != intent.source else { return nil }
        guard try ContentHash.ofFile(path) == intent.hash else { return nil }
        // Copied, not renamed: its source goes last, and a crash may have come at any point of that.
        if status.inode != intent.fingerprint?.inode || status.device != intent.fingerprint?.device {
            try Mover.removeSource(intent.source, expecting: intent.hash)
        }
        return receipt(intent, Mover.Placed(path: path, fingerprint: status.fingerprint, hash: intent.hash))
    }

    private func receipt(_ intent: FilePlacement, _ placed: Mover.Placed) -> Receipt {
        Receipt(
            "\(verb) \(intent.source) to \(placed.path)", values: PlacementValues.of(placed.path),
            effects: [.moved(intent.source, to: placed.path, placed.fingerprint, placed.hash)])
    }

    private func skipped(_ intent: FilePlacement) -> Receipt {
        Receipt(
            "left \(intent.source) where it is: \(intent.destination.target) is there already",
            values: PlacementValues.of(intent.destination.target))
    }
}

/// What file actions tell later steps.
enum PlacementValues {
    static let specs = [
        ValueSpec("target.path", "the absolute path that the step made"),
        ValueSpec("target.name", "its name"),
        ValueSpec("target.stem", "its name without the extension"),
    ]

    static func of(_ path: BytePath) -> Values {
        [
            "target.path": .text(path.text), "target.name": .text(path.nameText),
            "target.stem": .text(String(decoding: path.stemAndExtension.stem, as: UTF8.self)),
        ]
    }
}
