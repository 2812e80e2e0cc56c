import Glibc
import Platform
import Rules

/// Makes a file from another, exactly once: stages it under one of the agent's own names, then renames it to its
/// destination when it is complete. If the source goes to the trash, it goes last, once the product is in place and
/// verified. Undo moves the product to the trash and restores the source.
package struct MadeFile: Primitive {
    private let placement: FilePlacement
    private let services: FileServices
    private let pool: BlockingPool
    /// Message if the destination makes this a no-op: `made no picture`.
    private let nothing: String
    private let summary: @Sendable (BytePath) -> String
    private let trashed: TrashedFile?
    private let stage: @Sendable (StepContext) async throws -> (DirectoryEntry, Verify)
    private let verifier: @Sendable (StepContext) throws -> Verify
    private let tidy: @Sendable (StepContext) throws -> Void

    /// - Parameters:
    ///   - pool: the pool that finds, verifies and renames the product.
    ///   - trashed: the source, if it goes to the trash.
    ///   - summary: what was done, given the product's path.
    ///   - verifier: creates the check for a product of an earlier attempt, before ``trashed`` goes; throws if the
    ///     source is another file by now. Blocks.
    ///   - tidy: removes the step's other leftovers after success, failure or a crash. Blocks.
    ///   - stage: makes the file durable where ``EffectJournal/recordStaged(_:_:step:)`` knows it, and returns its
    ///     check against the source.
    package init(
        _ placement: FilePlacement, _ services: FileServices, on pool: BlockingPool, nothing: String,
        trashed: TrashedFile? = nil, summary: @escaping @Sendable (BytePath) -> String,
        verifier: @escaping @Sendable (StepContext) throws -> Verify = { _ in unverified },
        tidy: @escaping @Sendable (StepContext) throws -> Void = { _ in },
        stage: @escaping @Sendable (StepContext) async throws -> (DirectoryEntry, Verify)
    ) {
        (self.placement, self.services, self.pool, self.nothing) = (placement, services, pool, nothing)
        (self.trashed, self.summary) = (trashed, summary)
        (self.stage, self.verifier, self.tidy) = (stage, verifier, tidy)
    }

    /// - Parameter make: called with the judged file and a function that takes the next part of the new one. The new
    ///   file's mode is no wider than the source's. Blocks.
    package init(
        _ placement: FilePlacement, _ services: FileServices, on pool: BlockingPool, nothing: String,
        summary: @escaping @Sendable (BytePath) -> String,
        make: @escaping @Sendable (_ source: Descriptor, _ put: ([UInt8]) throws -> Void) throws -> Void
    ) {
        self.init(placement, services, on: pool, nothing: nothing, summary: summary) { context in
            try await pool.run {
                let source = try placement.opened(context.files)
                let staged = try Durable.stage(
                    for: context.files.entry(placement.destination.target), mode: source.status().mode & 0o666 | 0o600,
                    record: services.journal.staging(context.stepID)
                ) { put in
                    try make(source, put)
                }
                return (staged, Self.unverified)
            }
        }
    }

    /// Checks a product against its source. Blocks; throws if it is wrong.
    package typealias Verify = @Sendable (Descriptor) throws -> Void

    /// For products that need no check.
    package static let unverified: Verify = { _ in }

    package var targets: [BytePath] {
        [placement.destination.target] + (trashed.map { [$0.source, $0.slot] } ?? [])
    }

    package func perform(_ context: StepContext) async throws -> Receipt {
        if placement.destination.skips { return skipped }
        let done = try await pool.run {
            try services.journal.makeFolders(for: placement.destination.target, context.files)
            return try finished(context)
        }
        if let done { return done }
        do {
            let (staged, verify) = try await stage(context)
            return try await pool.run {
                let path = try placement.destination.name(
                    staged, of: placement.source, record: services.journal.staging(context.stepID), services, context
                ) {
                    try verify(staged.openFile())
                }
                try tidy(context)
                return try receipt(path, context)
            }
        } catch {
            // Best effort: report the original error. A leftover has one of the agent's own names.
            try? await pool.run { try tidy(context) }
            throw error
        }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        if placement.destination.skips { return .done(skipped) }
        return try await pool.run {
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
        let restored = try await pool.run {
            // Run the checks that can fail before changing anything; the product goes last.
            _ = try removal.isThere(receipt, context)
            return try back.restoreFromTrash(gone)
        }
        let removed = try await removal.undo(receipt, context)
        return Receipt("\(restored.summary), \(removed.summary)", effects: restored.effects + removed.effects)
    }

    /// The receipt if this step's product exists.
    private func finished(_ context: StepContext) throws -> Receipt? {
        let found = try placement.destination.product(services.journal, context)
        guard let (path, status) = found, status.kind == .file else { return nil }
        // Verify before the only other copy goes, even though this looks like our product.
        if let trashed, try trashed.found(services, context) == nil {
            let verify = try verifier(context)
            do {
                try verify(context.files.entry(path).openFile())
            } catch let fault as Fault where fault.kind != .transient {
                return nil
            }
        }
        // The agent may have been stopped before tidying.
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
    /// The effect of making a file. Ownership, fingerprint and content are read from one open descriptor, so another
    /// file that takes the name cannot mix in. Blocks.
    ///
    /// - Parameter products: the files that the step staged; empty if unknown.
    /// - Throws: `Fault` if the file is gone or another has its name.
    package static func made(
        _ path: BytePath, _ files: HeldFiles, among products: [FileIdentity] = []
    ) throws -> FileEffect {
        let file: Descriptor
        do {
            file = try files.entry(path).openFile()
        } catch let fault as Fault where fault.kind == .superseded {
            throw Fault(.failed, "\(path) vanished as soon as it was made", path: path, errno: fault.errno)
        }
        let identity = try file.identity()
        guard products.isEmpty || products.contains(where: { $0.isSame(as: identity) }) else {
            throw Fault(.failed, "another file took the name \(path) as soon as it was made", path: path)
        }
        // Taken before hashing, so that a concurrent write shows up as a change.
        let fingerprint = try file.status().fingerprint
        return .created(path, fingerprint, try ContentHash.of(file))
    }
}
