import CLinux

extension Descriptor {
    /// An empty file that lies in memory and nowhere else (memfd_create(2)). It can reach the swap, like all memory.
    ///
    /// - Parameter path: what messages call it.
    package convenience init(inMemory path: BytePath) throws {
        let raw = steward_open_memory("steward")
        guard raw >= 0 else { throw Fault.system("make a file in memory for", path) }
        self.init(owning: raw, path: path)
    }

    /// Seals a file in memory against every change, for good.
    package func seal() throws {
        guard steward_seal_memory(raw) == 0 else { throw Fault.system("seal the file in memory for", path) }
    }
}
