import Ledger
import Platform
import Rules

/// Places one file at its destination exactly once, however often it is called and wherever it was interrupted. Shared
/// by all actions that make or move a file. Undo moves a moved file back and a made one to the trash.
package struct Placing: Primitive {
    let services: FileServices
    let destination: Destination
    /// Hash of the file at the destination when done.
    let content: ContentHash
    /// The file to move; nil if a new one is made. A rename turns it into the product; after a copy it is removed last.
    let moving: Source?
    /// The file that gets another hard link, if a link is the product. Links share an inode, so they are told apart by
    /// name. Undo removes the name only.
    let named: BytePath?
    /// Makes the product at the first name that is free or can be freed.
    let make: @Sendable (Way, HeldFiles) throws -> Mover.Placed
    let receipt: @Sendable (Mover.Placed) -> Receipt
    /// The receipt if the destination makes this a no-op.
    let skipped: @Sendable () -> Receipt

    package init(
        services: FileServices, destination: Destination, content: ContentHash, moving: Source? = nil,
        furtherNameOf named: BytePath? = nil,
        make: @escaping @Sendable (Way, HeldFiles) throws -> Mover.Placed,
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) {
        self.services = services
        self.destination = destination
        self.content = content
        self.moving = moving
        self.named = named
        self.make = make
        self.receipt = receipt
        self.skipped = skipped
    }

    package struct Source: Sendable {
        let path: BytePath
        let fingerprint: Fingerprint?
        /// Whether it is a folder, whose content is not compared again after the rename.
        var isFolder = false
        /// Whether it is known to be gone, so that a file with its name now is another and stays.
        var isPast = false

        func isSame(_ status: FileStatus) -> Bool {
            status.inode == fingerprint?.inode && status.device == fingerprint?.device
        }
    }

    /// Parameters for making the product.
    package struct Way {
        package let names: any Sequence<BytePath>
        /// nil to pass over names that are taken.
        package let clear: Mover.Clear?
        /// Labels the removal of a source after its copy.
        package let purpose: String
        package let record: Mover.Record
    }

    package var targets: [BytePath] {
        guard let moving else { return [named, destination.there].compactMap(\.self) }
        // For a folder, all candidate names: its content is complete already and is examined as soon as it appears.
        return [moving.path] + (moving.isFolder ? Array(destination.candidates) : [destination.there])
    }

    package var forecast: Forecast? {
        if moving == nil { return destination.making(content) }
        return Forecast(destination.skips ? [] : [.moves(to: destination.target, destination.ifTaken)])
    }

    package func perform(_ context: StepContext) async throws -> Receipt {
        try await services.files.run { try carryOut(context) }
    }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard moving != nil else {
            if let named, let done = try await removeName(beside: context.file?.absolute ?? named, receipt, context) {
                return done
            }
            return try await ProductRemoval(services: services).undo(receipt, context)
        }
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            // Interrupted after the replaced file was restored.
            var isPast = false
            if context.resumesUndo, case .moved(_, let slot, _, _)? = receipt.replaced {
                isPast = try context.files.status(slot) == nil
            }
            return try back.bringBackReplaced(receipt, after: back.move(receipt.effects.first, isPast: isPast))
        }
    }

    /// Removes a hard link of the file `source`.
    ///
    /// - Returns: nil if it is the file's last name by now, which makes it an ordinary product.
    private func removeName(
        beside source: BytePath, _ receipt: Receipt, _ context: StepContext
    ) async throws -> Receipt? {
        guard case .created(let path, _, let hash)? = receipt.effects.first else { return nil }
        let (files, removal) = (context.files, ProductRemoval(services: services))
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            if context.resumesUndo, let entry = try files.entryIfAny(path) {
                // An interrupted undo may have moved the link aside.
                _ = try Mover.finishRemoval(of: entry, expecting: hash)
            }
            let isThere = try removal.isThere(receipt, context)
            guard let link = try files.status(path), let own = try files.status(source), own.isSameFile(as: link),
                isThere, path != source
            else { return nil }
            try files.removeSource(path, expecting: hash)
            let left = try files.status(source)
            return try back.bringBackReplaced(
                receipt,
                after: Receipt(
                    "removed the hard link \(path)",
                    effects: left.map { [.removed(path), .touched(source, $0.fingerprint, hash)] } ?? []))
        }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        if destination.skips { return .done(skipped()) }
        return try await services.files.run {
            // The product's place may be away by now.
            try services.journal.presence.require(destination.target)
            return try destination.recovered(finished(context), services, context)
        }
    }

    /// Blocks.
    package func carryOut(_ context: StepContext) throws -> Receipt {
        if destination.skips { return skipped() }
        try services.journal.makeFolders(for: destination.target, context.files)
        // When called again after success, the product is found at its destination.
        if let done = try finished(context) { return done }
        let way = Way(
            names: destination.candidates,
            clear: destination.replaces == nil ? nil : { try destination.clear(services, context) },
            purpose: Self.purpose(context), record: services.journal.staging(context.stepID))
        let placed = try destination.clearing(services, context) { try make(way, context.files) }
        return try destination.replacing(receipt(placed), services, context)
    }

    /// The receipt if the product exists: after a rename it has the source's inode, otherwise it is the staged file.
    /// Blocks; also removes the source of a copy that stands in for a move.
    package func finished(_ context: StepContext) throws -> Receipt? {
        let products = try services.journal.products(of: context.stepID)
        // A hard link of the source may already have had the name.
        let hasLeft = hasLeft(context.files)
        let found = try destination.find(context.files, isBegun: !products.isEmpty || hasLeft) { entry, status in
            if hasLeft, moving?.isSame(status) == true { return true }
            return try entry.isAny(of: products) && isMade(entry.path, context)
        }
        guard let (path, status) = found, path != moving?.path else { return nil }
        guard try moving?.isFolder == true || context.files.hash(path) == content else { return nil }
        // The removal may have been interrupted at any point.
        if let moving, !moving.isSame(status) {
            let purpose = Self.purpose(context)
            if !moving.isPast {
                try context.files.removeSource(moving.path, expecting: content, purpose: purpose)
            }
            try services.finishRemoval(of: moving.path, expecting: content, purpose: purpose, context)
        }
        let placed = Mover.Placed(path: path, fingerprint: status.fingerprint, hash: content)
        return try destination.replacing(receipt(placed), services, context)
    }

    private static func purpose(_ context: StepContext) -> String { "move \(context.stepID)" }

    /// Whether the step created this name for its product.
    private func isMade(_ name: BytePath, _ context: StepContext) throws -> Bool {
        // A replacement is staged under one of the agent's own names and can get only one name.
        guard named != nil, destination.exists != .replace else { return true }
        return try services.journal.ledger.readBlocking { try $0.staged() }.contains {
            $0.job == context.stepID && $0.path == name
        }
    }

    /// Whether the source has left its path, or its place is away so that this is unknown.
    private func hasLeft(_ files: HeldFiles) -> Bool {
        guard let moving else { return false }
        guard let status = try? files.status(moving.path) else { return true }
        return !moving.isSame(status)
    }
}
