import CLinux

/// The C library's malloc arenas.
package enum SharedHeap {
    /// Makes all threads created from now on share one heap. By default each gets its own, and memory freed in one
    /// after a burst is of no use to the others: the process grows with every file and never shrinks.
    ///
    /// - Returns: false if the C library does not support this; nothing else depends on it.
    @discardableResult
    package static func use() -> Bool { steward_share_one_heap() == 0 }
}
