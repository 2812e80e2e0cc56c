import CLinux

/// Core dumps of this process, which would contain all its memory.
package enum CoreDumps {
    /// Disables core dumps, and prevents other processes of the same user from inspecting this one.
    ///
    /// - Throws: `Fault` if the kernel refuses, which it never does.
    package static func forbid() throws {
        guard steward_forbid_core_dumps() == 0 else { throw Fault.system("forbid core dumps") }
    }
}
