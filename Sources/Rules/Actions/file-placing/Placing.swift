import Platform
import Rules

/// How one file comes to lie at its destination, once, however often it is asked for and wherever it was cut off: what
/// all actions share that make or move a file.
package struct Placing: Sendable {
    let services: FileServices
    let destination: Destination
    /// What lies there when it is done.
    let content: ContentHash
    /// The file that is moved there: by rename it is the product itself, by copy it goes last. Nil where one is made.
    let moving: Source?
    /// Makes the product at the first of the names that is free.
    let make: @Sendable (any Sequence<BytePath>, Mover.Record, HeldFiles) throws -> Mover.Placed
    let receipt: @Sendable (Mover.Placed) -> Receipt
    /// For a destination that says that nothing is to be done.
    let skipped: @Sendable () -> Receipt

    package init(
        services: FileServices, destination: Destination, content: ContentHash, moving: Source? = nil,
        make: @escaping @Sendable (any Sequence<BytePath>, Mover.Record, HeldFiles) throws -> Mover.Placed,
        receipt: @escaping @Sendable (Mover.Placed) -> Receipt, skipped: @escaping @Sendable () -> Receipt
    ) {
        self.services = services
        self.destination = destination
        self.content = content
        self.moving = moving
        self.make = make
        self.receipt = receipt
        self.skipped = skipped
    }

    package struct Source: Sendable {
        let path: BytePath
        let fingerprint: Fingerprint?
        /// Whether it is a folder: what lies in it by now is not asked, once it has been renamed.
        var isFolder = false

        func isSame(_ status: FileStatus) -> Bool {
            status.inode == fingerprint?.inode && status.device == fingerprint?.device
        }
    }

    package func perform(_ context: StepContext) async throws -> Receipt {
        try await services.files.run { try carryOut(context) }
    }

    package func recover(_ context: StepContext) async throws -> Recovery {
        if destination.skips { return .done(skipped()) }
        return try await services.files.run {
            // What was done lies in a place that may be away by now.
            try services.journal.presence.require(destination.target)
            if let done = try finished(context) { return .done(done) }
            return .notDone
        }
    }

    /// Blocks.
    package func carryOut(_ context: StepContext) throws -> Receipt {
        if destination.skips { return skipped() }
        try services.journal.makeFolders(for: destination.target, context.files)
        // Called again after it was done, the file is found where it went.
        if let done = try finished(context) { return done }
        try destination.clear(trash: services.trash, context.files)
        return receipt(
            try make(
                destination.candidates, { try services.journal.recordStaged($0, $1, step: context.stepID) },
                context.files))
    }

    /// The receipt, if the product is there: by rename its inode is the source's, else it is the one that was staged.
    /// Blocks; removes the source of a copy that was to be a move.
    package func finished(_ context: StepContext) throws -> Receipt? {
        let found = try destination.find(context.files) { status in
            try moving?.isSame(status) == true || services.journal.isProduct(of: context.stepID, status)
        }
        guard let (path, status) = found, path != moving?.path else { return nil }
        guard try moving?.isFolder == true || context.files.hash(path) == content else { return nil }
        // A crash may have come at any point of removing it.
        if let moving, !moving.isSame(status) { try context.files.removeSource(moving.path, expecting: content) }
        return receipt(Mover.Placed(path: path, fingerprint: status.fingerprint, hash: content))
    }
}
