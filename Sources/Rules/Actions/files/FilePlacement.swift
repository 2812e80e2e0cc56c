import Platform
import Rules

/// A file that goes somewhere: the intent that `move`, `copy` and `rename` share.
struct FilePlacement: Codable, Sendable, Equatable {
    let source: BytePath
    let fingerprint: Fingerprint?
    let hash: ContentHash
    let destination: Destination

    static func decide(
        _ input: StepInput, root: BytePath, folder: BytePath, name: [UInt8], isFixed: FixedParts, exists: ExistsPolicy,
        lanes: BlockingLanes
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
                root: root, folder: folder, name: name, isFixed: isFixed, exists: exists, content: hash, lanes: lanes,
                files: input.files)
        }
        return FilePlacement(source: source, fingerprint: input.file.fingerprint, hash: hash, destination: destination)
    }

    var targets: [BytePath] { [source, destination.target] }

    /// Carries it out as a copy.
    func copying(
        _ services: ActionServices, _ manner: Mover.Manner = Mover.Manner(),
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) -> Placing {
        Placing(
            services: services, destination: destination, content: hash,
            make: { try $2.copy(source, expecting: hash, to: $0, manner, record: $1) }, receipt: receipt,
            skipped: skipped)
    }

    /// Carries it out as a move.
    func moving(
        _ services: ActionServices, _ manner: Mover.Manner = Mover.Manner(),
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) -> Placing {
        Placing(
            services: services, destination: destination, content: hash,
            moving: Placing.Source(path: source, fingerprint: fingerprint),
            make: { try $2.move(source, expecting: hash, to: $0, manner, record: $1) }, receipt: receipt,
            skipped: skipped)
    }
}

/// Moving by intent: shared by `move` and `rename`.
struct FileMoving: Sendable {
    let services: ActionServices
    let verb: String
    var manner = Mover.Manner()

    func perform(_ intent: FilePlacement, _ context: StepContext) async throws -> Receipt {
        try await placing(intent).perform(context)
    }

    func settle(_ intent: FilePlacement, _ context: StepContext) async throws -> Settlement {
        try await placing(intent).settle(context)
    }

    /// Moves the file back to its old name, if nobody has changed it since.
    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run { try back.move(receipt.effects.first) }
    }

    private func placing(_ intent: FilePlacement) -> Placing {
        let verb = verb
        return intent.moving(services, manner) { placed in
            Receipt(
                "\(verb) \(intent.source) to \(placed.path)\(placed.losses)", values: PlacementValues.of(placed.path),
                effects: [.moved(intent.source, to: placed.path, placed.fingerprint, placed.hash)])
        } skipped: {
            Receipt(
                "left \(intent.source) where it is: \(intent.destination.target) is there already",
                values: PlacementValues.of(intent.destination.target))
        }
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
