import CLinux

extension Descriptor {
    /// An empty file that exists only in memory (memfd_create(2)). Like all memory, it may be swapped out.
    ///
    /// - Parameter path: its name in messages.
    package convenience init(inMemory path: BytePath) throws {
        let raw = steward_open_memory("steward")
        guard raw >= 0 else { throw Fault.system("make a file in memory for", path) }
        self.init(owning: raw, path: path)
    }

    /// Permanently seals a file in memory against changes.
    package func seal() throws {
        guard steward_seal_memory(raw) == 0 else { throw Fault.system("seal the file in memory for", path) }
    }
}
