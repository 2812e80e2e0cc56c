import Glibc
import OwnFiles
import Platform
import Sandbox

/// The agent's side of `steward-worker archive thumbnail`. It accepts only JPEGs that fit the requested box.
///
/// libvips is a separate package. If it is not installed, each call throws a `Fault` that names it; the rest of the
/// module does not need it.
package struct ThumbnailWorker: Sendable {
    private let worker: ArchiveWorker
    private let pool: BlockingPool

    /// - Parameters:
    ///   - worker: names the program.
    ///   - count: how many processes may make thumbnails concurrently.
    package init(_ worker: ArchiveWorker, count: Int = 2) {
        self.worker = worker
        pool = BlockingPool("thumbnails", threads: count)
    }

    /// Thumbnails of entries of one archive, in one pass over it and by one warm process.
    ///
    /// - Parameters:
    ///   - positions: as ``ArchiveEntry/position``.
    ///   - receive: called once for each outcome, in the archive's order; throwing from it ends the pass.
    /// - Throws: `Fault` if no thumbnails can be made at all: no libvips, no cage, the file cannot be opened.
    package func shrink(
        archive: BytePath, positions: some Sequence<Int>, to size: ThumbnailSize,
        receive: @Sendable (Int, ThumbnailOutcome) throws -> Void
    ) async throws {
        let wanted = Set(positions).sorted()
        try await pool.run {
            try run(worker.readable(.file(Descriptor(archive))), wanted, Self.painting(size), receive) { left in
                ["archive"] + Self.words(size) + left
            }
        }
    }

    /// The same for an archive that is already open, or is read on demand. Blocks; not limited to `count` at a time.
    package func shrink(
        opened archive: ArchiveSource, positions: some Sequence<Int>, to size: ThumbnailSize,
        receive: (Int, ThumbnailOutcome) throws -> Void
    ) throws {
        try run(worker.readable(archive), Set(positions).sorted(), Self.painting(size), receive) { left in
            ["archive"] + Self.words(size) + left
        }
    }

    /// Thumbnails of pictures in memory, in their order.
    ///
    /// - Parameter pictures: must fit in memory together: they are all passed at once.
    /// - Throws: as above.
    package func shrink(pictures: [[UInt8]], to size: ThumbnailSize) async throws -> [ThumbnailOutcome] {
        try await pool.run { try shrink(opened: pictures, to: size) }
    }

    /// The same; blocks.
    package func shrink(opened pictures: [[UInt8]], to size: ThumbnailSize) throws -> [ThumbnailOutcome] {
        let file = try Descriptor(inMemory: "the pictures")
        var offset: Int64 = 0
        for picture in pictures {
            try file.write(picture, at: offset)
            offset += Int64(picture.count)
        }
        let lengths = pictures.map { "\($0.count)" }
        var outcomes = [ThumbnailOutcome](repeating: .failed("nothing was made of it"), count: pictures.count)
        try run(.file(file), Array(pictures.indices), Self.painting(size), { outcomes[$0] = $1 }) { left in
            ["pictures"] + Self.words(size) + left.prefix(1) + lengths
        }
        return outcomes
    }

    /// The thumbnail of a picture in an open file, which the worker itself reads.
    ///
    /// - Throws: as above.
    package func shrink(picture: Descriptor, to size: ThumbnailSize) async throws -> ThumbnailOutcome {
        try await pool.run {
            let length = try picture.status().size
            var outcome = ThumbnailOutcome.failed("nothing was made of it")
            try run(.file(picture), [0], Self.painting(size), { outcome = $1 }) { _ in
                ["pictures"] + Self.words(size) + ["0", "\(length)"]
            }
            return outcome
        }
    }

    /// Converts the picture in an open file to another format; the worker itself reads the file. Blocks.
    ///
    /// - Returns: a picture of that format that fits the box.
    /// - Throws: as above.
    package func convert(opened picture: Descriptor, as wish: PictureRequest) throws -> ThumbnailOutcome {
        var outcome = ThumbnailOutcome.failed("nothing was made of it")
        let work = Work<ThumbnailOutcome>(
            made: { _, bytes in
                guard let header = ImageHeader.read(bytes), header.format.rawValue == wish.format.rawValue,
                    header.width <= wish.width, header.height <= wish.height
                else { return nil }
                return .made(bytes)
            }, failed: { .failed($0) }, most: PictureRequest.limit)
        try run(.file(picture), [0], work, { outcome = $1 }) { _ in ["convert"] + wish.words }
        return outcome
    }

    /// Decodes every pixel of entries of one archive, in one pass over it. Blocks; not limited to `count` at a time.
    ///
    /// - Returns: the findings for each entry.
    /// - Throws: as above.
    package func look(opened archive: Descriptor, positions: some Sequence<Int>) throws -> [Int: PageSight] {
        var seen: [Int: PageSight] = [:]
        let work = Work<PageSight>(
            made: { content, bytes in
                bytes.isEmpty ? content.message.isEmpty ? .whole : .part(content.message) : nil
            }, failed: { .nothing($0) })
        try run(worker.readable(.file(archive)), Set(positions).sorted(), work, { seen[$0] = $1 }) { left in
            ["decode"] + left
        }
        return seen
    }

    /// Checks whether thumbnails can be made here; the `Fault` otherwise says what to install.
    package func check() async throws {
        _ = try await shrink(pictures: [[0]], to: .page)
    }

    /// Runs the worker's `thumbnail probe`, like `ArchiveWorker.probe`.
    package func probe(_ what: String) async throws -> String {
        try await pool.run {
            let process = WorkerProcess(
                program: worker.executable, archive: .file(try Descriptor("/dev/null")),
                arguments: ["thumbnail", "probe", what],
                timeout: WorkerLimits.standard.timeout)
            switch try process.run({ _ in true }) {
            case .killed(let signal): return "killed \(signal)"
            case .vanished(let status), .mute(let status): return "left \(status)"
            case .finished(let end): return "said \(end.reason): \(end.message)"
            case .stopped, .timedOut, .stalled, .halted, .nonsense: return "other"
            }
        }
    }

    private static func words(_ size: ThumbnailSize) -> [String] { ["\(size.width)", "\(size.height)"] }

    /// How often a process may die on a picture before the rest are abandoned.
    private static let mostDeaths = 8

    /// The operation on the pictures.
    fileprivate struct Work<Outcome> {
        /// Converts the process's final record on a picture, and the bytes it has sent, to an outcome; nil if they make
        /// no sense.
        let made: (EntryContent, [UInt8]) -> Outcome?
        /// Called with the reason.
        let failed: (String) -> Outcome
        /// The maximum bytes of one picture. For a JPEG, noise in the largest box takes as much.
        var most = 32 << 20
    }

    private static func painting(_ size: ThumbnailSize) -> Work<ThumbnailOutcome> {
        Work(
            made: { _, jpeg in
                guard let header = ImageHeader.read(jpeg), header.format == .jpeg, header.width <= size.width,
                    header.height <= size.height
                else { return nil }
                return .made(jpeg)
            }, failed: { .failed($0) })
    }

    /// Starts a process, and another one for the remaining pictures whenever a picture kills it.
    private func run<Outcome>(
        _ archive: ArchiveSource, _ wanted: [Int], _ work: Work<Outcome>, _ receive: (Int, Outcome) throws -> Void,
        _ arguments: ([String]) -> [String]
    ) throws {
        var left = wanted
        var deaths = 0
        while !left.isEmpty {
            var batch = ThumbnailBatch(wanted: Set(left), work: work)
            let words = ["thumbnail"] + arguments(left.map { "\($0)" })
            let process = WorkerProcess(
                program: worker.executable, archive: archive, arguments: words,
                timeout: WorkerLimits.standard.timeout(for: try archive.size()) + Int64(left.count / 4),
                pass: worker.pass)
            let outcome = try process.run { try batch.consume($0, receive) }
            left.removeAll { batch.done.contains($0) }
            if case .mute(WorkerStatus.notInstalled) = outcome { throw Self.absent }
            if case .finished(let end) = outcome {
                if end.reason == .noCage {
                    throw Fault(.failed, "no thumbnail can be made: \(end.message); see `steward doctor`")
                }
                let (_, message) = ArchiveJudge.reason(of: outcome, ArchiveStructure(format: .zip, traits: []))
                for position in left { try receive(position, work.failed(message)) }
                return
            }
            let message = Self.message(outcome)
            deaths += 1
            guard let begun = batch.begun, deaths <= Self.mostDeaths else {
                for position in left { try receive(position, work.failed(message)) }
                return
            }
            // A timeout is the last picture's fault only if it had all the time.
            if batch.done.isEmpty || !Self.isOutOfTime(outcome) {
                try receive(begun, work.failed(message))
                left.removeAll { $0 == begun }
            }
        }
    }

    private static func isOutOfTime(_ outcome: WorkerProcess.Outcome) -> Bool {
        [.timedOut, .stalled, .halted].contains(outcome) || outcome == .killed(signal: SIGXCPU)
    }

    private static func message(_ outcome: WorkerProcess.Outcome) -> String {
        switch outcome {
        case .timedOut, .stalled, .halted, .killed(SIGXCPU), .killed(SIGKILL):
            "scaling it took more time or memory than allowed for a page"
        case .killed(let signal): "decoding it crashed the process (signal \(signal))"
        case .finished, .stopped, .vanished, .mute, .nonsense: "the decoding process gave no valid answer"
        }
    }

    /// What to install, for a person who wants thumbnails.
    static let absent = Fault(
        .failed,
        "thumbnails are made with libvips, which is not installed; install it (Debian, Ubuntu: "
            + "`apt install --no-install-recommends libvips42`) and try again")
}

/// The records of one process, checked.
private struct ThumbnailBatch<Outcome> {
    let wanted: Set<Int>
    let work: ThumbnailWorker.Work<Outcome>
    private(set) var done: Set<Int> = []
    /// The picture in progress.
    private(set) var begun: Int?
    private var jpeg: [UInt8] = []

    init(wanted: Set<Int>, work: ThumbnailWorker.Work<Outcome>) {
        self.wanted = wanted
        self.work = work
    }

    /// - Returns: false if the records make no sense.
    mutating func consume(_ record: WorkerRecord, _ receive: (Int, Outcome) throws -> Void) throws -> Bool {
        switch record {
        case .bytes(let position, let bytes) where bytes.isEmpty:
            guard begun == nil, wanted.contains(position), !done.contains(position) else { return false }
            begun = position
            jpeg = []
        case .bytes(let position, let bytes):
            guard position == begun, jpeg.count + bytes.count <= work.most else { return false }
            jpeg += bytes
        case .content(let content):
            guard content.position == begun else { return false }
            begun = nil
            done.insert(content.position)
            guard content.state == .whole else {
                try receive(content.position, work.failed(content.message))
                break
            }
            guard let outcome = work.made(content, jpeg) else { return false }
            try receive(content.position, outcome)
        case .structure: break
        case .header, .order, .end: return false
        }
        return true
    }
}
