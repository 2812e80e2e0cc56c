import Platform
import Rules

/// Taking back a file that a step made: it goes to the trash, if it is still what was made.
package struct ProductRemoval: Sendable {
    private let services: FileServices

    package init(services: FileServices) { self.services = services }

    package func undo(_ receipt: Receipt, _ context: StepContext) async throws -> Receipt {
        guard case .created(let path, _, let hash)? = receipt.effects.first else {
            return Receipt("nothing had been made")
        }
        let trash = services.trash
        let files = context.files
        try await services.files.run {
            let status = try files.status(path)
            if context.resumesUndo, status == nil { return }
            guard let status, status.kind == .file, try files.hash(path) == hash else {
                throw Fault(.failed, "\(path) is gone or has been changed since; it was left as it is", path: path)
            }
            _ = try trash.put(path, expecting: hash, mark: hash.description.prefix(8), files)
        }
        return Receipt("put \(path) into the trash", effects: [.removed(path)])
    }
}
