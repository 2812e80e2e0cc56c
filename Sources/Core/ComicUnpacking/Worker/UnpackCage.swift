import CLinux
import ComicParsing
import Glibc
import Platform

/// How the worker locks itself down, before it has read a byte of the archive.
enum UnpackCage {
    static let memory: UInt64 = 512 << 20
    static var solidProcessorSeconds: UInt64 { WorkerLimits.standard.solidProcessorSeconds }

    /// Limits, no new privileges, no core dumps, Landlock where the kernel has it, and the system call filter.
    ///
    /// - Parameter asks: whether the archive's bytes are asked for.
    /// - Throws: `Fault` where one of them is refused: then nothing may be read.
    static func enter(_ limits: WorkerLimits, asks: Bool) throws {
        // At the hard limit the kernel sends SIGKILL, which an exhausted machine sends too: SIGXCPU comes first.
        guard steward_limit_worker(limits.processorSeconds, limits.solidProcessorSeconds + 1, memory) == 0 else {
            throw Fault.system("limit the unpacking process")
        }
        guard steward_set_parent_death_signal(SIGKILL) == 0, steward_forbid_core_dumps() == 0,
            steward_forbid_new_privileges() == 0
        else { throw Fault.system("give up privileges") }
        guard steward_landlock_nothing() >= 0 else { throw Fault.system("enter an empty Landlock domain") }
        guard steward_filter_worker(asks ? 1 : 0) == 0 else { throw Fault.system("install the system call filter") }
    }

    /// Reads and hashes a little, so that the libraries have loaded all they need from files.
    ///
    /// - Parameter hashes: whether SHA-256 will be computed: OpenSSL takes a millisecond to begin.
    static func warmUp(hashes: Bool = false) {
        setenv("TZ", "UTC0", 1)
        tzset()
        setlocale(LC_CTYPE, "C.UTF-8")
        if hashes { _ = ContentHash(of: [0]) }
        _ = Set(["a"])
        _ = "É".lowercased()
        var crc = CRC32()
        [0, 1, 2].withUnsafeBytes { crc.update($0) }
    }
}
