import Foundation
import Glibc
import OwnFiles
import Platform
import Sandbox

/// PDF in the worker's second profile: Debian's poppler-utils, caged, with all their answers checked.
///
/// A PDF that opens without a password is read, even if its owner reserved rights.
struct PdfWork {
    let program: CagedProgram
    let limits: WorkerLimits
    let file: Descriptor
    /// The examination that it belongs to.
    var pass: ExaminationPass?

    private var path: BytePath { file.path }

    private static let structure = ArchiveStructure(format: .pdf, traits: [])

    /// The maximum bytes of pdfinfo's output: a title may be long.
    private static let infoLimit = 4 << 20

    /// The document's pages. Blocks.
    ///
    /// - Throws: ``ComicRefusal``; `Fault` if PDFs cannot be drawn on this machine.
    func pages() throws -> [PdfPage] {
        var answer = PdfInfoLines()
        let outcome = try run(["info"]) { part in
            answer.consume(part)
            return answer.count <= Self.infoLimit
        }
        switch outcome {
        case .vanished(0): break
        case .vanished:
            var complaints: [UInt8] = []
            _ = try run(["complaints"]) { part in
                complaints += part
                return complaints.count < 65_536
            }
            let (reason, message) = PdfInfo.reason(complaints)
            throw ComicRefusal(reason, message)
        default: throw ComicRefusal(outcome, Self.structure)
        }
        guard let pages = PdfInfo.pages(answer.ofPages) else {
            throw ComicRefusal(.damagedArchive, "its pages have no size that can be drawn; fetch the file again")
        }
        if pages.isEmpty { throw ComicRefusal(.noPages, "it is a PDF without pages") }
        if pages.count > ArchiveLimits.maxEntryCount {
            throw ComicRefusal(.tooManyPages, ArchiveJudge.message(.tooManyPages))
        }
        return pages
    }

    /// Draws every page once, to check that it works. Blocks.
    ///
    /// - Parameter progress: called with the number done.
    func check(_ count: Int, progress: (Int) -> Void) throws -> PdfCheck {
        var check = PdfCheck()
        let outcome = try run(["check", "\(count)"], secondsBetweenWords: limits.drawingSeconds) { part in
            let goesOn = check.consume(part)
            progress(check.drawn)
            return goesOn
        }
        switch outcome {
        case .vanished(0) where check.makesSense && check.drawn == count: return check
        case .vanished, .stopped:
            let text = "only \(check.drawn) of its \(count) pages can be drawn; fetch the file again"
            throw ComicRefusal(.damagedArchive, text)
        default: throw ComicRefusal(outcome, Self.structure)
        }
    }

    /// The pages among these that show nothing, or cannot be drawn at all. Blocks.
    ///
    /// - Parameter indices: from 0. Pages between them are drawn as well.
    private func empty(among indices: some Collection<Int>) throws -> Set<Int> {
        guard let first = indices.min(), let last = indices.max() else { return [] }
        var look = PdfLook()
        let outcome = try run(["look", "\(first + 1)", "\(last + 1)"]) { look.consume($0) }
        switch outcome {
        case .vanished, .stopped:
            return Set(indices.filter { look.plain.contains($0 - first) || $0 - first >= look.drawn })
        default: throw ComicRefusal(outcome, Self.structure)
        }
    }

    /// Draws one page into a new file, which is removed on failure. Blocks.
    ///
    /// - Parameter index: from 0.
    /// - Returns: the picture's header.
    func draw(_ index: Int, _ page: PdfPage, to target: BytePath) throws -> ImageHeader {
        let copy = try Descriptor(target, O_RDWR | O_CREAT | O_EXCL, mode: 0o600)
        do {
            return try draw(index, page, into: copy)
        } catch {
            try Durable.remove(target)
            throw error
        }
    }

    /// Like ``draw(_:_:to:)``, into an open, empty file.
    func draw(_ index: Int, _ page: PdfPage, into copy: Descriptor) throws -> ImageHeader {
        var size: Int64 = 0
        let outcome = try run(["draw", "\(index + 1)", "\(page.resolution)"]) { part in
            guard size + Int64(part.count) <= ArchiveLimits.maxUncompressedEntrySize else { return false }
            try copy.write(part, at: size)
            size += Int64(part.count)
            return true
        }
        guard outcome == .vanished(status: 0) else {
            if case .vanished = outcome { throw ComicRefusal(.damagedPage, "it cannot be drawn") }
            throw ComicRefusal(outcome, Self.structure)
        }
        guard let image = ImageHeader.read(try copy.read(at: 0, count: ImageHeader.headLength)),
            image.format == .jpeg, !image.isTooLarge
        else { throw ComicRefusal(.workerNonsense, "the rendered page is not a picture") }
        return image
    }

    /// - Parameter secondsBetweenWords: CPU seconds between outputs, if it reports each page.
    private func run(
        _ arguments: [String], secondsBetweenWords: UInt64? = nil, _ receive: ([UInt8]) throws -> Bool
    ) throws -> WorkerProcess.Outcome {
        var process = try process(file, arguments)
        process.secondsBetweenWords = secondsBetweenWords
        let outcome = try process.stream(receive)
        switch outcome {
        case .vanished(WorkerStatus.notInstalled): throw obstacle(Self.notInstalled)
        case .vanished(WorkerStatus.notCaged): throw obstacle(Self.notCaged)
        case .vanished: return outcome
        default:
            if let obstacle = try outcome.obstacle(path, works: works) { throw obstacle }
            return outcome
        }
    }

    private func process(_ file: Descriptor, _ arguments: [String]) throws -> WorkerProcess {
        // Every page is decoded and drawn, often by programs that read the file more than once.
        WorkerProcess(
            program: program, archive: .file(file), arguments: ["pdf"] + arguments,
            timeout: 2 * limits.timeout(for: try file.status().size), limits: limits, pass: pass)
    }

    /// Whether the renderer, given nothing, exits normally.
    private func works() throws -> Bool {
        let outcome = try process(Descriptor("/dev/null"), ["info"]).stream { _ in true }
        return if case .vanished = outcome { true } else { false }
    }
}

extension PdfWork {
    static let notInstalled =
        "PDFs are drawn with poppler-utils, which is not installed; install it (Debian, Ubuntu: `apt install "
        + "poppler-utils`), then run `steward retry`"
    static let notCaged =
        "the program that draws PDFs could not be locked down, which takes a kernel with Landlock and seccomp; "
        + "`steward doctor` says more"

    /// Why this machine cannot draw; not the document's fault.
    private func obstacle(_ message: String) -> Fault {
        Fault(.failed, "\(path) was not examined: \(message)", path: path)
    }

    /// A verdict on the whole document. Blocks.
    func judge(mode: ValidationMode, progress: (Int) -> Void) throws -> Verdict {
        let before = try file.status()
        let verdict: Verdict
        do {
            verdict = try .accepted(report(mode: mode, before.fingerprint, size: before.size, progress))
        } catch let refusal as ComicRefusal {
            verdict = .refused(reason: refusal.reason, message: "\(path): \(refusal.message)")
        }
        guard try file.status().fingerprint == before.fingerprint else {
            throw Fault(.superseded, "\(path) was changed while it was read; it is judged again", path: path)
        }
        return verdict
    }

    private func report(
        mode: ValidationMode, _ fingerprint: Fingerprint, size: Int64, _ progress: (Int) -> Void
    ) throws -> ComicReport {
        let pages = try pages()
        let check = try check(pages.count, progress: progress)
        let empty = try empty(among: check.pageComplaints.keys)
        var notes = check.documentComplaints.map { "of the document the renderer says: \($0)" }
        var damage: [String] = []
        var pageDamage: [Int: String] = [:]
        if try !hasEnd(size) { damage.append("it ends before its end mark, as a file that was cut short does") }
        if mode == .strict, let first = damage.first {
            throw ComicRefusal(.damagedArchive, first + "; fetch the file again, or import it leniently")
        }
        for (index, complaint) in check.pageComplaints.sorted(by: { $0.key < $1.key }) {
            // The drawn page counts, not the complaints about it.
            guard empty.contains(index) else {
                notes.append("of the page \(PdfPage.name(index)), which it draws, the renderer says: \(complaint)")
                continue
            }
            let text = "the page \(PdfPage.name(index)) is damaged and shows nothing: \(complaint)"
            if mode == .strict {
                throw ComicRefusal(.damagedPage, text + "; fetch the file again, or import it leniently")
            }
            damage.append(text)
            pageDamage[index] = complaint
        }
        let reports = pages.enumerated().map { index, page in
            PageReport(
                entry: ArchiveEntry(page: index), hash: nil, image: page.image, damage: pageDamage[index])
        }
        return ComicReport(
            format: .pdf, isSolid: false, pages: reports, metadata: [], skipped: [], damage: damage,
            notes: notes, headerCount: pages.count, totalSize: 0, fingerprint: fingerprint)
    }

    /// Whether `%%EOF` is in the last kilobyte, as the format requires, or followed only by blanks and zeros.
    private func hasEnd(_ size: Int64) throws -> Bool {
        let tail = try file.read(at: max(0, size - 65_536), count: 65_536)
        let mark = Array("%%EOF".utf8)
        guard let last = tail.indices.last(where: { tail[$0] == mark[0] && tail[$0...].starts(with: mark) }) else {
            return false
        }
        return tail.count - last <= 1024 || tail[(last + mark.count)...].allSatisfy { $0 <= 0x20 }
    }
}

extension ArchiveEntry {
    /// A page of a PDF; its size is unknown until it is drawn, so it counts as 0 bytes.
    ///
    /// - Parameter page: from 0.
    init(page: Int) {
        let header = EntryHeader(
            position: page, kind: .file, isEncrypted: false, declaredSize: 0, path: PdfPage.name(page).bytes)
        self.init(header: header, size: 0, index: page)
    }
}
