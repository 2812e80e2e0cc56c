import ComicTestSupport
import Foundation
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// PDFs, listed, judged and drawn by a third-party program in the worker's second cage.
///
/// Without poppler-utils, only the message about that is tested.
@Suite("PDFs") struct PdfTests {
    let folder: TemporaryFolder
    let worker: ArchiveWorker
    let validator: ComicValidator

    init() throws {
        folder = try TemporaryFolder("pdf")
        worker = try builtWorker()
        validator = ComicValidator(worker: worker)
    }

    private static let isInstalled = access("/usr/bin/pdftoppm", X_OK) == 0

    private func judge(_ bytes: [UInt8], mode: ValidationMode = .strict) async throws -> Verdict {
        try await validator.validate(try folder.write("a.pdf", bytes), mode: mode)
    }

    // MARK: Pages

    @Test(
        "Pages are listed, judged and drawn in order and in their sizes",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func pagesListedJudged() async throws {
        let samples = [PdfSample(), PdfSample(width: 792, height: 612), PdfSample(width: 400, height: 600, turn: 90)]
        let path = try folder.write("three.cbz", pdf(samples))
        let report = try #require(try await validator.validate(path).report)
        #expect(report.format == .pdf)
        #expect(report.pages.map(\.entry.path) == ["page_1.jpg", "page_2.jpg", "page_3.jpg"])
        #expect(report.pages.map { $0.image.map { $0.width > $0.height } } == [false, true, true])

        let reader = try await ArchiveReaderFactory(worker: worker).reader(for: path)
        let entries = try await reader.listEntries()
        #expect(entries == report.pages.map(\.entry))
        var drawn: Set<ContentHash> = []
        for index in 0..<3 {
            let bytes = try await reader.bytes(of: entries[index], folder)
            let (image, expected) = (try #require(ImageHeader.read(bytes)), try #require(report.pages[index].image))
            #expect(image.format == .jpeg && max(image.width, image.height) > 2500)
            #expect(abs(image.width - expected.width) <= 1 && abs(image.height - expected.height) <= 1)
            drawn.insert(ContentHash(of: bytes))
        }
        #expect(drawn.count == 3)
    }

    @Test("Pages are drawn large enough to read and small enough to hold in memory") func pagesDrawnLarge() throws {
        for (width, height) in [
            (612.0, 792.0), (792, 612), (600, 20_000), (14_400, 14_400), (50, 70), (1, 1), (3, 14_400),
        ] {
            let image = try #require(PdfPage(width: width, height: height)).image
            #expect(image.pixels <= 25_000_000 && max(image.width, image.height) <= 20_100, "\(width) × \(height)")
        }
        #expect(try #require(PdfPage(width: 612, height: 792)).image.height == 2596)
        #expect(try #require(PdfPage(width: 600, height: 20_000)).image.width >= 590)
        for (width, height) in [(0.0, 1.0), (-5, 5), (.infinity, 1), (.nan, 1), (1e9, 1e9), (1e-9, 1e-9)] {
            #expect(PdfPage(width: width, height: height) == nil, "\(width) × \(height)")
        }
    }

    // MARK: What is refused

    @Test(
        "A document that needs a password is encrypted; one that only restricts rights is read",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func documentNeedsPassword() async throws {
        // A file that everybody can open hides nothing.
        for (name, word) in [("user", "encrypted"), ("owner", "accepted")] {
            let verdict = try await judge(encryptedPdf(needsPassword: name == "user"))
            #expect(verdict.word == word, "\(name): \(verdict.message)")
        }
        let path = try folder.write("b.pdf", encryptedPdf(needsPassword: true))
        let reader = try await ArchiveReaderFactory(worker: worker).reader(for: path)
        let error = await #expect(throws: ComicError.self) { try await reader.listEntries() }
        #expect(error?.message.contains("password") == true)
    }

    @Test(
        "Rejected without pages, with too many, or if invalid",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func withoutPagesToo() async throws {
        #expect(try await judge(pdf([])).word == "no-pages")
        #expect(try await judge(pdf(Array(repeating: PdfSample(), count: 2001))).word == "too-many-pages")
        #expect(try await judge(Array("%PDF-1.4 and nothing else".utf8)).word == "damaged-archive")
        #expect(try await judge([]).word == "damaged-archive")
        #expect(
            try await judge(pdf([PdfSample(width: 2_000_000_000, height: 2_000_000_000)])).word == "damaged-archive")
        #expect(try await judge(pdf([PdfSample()], count: 3)).word == "damaged-archive")
    }

    @Test("A damaged picture is reported with its page", .enabled(if: isInstalled, "poppler-utils is not installed"))
    func damagedPictureNames() async throws {
        let noise = (
            dictionary: "/Type /XObject /Subtype /Image /Width 50 /Height 50 /ColorSpace /DeviceGray "
                + "/BitsPerComponent 8 /Filter /DCTDecode", bytes: picture(1)
        )
        let bytes = pdf([PdfSample(), PdfSample(picture: noise), PdfSample()])
        let strict = try await judge(bytes)
        #expect(strict.word == "damaged-page", "\(strict.message)")
        #expect(strict.message.contains("page_2.jpg"))
        let lenient = try #require(try await judge(bytes, mode: .lenient).report)
        #expect(lenient.pages.map { $0.damage != nil } == [false, true, false])
        #expect(lenient.damage.count == 1)
    }

    @Test(
        "Messages of the renderer about a page become notes",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func rendererSaysPage() async throws {
        let spoken = PdfSample(content: "0.2 0.5 0.7 rg 0 0 600 400 re f\n/Unknown gs\n")
        let verdict = try await judge(pdf([PdfSample(), spoken, PdfSample()]))
        let report = try #require(verdict.report, "\(verdict.message)")
        #expect(report.damage.isEmpty && report.pages.allSatisfy { $0.damage == nil })
        #expect(report.notes.count == 1 && report.notes.first?.contains("page_2.jpg") == true, "\(report.notes)")
        // If nothing is drawn, that is the reason.
        let empty = try await judge(pdf([PdfSample(), PdfSample(content: "/Unknown gs\n")]))
        #expect(empty.word == "damaged-page" && empty.message.contains("shows nothing"), "\(empty.message)")
    }

    @Test("Drawn pages that show nothing are reported") func drawnPagesHeard() {
        func page(_ width: Int, _ height: Int, _ pixels: [UInt8]) -> [UInt8] {
            Array("P6\n\(width) \(height)\n255\n".utf8) + pixels
        }
        let white = [UInt8](repeating: 255, count: 12)
        let bytes =
            page(2, 2, white) + page(2, 2, Array(white.dropLast()) + [254]) + page(1, 2, [1, 2, 3, 1, 2, 3])
            + page(2, 1, [10, 10, 10, 13, 10, 10])
        for size in [1, 7, bytes.count] {
            var look = PdfLook()
            for start in stride(from: 0, to: bytes.count, by: size) {
                let goesOn = look.consume(Array(bytes[start..<min(start + size, bytes.count)]))
                #expect(goesOn)
            }
            #expect(look.drawn == 4 && look.plain == [0, 2])
        }
        for nonsense in ["P5\n1 1\n255\n", "P6\n0 1\n255\n", "P6\n9999 9999\n255\n", String(repeating: "P", count: 50)]
        {
            var look = PdfLook()
            let goesOn = look.consume(Array(nonsense.utf8))
            #expect(!goesOn)
        }
    }

    @Test(
        "Truncated anywhere, it is never accepted in strict mode",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func cutAnywhereNever() async throws {
        let whole = pdf((0..<5).map { _ in PdfSample() })
        for percent in stride(from: 0, to: 100, by: 5) {
            let verdict = try await judge(Array(whole.prefix(whole.count * percent / 100)))
            #expect(verdict.word != "accepted", "\(percent) %")
            #expect(verdict.word != "worker-crashed", "\(percent) %: \(verdict.message)")
        }
    }

    @Test("No flipped byte does harm", .enabled(if: isInstalled, "poppler-utils is not installed"))
    func flippedByteHarm() async throws {
        var random = SeededGenerator(for: "hostile PDF")
        let whole = pdf([PdfSample(), PdfSample()])
        var (taken, refused) = (0, 0)
        for number in 0..<40 {
            var bytes = whole
            switch number % 10 {
            case 0: break
            // Nothing of it is left.
            case 1: for index in bytes.indices.dropFirst(8) { bytes[index] = .random(in: 0...255, using: &random) }
            default:
                for _ in 0..<8 {
                    bytes[Int.random(in: 8..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
                }
            }
            let verdict = try await judge(bytes, mode: .lenient)
            #expect(!["worker-crashed", "worker-limit"].contains(verdict.word), "\(verdict.message)")
            guard let report = verdict.report else {
                refused += 1
                continue
            }
            taken += 1
            #expect((1...2).contains(report.pages.count))
        }
        #expect(taken >= 4 && refused >= 4, "\(taken) taken, \(refused) refused")
    }

    @Test("A page that never ends hits the limit", .enabled(if: isInstalled, "poppler-utils is not installed"))
    func pageNeverEnds() async throws {
        // Overlapping shapes, more than can be filled in a second.
        let endless = String(repeating: "0 0 600 700 re 10 10 500 500 re f* ", count: 400_000)
        let limited = try ArchiveWorker(
            program: worker.program,
            limits: WorkerLimits(processorSeconds: 1, solidProcessorSeconds: 1, timeout: 60))
        let path = try folder.write("endless.pdf", pdf([PdfSample(content: endless)]))
        let verdict = try await ComicValidator(worker: limited).validate(path)
        #expect(verdict.word == "worker-limit", "\(verdict.message)")
    }

    @Test("A machine without the renderer reports what to install") func machineWithoutRenderer() async throws {
        let program = try fakeWorker("exit 69", in: folder, failsAlways: true)
        let path = try folder.write("a.pdf", pdf([PdfSample()]))
        let fake = try ArchiveWorker(program: program)
        let fault = await #expect(throws: Fault.self) { try await ComicValidator(worker: fake).validate(path) }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("apt install poppler-utils") == true)
        let reader = try await ArchiveReaderFactory(worker: fake).reader(for: path)
        await #expect(throws: Fault.self) { try await reader.listEntries() }
        await #expect(throws: Fault.self) { try await fake.checkPdf() }
        if Self.isInstalled { try await worker.checkPdf() }
    }

    @Test(
        "A renderer that outputs nonsense leads to a verdict",
        arguments: [
            ("yes | head -c 100000000 >&4", "worker-nonsense"), ("kill -SEGV $$", "worker-crashed"),
            ("printf 'Pages: 1\\nPage 1 size: 1 x nan pts\\n' >&4", "damaged-archive"),
            ("printf 'Pages: 99999999999\\n' >&4", "damaged-archive"), ("exit 0", "damaged-archive"),
            ("printf 'Pages: 1\\nPage 1 size: 9 x 9 pts\\n7 7\\n' >&4", "damaged-archive"),
        ])
    func rendererTalksNonsense(script: String, word: String) async throws {
        let program = try fakeWorker(script, in: folder)
        let path = try folder.write("a.pdf", pdf([PdfSample()]))
        #expect(try await ComicValidator(worker: ArchiveWorker(program: program)).validate(path).word == word)
    }

    @Test(
        "A document that exists only in memory is judged and drawn",
        .enabled(if: isInstalled, "poppler-utils is not installed"))
    func liesMemoryJudged() throws {
        let file = try Descriptor(inMemory: "a.pdf")
        try file.write(pdf([PdfSample(), PdfSample()]), at: 0)
        #expect(try worker.judge(.file(file)).report?.pages.count == 2)
        let (page, count) = try worker.page(1, of: .file(file))
        #expect(count == 2)
        #expect(ImageHeader.read(page?.bytes ?? [])?.format == .jpeg)
    }

    @Test("A renderer that is stopped, or that also fails without input, is not the document's fault")
    func rendererSomebodyStops()
        async throws
    {
        let path = try folder.write("a.pdf", pdf([PdfSample()]))
        for script in ["kill -TERM $$", "kill -KILL $$", "kill -SYS $$"] {
            let program = try fakeWorker(script, in: folder, failsAlways: true)
            let validator = ComicValidator(worker: try ArchiveWorker(program: program))
            let fault = await #expect(throws: Fault.self, "\(script)") { try await validator.validate(path) }
            #expect(fault?.kind == .transient, "\(script): \(fault?.message ?? "")")
        }
    }

    @Test("A title that looks like an answer changes nothing, and is not stored") func titleLooksLike() {
        let text = """
            Title: Coelacanthus
            Page
            Pages: 7
            Page    1 size: 1 x 1 pts
            Pages:           2
            Encrypted:       no
            Page    1 size:  612 x 792 pts (letter)
            Page    1 rot:   0
            Page    2 size:  100.5 x 2e+02 pts
            Page    2 rot:   270
            """
        var lines = PdfInfoLines()
        for byte in text.utf8 { lines.consume([byte]) }
        #expect(lines.count == text.utf8.count)
        #expect(!String(decoding: lines.ofPages, as: UTF8.self).contains("Coelacanthus"))
        let pages = PdfInfo.pages(lines.ofPages)
        #expect(pages?.map(\.width) == [612, 200])
        #expect(pages?.map(\.height) == [792, 100.5])
    }

    // MARK: The cage

    @Test(
        "The second cage holds",
        arguments: [
            ("none", "left 0"), ("library", "left 200"), ("create", "left \(EACCES)"), ("rewrite", "left \(EACCES)"),
            ("truncate", "left \(ENOSYS)"), ("remove", "left \(ENOSYS)"), ("read", "left \(EACCES)"),
            ("code", "left \(EPERM)"), ("number", "left \(EINVAL)"), ("exec-again", "left \(EFAULT)"),
            ("socket", "killed 31"), ("fork", "killed 31"), ("exec", "killed 31"), ("exec-another", "killed 31"),
            ("raise", "killed 31"), ("kill", "killed 31"), ("exec-path", "killed 31"), ("place", "killed 31"),
            ("place-from-below", "killed 31"), ("place-from-zero", "killed 31"),
        ])
    func secondCageHolds(what: String, end: String) async throws {
        #expect(try await worker.probe(what, drawing: true) == end)
    }
}
