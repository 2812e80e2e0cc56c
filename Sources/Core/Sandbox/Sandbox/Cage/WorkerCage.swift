import CLinux
import Glibc
import Platform

/// How a worker locks itself down permanently, before reading a byte of its input (docs/design/cage.md, "How it locks
/// itself down").
package enum WorkerCage {
    /// Must be called first: closes the descriptor that the executable was started from, and sets the process name that
    /// people see.
    package static func begin(_ name: String) {
        steward_begin_worker(name)
    }

    /// Sets limits, no new privileges, no core dumps, Landlock if the kernel has it, and the system call filter.
    ///
    /// - Parameters:
    ///   - processorSeconds: CPU seconds until SIGXCPU.
    ///   - ceiling: how far the parent may raise that. At the hard limit the kernel sends SIGKILL, which an
    ///     out-of-memory
    ///     machine also sends, so SIGXCPU must come first.
    ///   - memory: bytes of address space.
    ///   - asks: whether descriptor 3 is a socket for requests.
    /// - Throws: `Fault` if any of them fails; then nothing may be read.
    package static func enter(processorSeconds: UInt64, ceiling: UInt64, memory: UInt64, asks: Bool = false) throws {
        guard steward_limit_worker(processorSeconds, ceiling + 1, memory) == 0 else {
            throw Fault.system("limit the process")
        }
        guard steward_set_parent_death_signal(SIGKILL) == 0, steward_forbid_core_dumps() == 0,
            steward_forbid_new_privileges() == 0
        else { throw Fault.system("give up privileges") }
        guard steward_landlock_nothing() >= 0 else { throw Fault.system("enter an empty Landlock domain") }
        guard steward_filter_worker(asks ? 1 : 0) == 0 else { throw Fault.system("install the system call filter") }
    }

    /// Runs once whatever makes the C and Swift libraries load files lazily.
    package static func warmUp() {
        setenv("TZ", "UTC0", 1)
        tzset()
        setlocale(LC_CTYPE, "C.UTF-8")
        _ = Set(["a"])
        _ = "É".lowercased()
    }
}

/// Tries what the cage forbids. Returns only if the cage is broken; then the exit status is 1.
package enum CageProbe {
    package static func run(_ what: String) -> Never {
        switch what {
        case "open": _ = open("/etc/passwd", O_RDONLY)
        case "create": _ = open("/tmp/steward-probe", O_WRONLY | O_CREAT, 0o600)
        case "socket": _ = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        case "fork":
            var id = pthread_t()
            pthread_create(&id, nil, { _ in nil }, nil)
        case "exec":
            var id = pid_t()
            posix_spawn(&id, "/bin/true", nil, nil, [nil], [nil])
        case "mmap": _ = mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        case "write": _ = write(3, "x", 1)
        case "kill": kill(getppid(), 0)
        case "none": _exit(0)
        default: _exit(64)
        }
        _exit(1)
    }
}
