import Platform
import Rules

/// A file and its destination: the intent shared by `move`, `copy` and `rename`.
package struct FilePlacement: Codable, Sendable, Equatable {
    package let source: BytePath
    package let fingerprint: Fingerprint?
    package let hash: ContentHash
    package let destination: Destination
    /// Whether it is a folder; nil in intents of older versions.
    package var isFolder: Bool?

    /// Decides by a rule's `name` and `exists`, and by `place` and `folder` unless `stays` keeps the file in its
    /// folder.
    package static func decide(
        _ input: StepInput, _ arguments: Arguments, stays: Bool = false, pool: BlockingPool
    ) async throws -> FilePlacement {
        try await decide(
            input, root: stays ? input.file.root : arguments.root(input),
            folder: stays ? input.file.path.parent : arguments.folder(input), name: arguments.name(input),
            isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
            pool: pool)
    }

    package static func decide(
        _ input: StepInput, root: BytePath, folder: BytePath, name: [UInt8], isFixed: FixedParts, exists: ExistsPolicy,
        pool: BlockingPool
    ) async throws -> FilePlacement {
        guard let hash = input.file.hash else {
            throw Fault(.superseded, "\(input.file.absolute) is gone", path: input.file.absolute)
        }
        let source = input.file.absolute
        let isFolder = input.file.isFolder
        if isFolder, root.appending(folder).isWithin(source) {
            throw Fault(.failed, "\(source) cannot go into itself (\(root.appending(folder)))", path: source)
        }
        let destination: Destination
        if root.appending(folder).appending(name: name) == source {
            destination = Destination(target: source, exists: exists, replaces: nil, skips: true)
        } else {
            destination = try await Destination.decide(
                root: root, folder: folder, name: name, isFixed: isFixed, exists: exists, content: hash,
                size: input.file.fingerprint?.size, pool: pool, files: input.files)
        }
        return FilePlacement(
            source: source, fingerprint: input.file.fingerprint, hash: hash, destination: destination,
            isFolder: isFolder ? true : nil)
    }

    /// Opens the file if it holds the judged content. Blocks.
    ///
    /// - Throws: `Fault(.superseded)` if it is another by now.
    package func opened(_ files: HeldFiles) throws -> Descriptor {
        _ = try files.judged(source)
        let file = try files.present(source)
        guard try ContentHash.of(file) == hash else {
            throw Fault(.superseded, "\(source) has changed since it was looked at", path: source)
        }
        return file
    }

    /// The effect of the move.
    package func effect(_ placed: Mover.Placed) -> FileEffect {
        isFolder == true
            ? .movedFolder(source, to: placed.path, placed.fingerprint, placed.hash)
            : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
    }

    /// For a folder, all candidate names: its content is complete already and is examined as soon as it appears.
    package var targets: [BytePath] {
        isFolder == true ? [source] + destination.candidates : [source, destination.there]
    }

    /// A move as people see it.
    ///
    /// - Parameter verb: `moved` or `renamed`, for messages.
    package func moving(_ services: FileServices, _ manner: Mover.Manner = Mover.Manner(), verb: String) -> Placing {
        moving(services, manner) { placed in
            Receipt(
                "\(verb) \(source) to \(placed.path)\(placed.losses)", values: PlacementValues.of(placed.path),
                effects: [effect(placed)])
        } skipped: {
            Receipt(
                "left \(source) where it is: \(destination.there) is there already",
                values: PlacementValues.of(destination.there))
        }
    }

    /// Carries it out as a copy.
    package func copying(
        _ services: FileServices, _ manner: Mover.Manner = Mover.Manner(),
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) -> Placing {
        Placing(
            services: services, destination: destination, content: hash,
            make: { way, files in
                try files.copy(
                    source, expecting: hash, to: way.names, manner, clear: way.clear, record: way.record)
            }, receipt: receipt,
            skipped: skipped)
    }

    /// Carries it out as a move.
    package func moving(
        _ services: FileServices, _ manner: Mover.Manner = Mover.Manner(),
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) -> Placing {
        if isFolder == true {
            let move = FolderMove(source: source, fingerprint: fingerprint, contents: hash)
            return Placing(
                services: services, destination: destination, content: hash,
                moving: Placing.Source(path: source, fingerprint: fingerprint, isFolder: true),
                make: { way, files in try move.carryOut(to: way.names, files) }, receipt: receipt,
                skipped: skipped)
        }
        return Placing(
            services: services, destination: destination, content: hash,
            moving: Placing.Source(path: source, fingerprint: fingerprint),
            make: { way, files in
                try files.move(
                    source, expecting: hash, to: way.names, manner, purpose: way.purpose, clear: way.clear,
                    record: way.record)
            }, receipt: receipt,
            skipped: skipped)
    }
}

/// Values that file actions provide to later steps.
package enum PlacementValues {
    package static let specs = [
        ValueSpec("target.path", "the absolute path that the step made"),
        ValueSpec("target.name", "its name"),
        ValueSpec("target.stem", "its name without the extension"),
    ]

    package static func of(_ path: BytePath) -> Values {
        [
            "target.path": .text(path.text), "target.name": .text(path.nameText),
            "target.stem": .text(String(decoding: path.stemAndExtension.stem, as: UTF8.self)),
        ]
    }
}
