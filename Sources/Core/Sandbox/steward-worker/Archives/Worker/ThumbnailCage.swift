import CLinux
import Glibc
import Platform
import Sandbox

/// How the worker locks itself down to make thumbnails: like ``UnpackCage``, except that libvips starts threads
/// (docs/design/cage.md, "Pictures").
enum ThumbnailCage {
    struct Absent: Error {}

    /// CPU seconds for `count` pictures; at most ``UnpackCage/solidProcessorSeconds``, to which the agent sets the
    /// limit for solid archives.
    static func processorSeconds(_ count: Int) -> UInt64 {
        min(UnpackCage.solidProcessorSeconds, 20 + UInt64(max(0, count)) / 5)
    }

    /// Enough for a picture of the most pixels accepted, at four bytes each, plus a copy half as large.
    static let memory: UInt64 = 1 << 30

    /// Loads libvips, drops all privileges, makes one thumbnail, and closes the filter.
    ///
    /// - Parameters:
    ///   - asks: whether the archive's bytes are requested from the agent.
    ///   - format: the output format.
    /// - Throws: ``Absent`` without libvips; `Fault` if it is unusable or the cage cannot be set up.
    static func enter(pictures count: Int, asks: Bool, format: PictureRequest.Format = .jpeg) throws {
        UnpackCage.warmUp()
        var message = [CChar](repeating: 0, count: 301)
        let state = steward_picture_open(&message, 300)
        if state == STEWARD_PICTURE_ABSENT { throw Absent() }
        guard state == STEWARD_PICTURE_READY else {
            throw Fault(.failed, "libvips cannot be used: \(text(message))")
        }
        guard steward_limit_painter(processorSeconds(count), UnpackCage.solidProcessorSeconds, memory) == 0 else {
            throw Fault.system("limit the process that makes thumbnails")
        }
        guard steward_set_parent_death_signal(SIGKILL) == 0, steward_forbid_core_dumps() == 0,
            steward_forbid_new_privileges() == 0
        else { throw Fault.system("give up privileges") }
        // Before the first thread starts: a domain is inherited, not shared.
        guard steward_landlock_nothing() >= 0 else { throw Fault.system("enter an empty Landlock domain") }
        try warmUp(format)
        guard steward_filter_painter(asks ? 1 : 0) == 0 else { throw Fault.system("install the system call filter") }
    }

    /// Triggers the one-time initialization of libvips and the C library here, where a lookup of a file is refused
    /// instead of killing the process.
    private static func warmUp(_ format: PictureRequest.Format) throws {
        var (made, length): (UnsafeMutableRawPointer?, UInt64) = (nil, 0)
        var message = [CChar](repeating: 0, count: 301)
        let code = steward_picture_shrink(
            dot, UInt64(dot.count), 1, 1, format.number, Int32(ThumbnailSize.quality), 1, 1, &made, &length, &message,
            300)
        guard code == 0, let made else {
            throw Fault(.failed, "libvips makes no \(format.rawValue) of a PNG: \(text(message))")
        }
        steward_picture_free(made)
    }

    private static func text(_ message: [CChar]) -> String {
        BytePath.escape(message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) })
    }

    /// A PNG of one white pixel.
    private static let dot: [UInt8] = [
        0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
        0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3A, 0x7E, 0x9B, 0x55, 0x00, 0x00, 0x00,
        0x0A, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0xF8, 0x0F, 0x00, 0x01, 0x01, 0x01, 0x00, 0xB1, 0x38, 0xF6,
        0x14, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82,
    ]
}

extension PictureRequest.Format {
    /// The C constant.
    var number: steward_picture_format {
        switch self {
        case .jpeg: STEWARD_PICTURE_JPEG
        case .png: STEWARD_PICTURE_PNG
        case .webp: STEWARD_PICTURE_WEBP
        }
    }
}

/// Tries what this cage forbids. Returns only if the cage is broken; then the exit status is 1.
enum ThumbnailProbe {
    static func run(_ what: String) -> Never {
        switch what {
        case "thread":
            // Creating a thread is allowed; it is in the same cage.
            var id = pthread_t()
            pthread_create(
                &id, nil,
                { _ in
                    _ = open("/etc/passwd", O_RDONLY)
                    return nil
                }, nil)
            pthread_join(id, nil)
        case "execve": execve("/bin/true", [nil], [nil])
        case "load": _ = dlopen("libsteward-probe.so", RTLD_NOW)
        case "prctl": steward_set_parent_death_signal(0)
        default: CageProbe.run(what)
        }
        _exit(1)
    }
}
