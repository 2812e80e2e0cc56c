import Glibc
import Platform

/// The program `steward-unpack`: an archive on descriptor 3, records to the pipe on descriptor 4, nothing else.
///
/// - `inspect [hash]`: every header, and for each page and metadata file its size, checksum, image header.
/// - `list`: every header; no entry is read.
/// - `extract POSITION...`: the bytes of these entries, in the archive's order.
/// - `probe open|socket|fork|exec|mmap`: breaks one rule of the cage, to prove that it holds.
package enum UnpackWorker {
    package static let archiveDescriptor: Int32 = 3
    package static let resultDescriptor: Int32 = 4

    /// Runs one command and ends the process: 0 when all was said, 64 for a wrong command line, 70 without a cage.
    package static func main(_ arguments: [String]) -> Never {
        guard let command = arguments.dropFirst().first else { _exit(64) }
        let rest = Array(arguments.dropFirst(2))
        var status = stat()
        guard fstat(archiveDescriptor, &status) == 0 else { _exit(64) }
        let size = Int64(status.st_size)
        let output = RecordOutput(descriptor: resultDescriptor)
        do {
            let archive = try LibraryArchive(descriptor: archiveDescriptor, size: size)
            UnpackCage.warmUp()
            do {
                try UnpackCage.enter()
            } catch {
                output.send(.end(WorkerEnd(reason: .noCage, message: explain(error))))
                _exit(70)
            }
            if command == "probe" { UnpackProbe.run(rest.first ?? "") }
            let file = Descriptor(owning: archiveDescriptor, path: "the archive")
            let pass = UnpackPass(archive: archive, file: file, size: size, output: output)
            switch command {
            case "inspect": try pass.inspect(hashes: rest.contains("hash"))
            case "list": try pass.list()
            case "extract": try pass.extract(Set(rest.compactMap { Int($0) }))
            default: _exit(64)
            }
        } catch {
            output.send(.end(WorkerEnd(reason: .unreadable, message: explain(error))))
        }
        _exit(0)
    }
}

/// Writes records to the pipe.
struct RecordOutput {
    let descriptor: Int32

    /// Blocks until the agent has taken the record; ends the process where nobody reads any more.
    func send(_ record: WorkerRecord) {
        record.encoded().withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let put = write(descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done)
                if put < 0 && errno != EINTR { _exit(74) }
                done += max(0, put)
            }
        }
    }
}

/// Tries what the cage forbids. It comes back only where the cage is broken: then the exit status is 1.
enum UnpackProbe {
    static func run(_ what: String) -> Never {
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
        case "write": _ = write(UnpackWorker.archiveDescriptor, "x", 1)
        case "kill": kill(getppid(), 0)
        case "none": _exit(0)
        default: _exit(64)
        }
        _exit(1)
    }
}
