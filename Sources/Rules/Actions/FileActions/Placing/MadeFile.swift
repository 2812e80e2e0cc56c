import Glibc
import Platform
import Rules

/// The primitive of actions that make a file of another, by whatever means: it is made under a name of the agent's own, and
/// comes to lie at its destination once, when it is whole. Where the file that it is made of goes to the trash, it does so
/// last, when the other lies there and was compared. Taken back, what was made goes to the trash, and that file comes back.
package struct MadeFile: Primitive {
    private let placement: FilePlacement
    private let services: FileServices
    private let lanes: BlockingPool
    /// What is said where the destination says that nothing is to be done: `made no picture`.
    private let nothing: String
    private let summary: @Sendable (BytePath) -> String
    private let trashed: TrashedFile?
    private let stage: @Sendable (StepContext) async throws -> (DirectoryEntry, Verify)
    private let verifier: @Sendable (StepContext) throws -> Verify
    private let tidy: @Sendable (StepContext) throws -> Void

    /// - Parameters:
    ///   - lanes: on which it is looked for, compared and named.
    ///   - trashed: the file that it is made of, where that goes to the trash.
    ///   - summary: what was done, by where the file lies.
    ///   - verifier: how one that was made before is compared, before ``trashed`` goes: throws where the file that it was made
    ///     of is another. Blocks.
    ///   - tidy: removes what else the step has left when it is done, fails, or was cut off. Blocks.
    ///   - stage: makes the file, on the disk, where ``EffectJournal/recordStaged(_:_:step:)`` knows it, and says how it is
    ///     compared with what it was made of.
    package init(
        _ placement: FilePlacement, _ services: FileServices, on lanes: BlockingPool, nothing: String,
        trashed: TrashedFile? = nil, summary: @escaping @Sendable (BytePath) -> String,
        verifier: @escaping @Sendable (StepContext) throws -> Verify = { _ in unverified },
        tidy: @escaping @Sendable (StepContext) throws -> Void = { _ in },
        stage: @escaping @Sendable (StepContext) async throws -> (DirectoryEntry, Verify)
    ) {
        (self.placement, self.services, self.lanes, self.nothing) = (placement, services, lanes, nothing)
        (self.trashed, self.summary) = (trashed, summary)
        (self.stage, self.verifier, self.tidy) = (stage, verifier, tidy)
    }

    /// - Parameter make: is given the file that was judged, and what takes the next part of the new one, whose mode is no
    ///   wider than that of the file. Blocks.
    package init(
        _ placement: FilePlacement, _ services: FileServices, on lanes: BlockingPool, nothing: String,
        summary: @escaping @Sendable (BytePath) -> String,
        make: @escaping @Sendable (_ source: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void
    ) {
        self.init(placement, services, on: lanes, nothing: nothing, summary: summary) { context in
            try await lanes.run {
                let source = try placement.opened(context.files)
                let staged = try Durable.stage(
                    for: context.files.spot(placement.destination.target), mode: source.status().mode & 0o666 | 0o600,
                    record: services.journal.staging(context.stepID)
                ) { put in
                    try make(source, put)
                }
                return (staged, Self.unverified)
            }
        }
    }

    /// Compares what was made with what it was made of. Blocks; throws where it is not what it is to be.
    package typealias Verify = @Sendable (Descriptor) throws -> Void

    /// For what need not be compared.
    package static let unverified: Verify = { _ in }

    package var targets: [BytePath] {
        [placement.destination.target] + (trashed.map { [$0.source, $0.slot] } ?? [])
    }

    package func perform(_ context: StepContext) async throws -> Receipt {
        if placement.destination.skips { return skipped }
        let done = try await lanes.run {
            try services.journal.makeFolders(for: placement.destination.target, context.files)
            return try finished(context)
        }
        if let done { return done }
        do {
            let (staged, verify) = try await stage(context)
            return try await lanes.run {
                let path = try placement.destination.name(
                    staged, of: placement.source, record: services.journal.staging(context.stepID), services, context
                ) {
                    try verify(staged.openFile())
                }
                try tidy(context)
                return try receipt(path, context)
            }
        } catch {
            // What went wrong is the news; what stays has a name of the agent's own.
            try? await lanes.run { try tidy(context) }
            throw error
        }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        if placement.destination.skips { return .done(skipped) }
        return try await lanes.run {
            try services.journal.presence.require(placement.destination.target)
            return try placement.destination.recovered(finished(context), services, context)
        }
    }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        let removal = ProductRemoval(services: services)
        guard trashed != nil, let gone = receipt.effects.first(where: { $0.origin != nil }) else {
            return try await removal.undo(receipt, context)
        }
        let back = PuttingBack(services: services, context: context)
        let restored = try await lanes.run {
            // First what can fail without a change: the product goes last.
            _ = try removal.isThere(receipt, context)
            return try back.restoreFromTrash(gone)
        }
        let removed = try await removal.undo(receipt, context)
        return Receipt("\(restored.summary), \(removed.summary)", effects: restored.effects + removed.effects)
    }

    /// The receipt, if the file is there: the very one that this step has made.
    private func finished(_ context: StepContext) throws -> Receipt? {
        let found = try placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .file else { return nil }
        // Before the only other copy goes what lies there is compared with it, whatever it is taken for.
        if let trashed, try trashed.found(services, context) == nil {
            let verify = try verifier(context)
            do {
                try verify(context.files.spot(path).openFile())
            } catch let fault as Fault where fault.kind != .transient {
                return nil
            }
        }
        // The agent may have been stopped just then.
        try tidy(context)
        return try receipt(path, context)
    }

    private func receipt(_ path: BytePath, _ context: StepContext) throws -> Receipt {
        var receipt = Receipt(
            summary(path), values: PlacementValues.of(path),
            effects: [try .made(path, context.files, among: services.journal.products(of: context.stepID))])
        if let trashed {
            let placed = try trashed.put(services, context)
            receipt.summary += ", and put it into the trash\(placed.losses)"
            receipt.effects.append(trashed.effect(placed))
        }
        return try placement.destination.replacing(receipt, services, context)
    }

    private var skipped: Receipt {
        let target = placement.destination.target
        return Receipt("\(nothing): \(target) is there already", values: PlacementValues.of(target))
    }
}

extension FileEffect {
    /// What a step has made, as it lies there: that it is this step's, its state and its content are asked of one file, held
    /// open, whatever gets the name meanwhile. Blocks.
    ///
    /// - Parameter products: what the step has staged; empty where that is not known.
    /// - Throws: `Fault` where nothing has that name any more, or another file.
    package static func made(
        _ path: BytePath, _ files: HeldFiles, among products: [FileIdentity] = []
    ) throws -> FileEffect {
        let file: Descriptor
        do {
            file = try files.spot(path).openFile()
        } catch let fault as Fault where fault.kind == .superseded {
            throw Fault(.failed, "\(path) vanished as soon as it was made", path: path, errno: fault.errno)
        }
        let identity = try file.identity()
        guard products.isEmpty || products.contains(where: { $0.isSame(as: identity) }) else {
            throw Fault(.failed, "another file took the name \(path) as soon as it was made", path: path)
        }
        // Before it is read: what is written to it meanwhile is then news.
        let fingerprint = try file.status().fingerprint
        return .created(path, fingerprint, try ContentHash.of(file))
    }
}
