import Glibc
import OwnFiles
import Platform

/// Identifies a process by boot, number and start time, so that a process id reused after a restart is not mistaken for
/// it. Blocks briefly.
enum ProcessIdentity {
    static func current() throws -> String { try identity(getpid()) }

    /// Whether the process still runs. If unknown, it counts as running.
    static func isAlive(_ identity: String) -> Bool {
        guard let number = identity.split(separator: " ").dropFirst().first.flatMap({ Int32($0) }) else { return true }
        do {
            return try self.identity(number) == identity
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ESRCH {
            return false
        } catch {
            return true
        }
    }

    private static func identity(_ number: Int32) throws -> String {
        let boot = try text("/proc/sys/kernel/random/boot_id")
        let status = try text(BytePath("/proc/\(number)/stat"))
        // The name, in parentheses, may contain spaces and parentheses; the start time is the 20th field after it.
        let fields = status[(status.lastIndex(of: ")") ?? status.startIndex)...].split(separator: " ")
        return "\(boot) \(number) \(fields.count > 20 ? fields[20] : "")"
    }

    private static func text(_ path: BytePath) throws -> String {
        let bytes = try Descriptor(path).read(at: 0, count: 4096)
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? ""
    }
}
