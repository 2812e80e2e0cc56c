import Platform
import Rules

extension Destination {
    /// Renames a staged product to the first name that is free or can be freed. On failure the product is gone when
    /// this throws; whatever had made way for it is back, or the fault says where it is. Blocks.
    ///
    /// - Parameters:
    ///   - staged: on the destination's file system.
    ///   - source: the file that it was made from.
    ///   - what: description for the message if no name is free; nil for its target.
    ///   - record: the record that it was staged with.
    ///   - verify: called first; if it throws, nothing has made way.
    /// - Throws: `Fault(.failed)` if no name is free; errors of `verify`.
    package func name(
        _ staged: DirectoryEntry, of source: BytePath, as what: String? = nil, record: Durable.Record,
        _ services: FileServices,
        _ context: StepContext, verify: () throws -> Void = {}
    ) throws -> BytePath {
        try clearing(services, context) { () throws -> BytePath in
            do {
                try verify()
                try clear(services, context)
                for path in candidates where try Durable.renameNew(staged, to: context.files.entry(path)) {
                    return path
                }
            } catch {
                // Best effort: report the original error. A leftover has one of the agent's own names.
                try? Durable.discard(staged, record: record)
                throw error
            }
            try Durable.discard(staged, record: record)
            throw Fault.noFreeName(for: what ?? target.description, path: source)
        }
    }
}
