import CLinux
import Glibc
import Platform

/// A worker's second profile: it permanently becomes an external program that reads the given file (renders pages,
/// unpacks a solid RAR, extracts the text of a PDF) and nothing else (docs/design/cage.md, "The second profile").
///
/// `RenderCage.c` documents, next to its filter, what the cage protects from and what it does not.
package enum ProgramCage {
    /// In bytes. Pages are rendered in memory, at the size of the page and of each picture in it.
    package static let memory: UInt64 = 1 << 30

    /// Where programs, their libraries, fonts and font caches are. No user's folder is among them.
    private static let readable = [
        "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/fonts", "/var/cache/fontconfig",
        "/sys/devices/system/cpu/online",
    ]

    /// Opened by this name, the file is read in place; from standard input the renderer would read all of it into
    /// memory.
    package static let input = "/dev/fd/0"

    /// The dynamic loaders, which the kernel executes for the program.
    private static let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]

    /// Which of the program's outputs to keep; the other is discarded.
    package enum Channel: Int32 { case output = 1, complaints }

    /// Replaces this process with `program`, with the file on descriptor 3 as its standard input and the pipe on 4 as
    /// `channel`.
    ///
    /// - Parameters:
    ///   - also: further files that it may read.
    ///   - asksForSockets: whether it tries to open sockets on its own account; it gets none, and carries on.
    /// - Throws: `Fault` if the cage cannot be closed or the program not started; otherwise it does not return.
    package static func become(
        _ program: Descriptor, _ arguments: [String], on channel: Channel, processorSeconds: UInt64,
        also: [String] = [], asksForSockets: Bool = false
    ) throws -> Never {
        let words = strings(arguments)
        let environment = strings(["TZ=UTC0", "LC_ALL=C.UTF-8"])
        let paths = strings(readable + also).map { UnsafePointer($0) }
        let loaders = strings(Self.loaders).map { UnsafePointer($0) }
        guard steward_arrange_renderer(program.raw, channel.rawValue) == 0 else {
            throw Fault.system("hand over the descriptors")
        }
        guard steward_limit_renderer(processorSeconds, memory) == 0 else { throw Fault.system("limit the renderer") }
        guard steward_set_parent_death_signal(SIGKILL) == 0, steward_forbid_new_privileges() == 0 else {
            throw Fault.system("give up privileges")
        }
        // A renderer with access to the user's files could draw them into a page, so it does not run without Landlock.
        guard steward_landlock_reading(paths, loaders, STEWARD_RENDERER, 0) > 0 else {
            throw Fault.system("enter a Landlock domain")
        }
        guard steward_filter_renderer(asksForSockets ? 1 : 0) == 0 else {
            throw Fault.system("install the system call filter")
        }
        steward_become_renderer(words, environment)
        throw Fault.system("start the renderer", program.path)
    }

    /// A NULL-terminated list for C. Never freed: the process is about to be replaced.
    private static func strings(_ list: [String]) -> [UnsafeMutablePointer<CChar>?] { list.map { strdup($0) } + [nil] }
}
