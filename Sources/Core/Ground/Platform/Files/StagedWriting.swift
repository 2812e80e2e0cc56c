import Glibc

extension Durable {
    /// Writes a new file beside `target` under a temporary name, synced, from parts that come one after the other.
    ///
    /// - Parameters:
    ///   - record: called with the file while it is still empty.
    ///   - fill: is given what takes the next part; where it throws, nothing is left.
    /// - Returns: where it lies. Blocks.
    package static func stage(
        for target: DirectoryEntry, mode: mode_t = 0o644, record: Record,
        fill: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws -> DirectoryEntry {
        try stage(at: target.sibling(temporaryName().utf8), mode: mode, record: record, fill: fill)
    }

    /// The same under a name that the caller has chosen.
    package static func stage(
        at temporary: DirectoryEntry, mode: mode_t, record: Record,
        fill: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws -> DirectoryEntry {
        let file = try newFile(temporary, mode: mode, record: record)
        do {
            var size: Int64 = 0
            try fill { part in
                try file.write(part, at: size)
                size += Int64(part.count)
            }
            try file.sync()
        } catch {
            // What went wrong is the news; a name that stays is a temporary one.
            try? discard(temporary, record: record)
            throw error
        }
        return temporary
    }
}
