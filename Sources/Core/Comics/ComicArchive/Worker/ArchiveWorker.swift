// Exported, because the protocol between worker and agent is part of this module's interface.
import Glibc
import OwnFiles
import Platform
@_exported import Sandbox

/// The agent's side of `steward-worker archive`: starts one process per archive and checks everything it says.
package struct ArchiveWorker: Sendable {
    let executable: CagedProgram
    package let limits: WorkerLimits
    /// A replacement for `unar`, with its arguments; empty for `unar` itself.
    let unar: [String]
    let pool: BlockingPool
    let places: ExaminationPlaces
    /// The examination that its processes belong to.
    var pass: ExaminationPass?

    /// - Parameters:
    ///   - program: the worker's executable; nil looks at `STEWARD_WORKER`, then beside the running program, then in
    ///     `libexec/steward` next to that folder, once.
    ///   - count: how many archives may be unpacked concurrently, and as many examined, plus a slow one.
    ///   - limits: resource limits for each of them.
    ///   - unar: the path of a program that unpacks solid RAR 4 archives in place of `unar`, and its arguments.
    /// - Throws: `Fault` if there is no such program.
    package init(
        program: BytePath? = nil, count: Int = 2, limits: WorkerLimits = .standard, unar: [String] = []
    ) throws {
        let unpacker =
            if let program { CagedProgram(program) } else {
                CagedProgram.named("steward-worker", variable: "STEWARD_WORKER")
            }
        guard let unpacker else {
            let named = program ?? getenv("STEWARD_WORKER").map { BytePath(String(cString: $0)) }
            throw Fault(
                .fatal,
                named.map { "there is no program \($0) to unpack comics with; install it, or correct STEWARD_WORKER" }
                    ?? "the program steward-worker is not beside this one; install it there, or name it in STEWARD_WORKER"
            )
        }
        executable = unpacker
        self.limits = limits
        self.unar = unar
        pool = BlockingPool("unpack", threads: count)
        places = ExaminationPlaces(count: count)
    }

    /// The path of its executable.
    package var program: BytePath { executable.path }

    /// Reads all of an archive and judges it.
    ///
    /// - Parameters:
    ///   - hashes: whether each page's SHA-256 is computed.
    ///   - progress: called after each page; starts over if a slow archive has to.
    /// - Throws: `Fault` if the file cannot be read or changes in the meantime, or no worker can be started.
    package func validate(
        _ path: BytePath, mode: ValidationMode = .strict, hashes: Bool = true,
        progress: (@Sendable (ValidationProgress) -> Void)? = nil
    ) async throws -> Verdict {
        let file = try await pool.run { try Descriptor(path) }
        return try await validate(file, mode: mode, hashes: hashes, progress: progress)
    }

    /// The same for an open file.
    ///
    /// - Parameter aside: called at most once, when the archive has become one of the slow ones.
    package func validate(
        _ file: Descriptor, mode: ValidationMode = .strict, hashes: Bool = true, names: EntryNames = .told,
        aside: @escaping @Sendable () -> Void = {}, progress: (@Sendable (ValidationProgress) -> Void)? = nil
    ) async throws -> Verdict {
        let share = limits.quickShare(for: try await pool.run { try file.status().size })
        return try await places.run(share: share, aside: aside) { pass in
            try within(pass).judge(.file(file), mode: mode, hashes: hashes, names: names, progress: progress)
        }
    }

    /// The same worker, with its processes as part of an examination.
    func within(_ pass: ExaminationPass) -> ArchiveWorker {
        var worker = self
        worker.pass = pass
        return worker
    }

    /// The headers of an archive without reading its entries: fast, but all sizes are only claims.
    ///
    /// - Throws: `Fault` (`.refused` if the archive cannot be listed).
    package func list(_ path: BytePath) async throws -> ArchiveListing {
        try await pool.run { try list(readable(.file(Descriptor(path)))) }
    }

    func list(_ archive: ArchiveSource) throws -> ArchiveListing {
        var listing = ArchiveListing()
        var structure = ArchiveStructure(format: .unknown, traits: [])
        let outcome = try process(archive, ["list"]).run { record in
            if case .structure(let found) = record { structure = found }
            return listing.consume(record)
        }
        guard outcome.isComplete else { throw try refusal(archive.path, outcome, structure) }
        return listing
    }

    /// Small entries, in memory; damaged or incomplete ones are left out.
    ///
    /// - Parameter limit: total bytes.
    /// - Throws: `Fault` for a problem of the machine.
    func contents(_ archive: ArchiveSource, _ positions: [Int], limit: Int) throws -> [Int: [UInt8]] {
        guard !positions.isEmpty else { return [:] }
        let wanted = Set(positions)
        var found: [Int: [UInt8]] = [:]
        var whole: Set<Int> = []
        var total = 0
        let words = ["extract"] + wanted.sorted().map { "\($0)" }
        let outcome = try process(archive, words).run { record in
            switch record {
            case .bytes(let position, let bytes):
                total += bytes.count
                guard wanted.contains(position), !whole.contains(position), total <= limit else { return false }
                found[position, default: []] += bytes
            case .content(let content):
                guard wanted.contains(content.position) else { return false }
                let size = Int64(found[content.position, default: []].count)
                if content.state == .whole, content.size == size { whole.insert(content.position) }
            case .structure, .header, .order, .end: break
            }
            return true
        }
        if let obstacle = try obstacle(outcome, archive.path) { throw obstacle }
        return Dictionary(uniqueKeysWithValues: whole.map { ($0, found[$0] ?? []) })
    }

    /// Extracts entries of an archive, in one pass and in the archive's order, each to its own new file.
    ///
    /// - Parameter targets: the file to create for each position; it must not exist. Created files are removed on
    ///   failure.
    /// - Returns: bytes written, by position.
    /// - Throws: `Fault`: `.refused` if an entry is damaged, too large or missing.
    package func extract(_ path: BytePath, _ targets: [Int: BytePath]) async throws -> [Int: Int64] {
        guard !targets.isEmpty else { return [:] }
        return try await pool.run {
            var extraction = Extraction(path: path, targets: targets)
            var structure = ArchiveStructure(format: .unknown, traits: [])
            do {
                let words = ["extract"] + targets.keys.sorted().map { "\($0)" }
                let outcome = try process(readable(.file(Descriptor(path))), words).run { record in
                    if case .structure(let found) = record { structure = found }
                    return try extraction.consume(record)
                }
                guard extraction.whole.count == targets.count else { throw try refusal(path, outcome, structure) }
                return extraction.whole
            } catch {
                // Report the original error; a file that cannot be removed must not keep the others.
                for position in extraction.opened { if let target = targets[position] { try? Durable.remove(target) } }
                throw error
            }
        }
    }

    /// Checks whether PDFs can be drawn here.
    ///
    /// - Throws: `Fault` if not, which says what to install or what the kernel lacks.
    package func checkPdf() async throws {
        try await pool.run {
            switch try process(.file(Descriptor("/dev/null")), ["pdf", "info"]).stream({ _ in true }) {
            case .vanished(WorkerStatus.notInstalled): throw Fault(.failed, PdfWork.notInstalled)
            case .vanished(WorkerStatus.notCaged): throw Fault(.failed, PdfWork.notCaged)
            // Its opinion of a file that is not a PDF does not matter.
            case .vanished: break
            default: throw Fault(.failed, "the program that renders PDFs does not run here; reinstall poppler-utils")
            }
        }
    }

    /// The pages of a PDF.
    ///
    /// - Throws: ``ComicRefusal``; `Fault` if PDFs cannot be drawn on this machine: the message says what to install.
    func pdfPages(_ path: BytePath) async throws -> [PdfPage] {
        try await pool.run { try PdfWork(program: executable, limits: limits, file: Descriptor(path)).pages() }
    }

    /// Draws page `index` (from 0) of a PDF into a new file, which is removed on failure.
    @discardableResult
    func drawPdf(_ path: BytePath, _ index: Int, _ page: PdfPage, to target: BytePath) async throws -> ImageHeader {
        try await pool.run {
            try PdfWork(program: executable, limits: limits, file: Descriptor(path)).draw(index, page, to: target)
        }
    }

    /// Runs the worker's `probe`, which breaks one rule of the cage and reports how that ends. For tests and `doctor`.
    ///
    /// - Parameter drawing: whether to test the cage of the PDF renderer.
    package func probe(_ what: String, drawing: Bool = false) async throws -> String {
        try await pool.run {
            let process = try process(.file(Descriptor("/dev/null")), (drawing ? ["pdf"] : []) + ["probe", what])
            switch try drawing ? process.stream({ _ in true }) : process.run({ _ in true }) {
            case .killed(let signal): return "killed \(signal)"
            case .vanished(let status), .mute(let status): return "left \(status)"
            case .finished(let end): return "said \(end.reason): \(end.message)"
            case .stopped, .timedOut, .stalled, .halted, .nonsense: return "other"
            }
        }
    }

    func process(_ archive: ArchiveSource, _ arguments: [String]) throws -> WorkerProcess {
        let size = try archive.size()
        return WorkerProcess(
            program: executable, archive: archive, arguments: arguments, timeout: limits.timeout(for: size),
            limits: limits.sized(for: size), pass: pass)
    }

    /// The error for a run that did not deliver. Blocks.
    func refusal(
        _ path: BytePath, _ outcome: WorkerProcess.Outcome, _ structure: ArchiveStructure
    ) throws -> Fault {
        if let obstacle = try obstacle(outcome, path) { return obstacle }
        let (_, message) = ArchiveJudge.reason(of: outcome, structure)
        return Fault(.refused, "\(path): \(message)", path: path)
    }
}

/// Writes the bytes from a worker, at most as many as an entry may have.
struct Extraction {
    let path: BytePath
    let targets: [Int: BytePath]
    private(set) var opened: Set<Int> = []
    private(set) var whole: [Int: Int64] = [:]
    private var current: (position: Int, file: Descriptor, size: Int64)?

    init(path: BytePath, targets: [Int: BytePath]) {
        self.path = path
        self.targets = targets
    }

    mutating func consume(_ record: WorkerRecord) throws -> Bool {
        switch record {
        case .bytes(let position, let bytes):
            if current?.position != position { try open(position) }
            guard let (_, file, size) = current, size + Int64(bytes.count) <= ArchiveLimits.maxUncompressedEntrySize
            else { throw tooLarge(position) }
            try file.write(bytes, at: size)
            current?.size += Int64(bytes.count)
        case .content(let content):
            if current?.position != content.position { try open(content.position) }
            if content.state == .oversize { throw tooLarge(content.position) }
            guard content.state == .whole, content.size == current?.size else {
                let what = content.message.isEmpty ? "" : " (\(content.message))"
                throw Fault(
                    .refused, "entry \(content.position + 1) of \(path) is damaged\(what); fetch the file again")
            }
            whole[content.position] = content.size
            current = nil
        case .structure, .header, .order, .end: break
        }
        return true
    }

    private func tooLarge(_ position: Int) -> Fault {
        let most = ArchiveLimits.maxUncompressedEntrySize >> 20
        return Fault(.refused, "entry \(position + 1) of \(path) has more than the \(most) MiB that a page may have")
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
