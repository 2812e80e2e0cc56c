import Glibc
import Platform
import Sandbox

extension WorkerProcess.Outcome {
    /// A problem that keeps the worker from its work and is not the archive's fault; nil if the archive is to blame, or
    /// nothing is.
    ///
    /// - Parameters:
    ///   - path: of the archive.
    ///   - works: whether the worker handles a sound sample correctly. Called only if the cause may be either the
    ///     archive or an upgrade that left mismatched programs and libraries.
    func obstacle(_ path: BytePath, works: () throws -> Bool) rethrows -> Fault? {
        switch self {
        case .finished(let end) where end.reason == .noCage:
            let text = "the unpacking process could not be locked down (\(end.message)); `steward doctor` says more"
            return Fault(.failed, "\(path) was not examined: \(text)", path: path)
        case .mute(let status):
            return .ofMachine(path, "the unpacking process left (status \(status)) without any output")
        case .killed(SIGKILL):
            return .ofMachine(path, "the unpacking process was killed, perhaps because memory ran out")
        case .stalled: return .ofMachine(path, "the unpacking process waited too long for the disk or the processor")
        case .halted: return .ofMachine(path, "the unpacking process was stopped (SIGSTOP) and never resumed")
        case .killed(SIGXCPU): return nil
        case .killed, .vanished, .nonsense:
            return try works() ? nil : .ofMachine(path, "the unpacking process fails with sound archives too")
        case .finished, .stopped, .timedOut: return nil
        }
    }
}

extension Fault {
    /// The ``Fault/code`` for problems of the machine or its installed packages. They may resolve, like an upgrade;
    /// after ``mostMachineTries`` a person should look.
    package static let machine = "machine"
    package static let mostMachineTries = 6

    fileprivate static func ofMachine(_ path: BytePath, _ what: String) -> Fault {
        Fault(
            .transient,
            "\(path) was not examined: \(what); if it stays so, restart the agent, then see `steward doctor`",
            path: path, code: machine)
    }
}

extension ArchiveWorker {
    /// Like the outcome's own, for an archive. Blocks.
    func obstacle(_ outcome: WorkerProcess.Outcome, _ path: BytePath) throws -> Fault? {
        try outcome.obstacle(path) {
            let file = try Descriptor(inMemory: "a sound archive")
            try file.write(Self.sample, at: 0)
            var pages = 0
            let outcome = try process(.file(file), ["inspect", "hash"]).run { record in
                if case .content(let content) = record, content.state == .whole { pages += 1 }
                return true
            }
            return outcome.isComplete && pages == 1
        }
    }

    /// A ZIP with one stored page, a PNG of one pixel that ends after its header.
    private static let sample: [UInt8] = {
        let picture: [UInt8] =
            [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8)
            + [0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0, 0x3A, 0x7E, 0x9B, 0x55]
        return ZipWriter.archive([("1.png", picture)])
    }()
}
