import Glibc
import OwnFiles
import Platform
import Sandbox

/// `steward-worker archive unar`: a RAR on descriptor 3, the contents of all its files one behind the other on descriptor 4, in the
/// worker's second profile (``ProgramCage``).
///
/// Words behind the command name a program in `unar`'s place and its arguments. It leaves with
/// ``WorkerStatus/notInstalled`` or ``WorkerStatus/notCaged`` where the program was never started, else as that does.
enum UnarWorker {
    /// No archive within the archive, no resource forks, no folder to hold it all, and no file: to the standard output.
    private static let words = ["unar", "-q", "-nr", "-k", "skip", "-D", "-o", "-", ProgramCage.input]

    /// What its libraries want to know of the process and of where names of users stand.
    // It asks who its user is, and gives up where nobody answers; of root the C library knows by itself.
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
