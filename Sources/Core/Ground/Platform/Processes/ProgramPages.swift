import CLinux

/// The resident pages of the program's own code.
package enum ProgramPages {
    /// Drops all of them. Pages still needed return from the page cache one by one; those used only at startup, a
    /// quarter, stay away. They are never written, so nothing is lost.
    ///
    /// - Returns: false if the kernel refused; nothing else depends on it.
    @discardableResult
    package static func letGo() -> Bool { steward_let_program_pages_go() == 0 }
}
