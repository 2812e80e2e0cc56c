import Ledger
import Platform
import Rules

/// How one file comes to lie at its destination, once, however often it is asked for and wherever it was cut off: what
/// all actions share that make or move a file. Taken back, what was moved goes where it came from, and what was made into the
/// trash.
package struct Placing: Primitive {
    let services: FileServices
    let destination: Destination
    /// What lies there when it is done.
    let content: ContentHash
    /// The file that is moved there: by rename it is the product itself, by copy it goes last. Nil where one is made.
    let moving: Source?
    /// The file that gets a further name, where that is what is made: it may have others, and is told from them by what it
    /// is called. Taken back, the name goes, and no file: what has it has another.
    let named: BytePath?
    /// Makes the product at the first of the names that is free, or that can be made free.
    let make: @Sendable (Way, HeldFiles) throws -> Mover.Placed
    let receipt: @Sendable (Mover.Placed) -> Receipt
    /// For a destination that says that nothing is to be done.
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
        /// Whether it is a folder: what lies in it by now is not asked, once it has been renamed.
        var isFolder = false
        /// Whether it is known to have gone: what has its name now is another, and stays.
        var isPast = false

        func isSame(_ status: FileStatus) -> Bool {
            status.inode == fingerprint?.inode && status.device == fingerprint?.device
        }
    }

    /// What the product is made by.
    package struct Way {
        package let names: any Sequence<BytePath>
        /// Nil where a name that is taken is passed over.
        package let clear: Mover.Clear?
        /// Names the removal of what is copied and then removed.
        package let purpose: String
        package let record: Mover.Record
    }

    package var targets: [BytePath] {
        guard let moving else { return [named, destination.there].compactMap(\.self) }
        // Of a folder all names that it could get: what lies in it is whole already, and is looked at as soon as it is there.
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
            // Cut off after what it had replaced was brought back.
            var isPast = false
            if context.resumesUndo, case .moved(_, let slot, _, _)? = receipt.replaced {
                isPast = try context.files.status(slot) == nil
            }
            return try back.bringBackReplaced(receipt, after: back.move(receipt.effects.first, isPast: isPast))
        }
    }

    /// Removes a further name of the file `source`.
    ///
    /// - Returns: nil where it is the file's last one by now: then it is a file like any other that a step has made.
    private func removeName(
        beside source: BytePath, _ receipt: Receipt, _ context: StepContext
    ) async throws -> Receipt? {
        guard case .created(let path, _, let hash)? = receipt.effects.first else { return nil }
        let (files, removal) = (context.files, ProductRemoval(services: services))
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            if context.resumesUndo, let spot = try files.spotIfAny(path) {
                // Cut off in the midst of it, the name may be out of sight.
                _ = try Mover.finishRemoval(of: spot, expecting: hash)
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
            // What was done lies in a place that may be away by now.
            try services.journal.presence.require(destination.target)
            return try destination.recovered(finished(context), services, context)
        }
    }

    /// Blocks.
    package func carryOut(_ context: StepContext) throws -> Receipt {
        if destination.skips { return skipped() }
        try services.journal.makeFolders(for: destination.target, context.files)
        // Called again after it was done, the file is found where it went.
        if let done = try finished(context) { return done }
        let way = Way(
            names: destination.candidates,
            clear: destination.replaces == nil ? nil : { try destination.clear(services, context) },
            purpose: Self.purpose(context), record: services.journal.staging(context.stepID))
        let placed = try destination.clearing(services, context) { try make(way, context.files) }
        return try destination.replacing(receipt(placed), services, context)
    }

    /// The receipt, if the product is there: by rename its inode is the source's, else it is the file that was staged.
    /// Blocks; removes the source of a copy that was to be a move.
    package func finished(_ context: StepContext) throws -> Receipt? {
        let products = try services.journal.products(of: context.stepID)
        // A hard link of what is moved may have had the name before.
        let hasLeft = hasLeft(context.files)
        let found = try destination.find(context.files, isBegun: !products.isEmpty || hasLeft) { spot, status in
            if hasLeft, moving?.isSame(status) == true { return true }
            return try spot.isAny(of: products) && isMade(spot.path, context)
        }
        guard let (path, status) = found, path != moving?.path else { return nil }
        guard try moving?.isFolder == true || context.files.hash(path) == content else { return nil }
        // A crash may have come at any point of removing it.
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

    /// Whether the step has made the name of its product.
    private func isMade(_ name: BytePath, _ context: StepContext) throws -> Bool {
        // What replaces another comes from a name of the agent's own, and there is one name that it can get.
        guard named != nil, destination.exists != .replace else { return true }
        return try services.journal.ledger.readBlocking { try $0.staged() }.contains {
            $0.job == context.stepID && $0.path == name
        }
    }

    /// Whether what is moved is not where it was, or nobody can tell, because its place is away.
    private func hasLeft(_ files: HeldFiles) -> Bool {
        guard let moving else { return false }
        guard let status = try? files.status(moving.path) else { return true }
        return !moving.isSame(status)
    }
}
