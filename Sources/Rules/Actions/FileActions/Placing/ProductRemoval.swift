import Platform
import Rules

/// Undoes making a file: moves it to the trash if it is unchanged.
package struct ProductRemoval: Sendable {
    private let services: FileServices

    package init(services: FileServices) { self.services = services }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .created(let path, _, let hash)? = receipt.effects.first else {
            return Receipt("nothing had been made")
        }
        let trash = services.trash
        let back = PuttingBack(services: services, context: context)
        return try await services.files.run {
            if try isThere(receipt, context) {
                _ = try trash.put(path, expecting: hash, mark: hash.description.prefix(8), context.files)
            }
            let done = Receipt("put \(path) into the trash", effects: [.removed(path)])
            return try back.bringBackReplaced(receipt, after: done)
        }
    }

    /// Whether the file still has to be removed. Blocks.
    ///
    /// - Throws: `Fault(.failed)` if it was changed.
    package func isThere(_ receipt: Receipt, _ context: StepContext) throws -> Bool {
        guard case .created(let path, _, let hash)? = receipt.effects.first else { return false }
        let files = context.files
        let status = try files.status(path)
        if context.resumesUndo, status == nil { return false }
        let now = status?.kind == .file ? try files.hash(path) : nil
        // Interrupted after the replaced file was restored.
        if context.resumesUndo, case .moved(_, let slot, _, let old)? = receipt.replaced, now == old,
            try old != hash || files.status(slot) == nil
        {
            return false
        }
        guard now == hash else {
            throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
        }
        return true
    }
}
