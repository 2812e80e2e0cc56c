import CLinux

/// Memory that this process returns to the C library's heap.
package enum FreedMemory {
    /// Overwrites memory on free from now on, for the rest of the process's life: for processes whose data must not be
    /// found in memory later.
    package static func wipe() { steward_wipe_freed_memory() }
}
