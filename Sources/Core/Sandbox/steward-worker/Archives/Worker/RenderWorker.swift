import CLinux
import Glibc
import OwnFiles
import Platform
import Sandbox

/// `steward-worker archive pdf …`: a PDF on descriptor 3, the renderer's own output on descriptor 4.
///
/// - `info`: pdfinfo's description of the document and of each page.
/// - `complaints`: its complaints about the document.
/// - `draw PAGE RESOLUTION`: one page (from 1) as a JPEG, at that many dots per inch.
/// - `check PAGES`: draws every page small and discards it; sends complaints and progress.
/// - `look FIRST LAST`: these pages (from 1), small, as PPMs.
/// - `probe WHAT`: breaks one rule of the cage, in a second run of this program that replaces the renderer.
///
/// Exits with ``WorkerStatus/notInstalled`` or ``WorkerStatus/notCaged`` if the renderer was never started, otherwise
/// like the renderer.
enum RenderWorker {
    /// Pixels of a page's longer side for `check`: everything in it is decoded, but little is painted.
    private static let checkedSide = 100

    static func main(_ arguments: [String], _ limits: WorkerLimits) -> Never {
        let numbers = arguments.dropFirst().map { Int($0) ?? 0 }
        do {
            switch (arguments.first ?? "", numbers.count) {
            case ("info", 0):
                try run("pdfinfo", infoWords, .output, limits.processorSeconds)
            case ("complaints", 0):
                try run("pdfinfo", infoWords, .complaints, limits.processorSeconds)
            case ("draw", 2) where numbers[0] > 0 && numbers[1] > 0:
                let words = [
                    "-f", "\(numbers[0])", "-l", "\(numbers[0])", "-r", "\(numbers[1])", "-cropbox", "-jpeg",
                    "-jpegopt", "quality=90", "-q", ProgramCage.input,
                ]
                try run("pdftoppm", words, .output, limits.drawingSeconds)
            case ("check", 1) where numbers[0] > 0:
                let words = ["-l", "\(ArchiveLimits.maxEntryCount)", "-scale-to", "\(checkedSide)", "-cropbox"]
                let seconds = limits.lookingSeconds(numbers[0])
                try run("pdftoppm", words + ["-progress", ProgramCage.input], .complaints, seconds)
            case ("look", 2) where numbers[0] > 0 && numbers[1] >= numbers[0]:
                let words = [
                    "-f", "\(numbers[0])", "-l", "\(numbers[1])", "-scale-to", "\(PageRenderer.lookedAtSide)",
                    "-cropbox",
                ]
                let seconds = limits.lookingSeconds(numbers[1] - numbers[0] + 1)
                try run("pdftoppm", words + ["-q", ProgramCage.input], .output, seconds)
            case ("probe", 1): try probe(arguments[1], limits)
            case ("probed", 1): RenderProbe.run(arguments[1])
            default: _exit(64)
            }
        } catch {
            _exit(WorkerStatus.notCaged)
        }
    }

    private static let infoWords = ["-f", "1", "-l", "\(ArchiveLimits.maxEntryCount + 1)", ProgramCage.input]

    private static func run(
        _ name: String, _ arguments: [String], _ channel: ProgramCage.Channel, _ seconds: UInt64
    ) throws -> Never {
        for folder in ["/usr/bin", "/usr/local/bin"] {
            guard let program = try? Descriptor(BytePath(folder).appending(name), follow: true) else { continue }
            try ProgramCage.become(program, [name] + arguments, on: channel, processorSeconds: seconds)
        }
        _exit(WorkerStatus.notInstalled)
    }

    private static func probe(_ what: String, _ limits: WorkerLimits) throws -> Never {
        let program = try Descriptor("/proc/self/exe", follow: true)
        // The renderer's libraries are in /usr; those of a program that is not installed yet may be anywhere. Swift
        // finds its arguments through the same list.
        let maps = String(decoding: try readMaps(), as: UTF8.self)
        let libraries = Set(
            maps.split(separator: "\n").compactMap { line in line.firstIndex(of: "/").map { line[$0...] } })
        try ProgramCage.become(
            program, ["steward-worker", "archive", "pdf", "probed", what], on: .output,
            processorSeconds: limits.processorSeconds, also: libraries.map { String($0) } + ["/proc/self/maps"])
    }

    private static func readMaps() throws -> [UInt8] {
        let file = try Descriptor("/proc/self/maps")
        var all: [UInt8] = []
        while true {
            let part = try file.read(at: Int64(all.count), count: 65_536)
            if part.isEmpty { return all }
            all += part
        }
    }
}

/// Tries what the second profile forbids. Exits with the errno it got, or 200 if it succeeded.
enum RenderProbe {
    static func run(_ what: String) -> Never {
        var limit = rlimit(rlim_cur: 1000, rlim_max: 1000)
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        let none: [UnsafeMutablePointer<CChar>?] = [nil]
        let result: Int32 =
            switch what {
            case "create": open("/tmp/steward-probe", O_WRONLY | O_CREAT, 0o600)
            case "rewrite": open("/proc/self/fd/0", O_RDWR)
            case "truncate": truncate("/tmp/steward-probe", 0)
            case "remove": unlink("/tmp/steward-probe")
            case "read": open("/etc/passwd", O_RDONLY)
            case "library": open("/usr/bin/env", O_RDONLY)
            case "socket": socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            case "fork": spawn()
            case "exec": execve("/usr/bin/true", words, none)
            case "exec-again": steward_become_renderer(words, none)
            case "exec-path": steward_become_other("/usr/bin/true", words, none)
            case "exec-another": fexecve(open("/usr/bin/true", O_RDONLY), words, none)
            case "raise": setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            case "number": fcntl(0, F_DUPFD_CLOEXEC, STEWARD_RENDERER)
            case "code":
                mmap(nil, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? -1 : 0
            case "place": map(0x100000, 4096)
            case "place-from-below": map(0xF0000, 1 << 20)
            case "place-from-zero": map(0, 1 << 21)
            case "kill": kill(getppid(), 0)
            case "none": _exit(0)
            default: _exit(64)
            }
        _exit(result < 0 ? errno : 200)
    }

    private static func map(_ address: UInt, _ length: Int) -> Int32 {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
        let place = UnsafeMutableRawPointer(bitPattern: address)
        return mmap(place, length, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED ? -1 : 0
    }

    private static func spawn() -> Int32 {
        var id = pid_t()
        let code = posix_spawn(&id, "/usr/bin/true", nil, nil, [nil], [nil])
        errno = code
        return code == 0 ? 0 : -1
    }
}
