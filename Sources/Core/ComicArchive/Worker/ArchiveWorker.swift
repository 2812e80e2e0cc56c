import Foundation
import Glibc
import Platform

/// The agent's side of `steward-unpack`: starts one process an archive and believes nothing that it says unchecked.
package struct ArchiveWorker: Sendable {
    package let program: BytePath
    private let lanes: BlockingLanes

    /// - Parameters:
    ///   - program: the worker's executable; nil looks at `STEWARD_UNPACK`, then beside the running program.
    ///   - count: how many archives may be unpacked at the same time.
    /// - Throws: `Fault` where there is no such program.
    package init(program: BytePath? = nil, count: Int = 2) throws {
        guard let found = program ?? Self.locate() else {
            throw Fault(
                .fatal,
                "the program steward-unpack is not beside this one; install it there, or name it in STEWARD_UNPACK")
        }
        self.program = found
        lanes = BlockingLanes("unpack", count: count)
    }

    private static func locate() -> BytePath? {
        if let named = getenv("STEWARD_UNPACK") { return BytePath(String(cString: named)) }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map { BytePath($0) }
        let candidates = [own?.parent.appending("steward-unpack"), own?.parent.appending("../libexec/steward-unpack")]
        return candidates.compactMap { $0 }.first { path in path.withCString { access($0, X_OK) } == 0 }
    }

    /// Walks over all of an archive and judges it.
    ///
    /// - Parameter hashes: whether each page's SHA-256 is computed.
    /// - Throws: `Fault` where the file cannot be read or changes meanwhile, or no worker can be started.
    package func validate(_ path: BytePath, mode: ValidationMode = .strict, hashes: Bool = true) async throws -> Verdict
    {
        try await lanes.run {
            let file = try Descriptor(path)
            let before = try file.status()
            guard before.kind == .file else { throw Fault(.refused, "\(path) is not a file", path: path) }
            var judge = ArchiveJudge(mode: mode, path: path, fingerprint: before.fingerprint)
            let process = WorkerProcess(
                program: program, file: file, arguments: hashes ? ["inspect", "hash"] : ["inspect"])
            let outcome = try process.run { judge.take($0) }
            guard try file.status().fingerprint == before.fingerprint else {
                throw Fault(.superseded, "\(path) was changed while it was read; it is judged again", path: path)
            }
            return judge.verdict(outcome)
        }
    }

    /// The headers of an archive without reading its entries: fast, and every size is only claimed.
    ///
    /// - Throws: `Fault` (`.refused` where the archive cannot be listed).
    package func list(_ path: BytePath) async throws -> [EntryHeader] {
        try await lanes.run {
            var headers: [EntryHeader] = []
            let process = WorkerProcess(program: program, file: try Descriptor(path), arguments: ["list"])
            let outcome = try process.run { record in
                guard case .header(let header) = record else { return true }
                guard header.position == headers.count, headers.count <= ArchiveLimits.maxHeaderCount else {
                    return false
                }
                headers.append(header)
                return true
            }
            guard case .finished(let end) = outcome, end.reason == .complete else {
                throw Self.refusal(path, outcome)
            }
            return headers
        }
    }

    /// Takes entries out of an archive, in one pass and in the archive's order, each into its own new file.
    ///
    /// - Parameter targets: for each position the file to make; it must not exist. What was made is removed on failure.
    /// - Returns: bytes written, by position.
    /// - Throws: `Fault`: `.refused` where an entry is damaged, too large or not there.
    package func extract(_ path: BytePath, _ targets: [Int: BytePath]) async throws -> [Int: Int64] {
        guard !targets.isEmpty else { return [:] }
        return try await lanes.run {
            var extraction = Extraction(path: path, targets: targets)
            do {
                let words = ["extract"] + targets.keys.sorted().map { "\($0)" }
                let process = WorkerProcess(program: program, file: try Descriptor(path), arguments: words)
                let outcome = try process.run { try extraction.take($0) }
                guard extraction.whole.count == targets.count else { throw Self.refusal(path, outcome) }
                return extraction.whole
            } catch {
                for (position, target) in targets where extraction.opened.contains(position) {
                    try Durable.remove(target)
                }
                throw error
            }
        }
    }

    /// Runs the worker's `probe`: how breaking one rule of the cage ends. For tests and `doctor`.
    package func probe(_ what: String) async throws -> String {
        try await lanes.run {
            let process = WorkerProcess(
                program: program, file: try Descriptor("/dev/null"), arguments: ["probe", what])
            switch try process.run({ _ in true }) {
            case .killed(let signal): return "killed \(signal)"
            case .vanished(let status): return "left \(status)"
            case .finished(let end): return "said \(end.reason): \(end.message)"
            case .stopped, .timedOut, .nonsense: return "other"
            }
        }
    }

    static func refusal(_ path: BytePath, _ outcome: WorkerProcess.Outcome) -> Fault {
        let (_, message) = ArchiveJudge.reason(of: outcome, ArchiveStructure(format: .unknown, traits: []))
        return Fault(.refused, "\(path): \(message)", path: path)
    }
}

/// Writes the bytes that a worker hands over, no more than an entry may have.
private struct Extraction {
    let path: BytePath
    let targets: [Int: BytePath]
    private(set) var opened: Set<Int> = []
    private(set) var whole: [Int: Int64] = [:]
    private var current: (position: Int, file: Descriptor, size: Int64)?

    init(path: BytePath, targets: [Int: BytePath]) {
        self.path = path
        self.targets = targets
    }

    mutating func take(_ record: WorkerRecord) throws -> Bool {
        switch record {
        case .bytes(let position, let bytes):
            if current?.position != position { try open(position) }
            guard let (_, file, size) = current, size + Int64(bytes.count) <= ArchiveLimits.maxUncompressedEntrySize
            else { throw Fault(.refused, "entry \(position) of \(path) has more bytes than a page may have") }
            try file.write(bytes, at: size)
            current?.size += Int64(bytes.count)
        case .content(let content):
            if current?.position != content.position { try open(content.position) }
            guard content.state == .whole, content.size == current?.size else {
                throw Fault(
                    .refused,
                    "entry \(content.position) of \(path) is damaged: \(content.message); fetch the file again")
            }
            whole[content.position] = content.size
            current = nil
        case .structure, .header, .end: break
        }
        return true
    }

    private mutating func open(_ position: Int) throws {
        guard let target = targets[position], !opened.contains(position) else {
            throw Fault(.refused, "the unpacking process answered for an entry of \(path) that was not asked for")
        }
        let file = try Descriptor(target, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        opened.insert(position)
        current = (position, file, 0)
    }
}
