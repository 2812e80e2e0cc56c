import Glibc

extension Durable {
    /// Writes a new file next to `target` under a temporary name, synced, in consecutive parts.
    ///
    /// - Parameters:
    ///   - record: called with the file while it is still empty.
    ///   - fill: called with a function that writes the next part; if it throws, nothing is left behind.
    /// - Returns: the file's name. Blocks.
    package static func stage(
        for target: DirectoryEntry, mode: mode_t = 0o644, record: Record,
        fill: (_ put: ([UInt8]) throws -> Void) throws -> Void
    ) throws -> DirectoryEntry {
        try stage(at: target.sibling(temporaryName().utf8), mode: mode, record: record, fill: fill)
    }

    /// The same, under a name chosen by the caller.
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
            // Report the original error; at worst, a temporary file remains.
            try? discard(temporary, record: record)
            throw error
        }
        return temporary
    }
}
