import Platform
import Rules

/// Makes a symbolic link at its destination, exactly once. Undo removes it if its text is unchanged.
struct SymbolicLink: Primitive {
    let services: FileServices
    let placement: FilePlacement
    /// Target text.
    let text: BytePath

    var targets: [BytePath] { placement.targets }

    func perform(_ context: StepContext) async throws -> Receipt {
        try await services.files.run { try make(context) }
    }

    func recover(_ context: StepContext) async throws -> Recovery {
        try await services.files.run {
            try services.journal.presence.require(placement.destination.target)
            let done = try found(context)
            if done == nil { try discardStaged(context) }
            return try placement.destination.recovered(done, services, context)
        }
    }

    func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .touched(let link, _, _)? = receipt.effects.first else { return Receipt("no link had been made") }
        let files = context.files
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            let entry = try files.entryIfAny(link)
            guard try entry?.linkText() == text || context.resumesUndo else {
                throw Fault(
                    .failed, "\(link) is gone, or no longer the link to \(text); it was left as it is", path: link)
            }
            // After an interrupted undo the link may be aside, and the file it replaced may already be back.
            if let entry, try entry.linkText() == text || entry.status() == nil {
                _ = try Durable.removeLink(entry, saying: text)
            }
            return try back.bringBackReplaced(receipt, after: Receipt("removed the link \(link)"))
        }
    }

    private func make(_ context: StepContext) throws -> Receipt {
        let (destination, source) = (placement.destination, placement.source)
        try services.journal.makeFolders(for: destination.target, context.files)
        if let done = try found(context) { return done }
        _ = try context.files.present(source)
        let record = services.journal.staging(context.stepID)
        let path = try destination.name(
            stage(context, record), of: source, as: "a link to \(source)", record: record, services, context)
        return try made(path, context)
    }

    /// Makes the link beside its destination under a name of the step. Nothing is cleared for a link that cannot be
    /// made, and the step recognizes the link after its rename.
    private func stage(_ context: StepContext, _ record: Durable.Record) throws -> DirectoryEntry {
        let target = placement.destination.target
        let staged = try Self.staged(context.files.entry(target), context)
        // An interrupted attempt may have left it.
        if try staged.linkText() != text {
            do {
                guard try Durable.linkNew(saying: text, at: staged) else {
                    throw Fault(.transient, "\(staged.path) is in the way", path: staged.path)
                }
            } catch let fault as Fault {
                guard let errno = fault.errno else { throw fault }
                throw Fault.system("make the symbolic link", target, errno: errno)
            }
        }
        do {
            guard let identity = try staged.identity() else {
                throw Fault(.failed, "\(staged.path) vanished as soon as it was made", path: staged.path)
            }
            try record(staged.path, identity)
        } catch {
            try? Durable.remove(staged)
            throw error
        }
        return staged
    }

    /// Deterministic per step, because a link has no identity to record before it exists.
    private static func staged(_ target: DirectoryEntry, _ context: StepContext) -> DirectoryEntry {
        target.sibling(Durable.temporaryName(for: ContentHash(of: Array("link \(context.stepID)".utf8))).utf8)
    }

    /// Removes leftovers of an interrupted attempt.
    private func discardStaged(_ context: StepContext) throws {
        guard let target = try context.files.entryIfAny(placement.destination.target) else { return }
        let staged = Self.staged(target, context)
        guard try staged.linkText() == text else { return }
        try Durable.discard(staged, record: services.journal.staging(context.stepID))
    }

    /// The receipt if the link exists: the one that this step made or, if the step has not begun, one that appeared
    /// since the decision.
    private func found(_ context: StepContext) throws -> Receipt? {
        let products = try services.journal.products(of: context.stepID)
        let found = try placement.destination.find(context.files, isBegun: !products.isEmpty) { entry, status in
            guard status.kind == .link, try entry.linkText() == text else { return false }
            return try products.isEmpty || entry.isAny(of: products)
        }
        return try found.map { try made($0.0, context) }
    }

    private func made(_ link: BytePath, _ context: StepContext) throws -> Receipt {
        guard let status = try context.files.status(link) else {
            throw Fault(.failed, "\(link) vanished as soon as it was made", path: link)
        }
        let receipt = Receipt(
            "made the symbolic link \(link) to \(placement.source)", values: PlacementValues.of(link),
            // A symbolic link is not a file of its place; the ledger only needs to know that it exists.
            effects: [.touched(link, status.fingerprint, placement.hash)])
        return try placement.destination.replacing(receipt, services, context)
    }
}
