import Platform
import Rules

/// A file that goes somewhere: the intent that `move`, `copy` and `rename` share.
package struct FilePlacement: Codable, Sendable, Equatable {
    package let source: BytePath
    package let fingerprint: Fingerprint?
    package let hash: ContentHash
    package let destination: Destination
    /// Whether a folder goes there; nil in intents of old.
    package var isFolder: Bool?

    /// By the `name` and `exists` of a rule; `place` and `folder` say the rest unless `stays`: then it is the file's own
    /// folder.
    package static func decide(
        _ input: StepInput, _ arguments: Arguments, stays: Bool = false, lanes: BlockingPool
    ) async throws -> FilePlacement {
        try await decide(
            input, root: stays ? input.file.root : arguments.root(input),
            folder: stays ? input.file.path.parent : arguments.folder(input), name: arguments.name(input),
            isFixed: arguments.fixedParts(), exists: arguments.choice("exists", as: ExistsPolicy.self),
            lanes: lanes)
    }

    package static func decide(
        _ input: StepInput, root: BytePath, folder: BytePath, name: [UInt8], isFixed: FixedParts, exists: ExistsPolicy,
        lanes: BlockingPool
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
                size: input.file.fingerprint?.size, lanes: lanes, files: input.files)
        }
        return FilePlacement(
            source: source, fingerprint: input.file.fingerprint, hash: hash, destination: destination,
            isFolder: isFolder ? true : nil)
    }

    /// The file, open, if it is what was judged. Blocks.
    ///
    /// - Throws: `Fault(.superseded)` where it is another by now.
    package func opened(_ files: HeldFiles) throws -> Descriptor {
        _ = try files.judged(source)
        let file = try files.present(source)
        guard try ContentHash.of(file) == hash else {
            throw Fault(.superseded, "\(source) has changed since it was looked at", path: source)
        }
        return file
    }

    /// That it has been moved there.
    package func effect(_ placed: Mover.Placed) -> FileEffect {
        isFolder == true
            ? .movedFolder(source, to: placed.path, placed.fingerprint, placed.hash)
            : .moved(source, to: placed.path, placed.fingerprint, placed.hash)
    }

    /// Of a folder all names that it could get: what lies in it is whole already, and is looked at as soon as it is there.
    package var targets: [BytePath] {
        isFolder == true ? [source] + destination.candidates : [source, destination.there]
    }

    /// Moves it, as people know it by that verb.
    ///
    /// - Parameter verb: `moved`.
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

/// What file actions tell later steps.
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
