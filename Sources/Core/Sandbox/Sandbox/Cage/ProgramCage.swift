import CLinux
import Glibc
import Platform

/// A worker's second profile: it becomes a foreign program that reads the file it was handed (draws pages, unpacks a solid
/// RAR, tells the text of a PDF), and nothing else, for good (docs/design/cage.md, "The second profile").
///
/// What the cage holds against, and what not, is written beside its filter in `RenderCage.c`.
package enum ProgramCage {
    /// Bytes. Pages are drawn whole in memory, at the size of the page and of each picture in it.
    package static let memory: UInt64 = 1 << 30

    /// Where programs, their libraries, fonts and the tables of fonts lie. No folder of a user is among them.
    private static let readable = [
        "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/etc/ld.so.cache", "/etc/fonts", "/var/cache/fontconfig",
        "/sys/devices/system/cpu/online",
    ]

    /// Opened anew it is read where it stands; from its standard input the renderer takes a whole file into memory.
    package static let input = "/dev/fd/0"

    /// The dynamic loaders, which the kernel executes for the program.
    private static let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"]

    /// Where the program's output goes; its other channel goes nowhere.
    package enum Channel: Int32 { case output = 1, complaints }

    /// Replaces this process by `program`, with the file on descriptor 3 as its standard input and the pipe on 4 as
    /// `channel`.
    ///
    /// - Parameters:
    ///   - also: files that it may read besides.
    ///   - asksForSockets: whether it does so by itself: it gets none, and goes on.
    /// - Throws: `Fault` where the cage cannot be closed or the program not started; it does not come back else.
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
        // A renderer that may read the user's files could draw them into a page: without Landlock there is none.
        guard steward_landlock_reading(paths, loaders, STEWARD_RENDERER, 0) > 0 else {
            throw Fault.system("enter a Landlock domain")
        }
        guard steward_filter_renderer(asksForSockets ? 1 : 0) == 0 else {
            throw Fault.system("install the system call filter")
        }
        steward_become_renderer(words, environment)
        throw Fault.system("start the renderer", program.path)
    }

    /// A list for C, ended by NULL. The process is about to be replaced: nothing frees it.
    private static func strings(_ list: [String]) -> [UnsafeMutablePointer<CChar>?] { list.map { strdup($0) } + [nil] }
}
