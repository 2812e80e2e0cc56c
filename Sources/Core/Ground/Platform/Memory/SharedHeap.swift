import CLinux

/// Where the C library takes memory from.
package enum SharedHeap {
    /// Has all threads that are made from now on share one heap. By default each of dozens gets its own, and what a burst
    /// of work leaves free in one is of no use to the others: the process grows with every file and never shrinks.
    ///
    /// - Returns: false where the C library knows no such thing; nothing else depends on it.
    @discardableResult
    package static func use() -> Bool { steward_share_one_heap() == 0 }
}
