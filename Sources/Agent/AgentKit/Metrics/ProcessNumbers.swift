import Glibc
import OwnFiles
import Platform

/// The kernel's figures for this process, under the names used by Prometheus client libraries.
enum ProcessNumbers {
    /// Blocks briefly. Figures that the kernel does not provide are omitted.
    static func families() -> [MetricFamily] {
        var families: [MetricFamily] = []
        func gauge(_ name: String, _ value: Double, _ kind: MetricKind = .gauge) {
            families.append(MetricFamily(name, kind, samples: [MetricSample(name, value)]))
        }
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        if let pages = words("/proc/self/statm"), pages.count > 1, let all = Double(pages[0]),
            let resident = Double(pages[1])
        {
            gauge("process_virtual_memory_bytes", all * page)
            gauge("process_resident_memory_bytes", resident * page)
        }
        var usage = rusage()
        if getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0 {
            gauge("process_cpu_seconds_total", seconds(usage.ru_utime) + seconds(usage.ru_stime), .counter)
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            gauge("process_max_fds", Double(limit.rlim_cur))
        }
        if let open = try? listDirectory("/proc/self/fd") {
            // Minus the descriptor used for reading the folder.
            gauge("process_open_fds", Double(open.count - 1))
        }
        if let start = startTime() { gauge("process_start_time_seconds", start) }
        return families
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The kernel counts it from boot, in ticks (proc(5)).
    private static func startTime() -> Double? {
        guard let text = text("/proc/self/stat"), let name = text.lastIndex(of: ")") else { return nil }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 20, let ticks = Double(fields[20]) else { return nil }
        var sinceBoot = timespec()
        clock_gettime(CLOCK_BOOTTIME, &sinceBoot)
        let uptime = Double(sinceBoot.tv_sec) + Double(sinceBoot.tv_nsec) / 1e9
        return (Timestamp.now().seconds - uptime + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))).rounded()
    }

    private static func words(_ file: BytePath) -> [Substring]? { text(file)?.split(separator: " ") }

    private static func text(_ file: BytePath) -> String? {
        (try? Descriptor(file).readAll(limit: 65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}
