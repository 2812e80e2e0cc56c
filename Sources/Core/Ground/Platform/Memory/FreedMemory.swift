import CLinux

/// What this process gives back to the C library's heap.
package enum FreedMemory {
    /// From now on memory is overwritten when it is freed, for the rest of the process's life: for whoever handles what is not
    /// to be found in memory later.
    package static func wipe() { steward_wipe_freed_memory() }
}
