import Glibc
import OwnFiles
import Platform
import Sandbox

/// `steward-worker archive unar`: a RAR on descriptor 3, the concatenated contents of all its files on descriptor 4, in
/// the worker's second profile (``ProgramCage``).
///
/// Words after the command name a program to use instead of `unar`, and its arguments. Exits with
/// ``WorkerStatus/notInstalled`` or ``WorkerStatus/notCaged`` if the program was never started, otherwise like the
/// program.
enum UnarWorker {
    /// No nested archives, no resource forks, no enclosing folder, and no files: to standard output.
    private static let words = ["unar", "-q", "-nr", "-k", "skip", "-D", "-o", "-", ProgramCage.input]

    /// What its libraries look up about the process and the user database.
    // It looks up its user and gives up if that fails; for root, the C library needs no lookup.
    private static let readable = ["/proc/self/cmdline", "/etc/nsswitch.conf", "/etc/passwd"]

    static func main(_ other: [String], _ limits: WorkerLimits) -> Never {
        let programs = other.first.map { [BytePath($0)] } ?? SolidUnpacker.places
        do {
            for path in programs {
                guard let program = try? Descriptor(path, follow: true) else { continue }
                try ProgramCage.become(
                    program, other.isEmpty ? words : other, on: .output,
                    processorSeconds: limits.solidProcessorSeconds, also: readable, asksForSockets: true)
            }
        } catch {
            _exit(WorkerStatus.notCaged)
        }
        _exit(WorkerStatus.notInstalled)
    }
}
