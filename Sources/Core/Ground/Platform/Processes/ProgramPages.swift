import CLinux

/// The pages of the program's own code that are in memory.
package enum ProgramPages {
    /// Lets go of all of them: those that are needed come back from the kernel's cache one by one, and those that only the
    /// start needed, a quarter of them, stay away. They are the file's, and never written, so nothing is lost.
    ///
    /// - Returns: false where the kernel refused; nothing else depends on it.
    @discardableResult
    package static func letGo() -> Bool { steward_let_program_pages_go() == 0 }
}
