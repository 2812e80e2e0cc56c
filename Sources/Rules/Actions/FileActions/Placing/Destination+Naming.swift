import Platform
import Rules

extension Destination {
    /// Gives what was made under a name of the agent's own the first name that is free, or that can be made free. Where that
    /// cannot be it is gone when this throws, and what had made way for it is back, or the fault says where it is. Blocks.
    ///
    /// - Parameters:
    ///   - staged: on the destination's file system.
    ///   - source: what it was made of.
    ///   - what: what it is, for whoever is told that it finds no name; nil for its target.
    ///   - record: what it was staged with.
    ///   - verify: called first: where it throws, nothing has made way.
    /// - Throws: `Fault(.failed)` where no name is free, and what `verify` throws.
    package func name(
        _ staged: DirectoryEntry, of source: BytePath, as what: String? = nil, record: Durable.Record,
        _ services: FileServices,
        _ context: StepContext, verify: () throws -> Void = {}
    ) throws -> BytePath {
        try clearing(services, context) { () throws -> BytePath in
            do {
                try verify()
                try clear(services, context)
                for path in candidates where try Durable.renameNew(staged, to: context.files.spot(path)) {
                    return path
                }
            } catch {
                // What went wrong is the news; what stays has a name of the agent's own.
                try? Durable.discard(staged, record: record)
                throw error
            }
            try Durable.discard(staged, record: record)
            throw Fault.noFreeName(for: what ?? target.description, path: source)
        }
    }
}
