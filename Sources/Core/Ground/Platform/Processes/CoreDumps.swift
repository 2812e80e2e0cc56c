import CLinux

/// Core dumps of this process, which would hold whatever its memory holds.
package enum CoreDumps {
    /// From now on there are none, and other processes of the same user cannot look into this one.
    ///
    /// - Throws: `Fault` where the kernel refuses, which it does for nobody.
    package static func forbid() throws {
        guard steward_forbid_core_dumps() == 0 else { throw Fault.system("forbid core dumps") }
    }
}
