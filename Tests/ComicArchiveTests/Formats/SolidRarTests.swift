import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox
@testable import steward_worker

/// Solid RAR 4 archives, unpacked by `unar` in the worker's second cage.
///
/// Without unar, a substitute program shows how its output is handled.
@Suite("Solid RAR 4 archives") struct SolidRarTests {
    let folder: TemporaryFolder
    let program: BytePath

    init() throws {
        folder = try TemporaryFolder("solid")
        program = try builtWorker().program
    }

    private static let isInstalled = ArchiveWorker.unpacksSolidRar

    private func judge(
        _ bytes: [UInt8], by unar: [String] = [], mode: ValidationMode = .strict, limits: WorkerLimits = .standard
    ) async throws -> Verdict {
        let worker = try ArchiveWorker(program: program, limits: limits, unar: unar)
        return try await worker.validate(try folder.write("a.cbr", bytes), mode: mode)
    }

    private let pages = (1...3).map { picture($0) }

    private func rar(_ change: (inout RawRar) -> Void) -> [UInt8] {
        var archive = RawRar(solid: pages)
        change(&archive)
        return archive.four
    }

    /// A shell in unar's place. In the cage it has only its built-in commands.
    private func shell(_ script: String) -> [String] { ["/bin/sh", "-c", script] }

    /// A shell line that prints these bytes.
    private func saying(_ bytes: [UInt8]) -> String {
        "printf '" + bytes.map { "\\" + String(Int($0) + 0o1000, radix: 8).dropFirst() }.joined() + "'"
    }

    // MARK: What is sound

    @Test("Accepted as what it is, with all its contents", .enabled(if: isInstalled, "unar is not installed"))
    func acceptedAll() async throws {
        var archive = RawRar(solid: pages)
        archive.entries.insert(RawRar.Entry("sub", mode: 0o040_755), at: 1)
        archive.entries[1].isFolder = true
        archive.entries.insert(RawRar.Entry("link.png", Array("1.png".utf8), mode: 0o120_777), at: 2)
        archive.entries.append(RawRar.Entry("sub\\ComicInfo.xml", Array("<ComicInfo/>".utf8)))
        archive.entries.append(RawRar.Entry("empty.txt"))
        for index in 1..<archive.entries.count { archive.entries[index].isSolid = true }
        let path = try folder.write("Saga 1.cbr", archive.four)
        let worker = try builtWorker()
        let report = try #require(try await worker.validate(path).report)
        #expect(report.format == .rar && report.isSolid)
        #expect(report.pages.map(\.entry.path) == ["1.png", "2.png", "3.png"])
        #expect(report.pages.map(\.entry.position) == [0, 3, 4])
        #expect(report.pages.map(\.hash) == pages.map { ContentHash(of: $0) })
        #expect(report.pages.allSatisfy { $0.place == nil })
        #expect(report.metadata.map(\.path) == ["sub/ComicInfo.xml"])
        #expect(report.skipped.map(\.reason) == [.folder, .link, .notAPicture])
        #expect(report.headerCount == 7)
        #expect(report.fingerprint == (try Descriptor(path).status().fingerprint))
        #expect(try listDirectory(folder.path).map { BytePath(bytes: $0.name) } == ["Saga 1.cbr"])
        let withheld = try #require(try worker.judge(.file(Descriptor(path)), names: .withheld).report)
        #expect(withheld.pages.map(\.hash) == report.pages.map(\.hash))
        #expect(withheld.skipped.map(\.reason) == report.skipped.map(\.reason))
        #expect(!"\(withheld)".contains("link.png"), "\(withheld)")
    }

    @Test("Pages are available through every interface", .enabled(if: isInstalled, "unar is not installed"))
    func pagesEveryWay()
        async throws
    {
        let path = try folder.write("a.cbr", RawRar(solid: pages).four)
        let worker = try builtWorker()
        let reader = try await ArchiveReaderFactory(worker: worker).reader(for: path)
        let entries = try await reader.listEntries()
        #expect(entries.map(\.path) == ["1.png", "2.png", "3.png"])
        let out = folder.path.appending("out")
        try Durable.makeDirectory(out)
        let one = try #require(try await reader.page(1, into: out).page)
        #expect(try Array(Data(contentsOf: one.1)) == pages[1])
        for (entry, page) in zip(entries, pages) {
            #expect(try await Array(Data(contentsOf: reader.extractEntry(entry, into: out))) == page)
        }

        let file = ArchiveSource.file(try Descriptor(path))
        #expect(try worker.page(2, of: file).page?.bytes == pages[2])
        #expect(try worker.page(3, of: file).page == nil)
        let stream = worker.stream(file, [0: Int64(pages[0].count), 2: Int64(pages[2].count)])
        var buffer = [UInt8](repeating: 0, count: pages[0].count + pages[2].count + 1)
        #expect(try buffer.withUnsafeMutableBytes { try stream.read(into: $0) } == buffer.count - 1)
        #expect(Array(buffer.dropLast()) == pages[0] + pages[2])
    }

    @Test("An archive without a file is read like one with a file", .enabled(if: isInstalled, "unar is not installed"))
    func fileRead() throws {
        let bytes = RawRar(solid: pages).four
        let asked = AskedArchive(path: "a deposit", size: Int64(bytes.count)) { buffer, offset in
            buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + buffer.count])
        }
        let worker = try builtWorker()
        #expect(try worker.judge(.asked(asked)).report?.pages.map(\.hash) == pages.map { ContentHash(of: $0) })
        #expect(try worker.page(0, of: .asked(asked)).page?.bytes == pages[0])
    }

    @Test(
        "Thumbnails can be made of its pages",
        .enabled(if: isInstalled && hasThumbnails, "unar or libvips42 is not installed")) func thumbnailsMadePages()
        async throws
    {
        let drawn = [Picture.png(40, 60), Picture.png(60, 40)]
        let path = try folder.write("a.cbr", RawRar(solid: drawn).four)
        let made = Mutex<[Int]>([])
        try await ThumbnailWorker(builtWorker()).shrink(archive: path, positions: [0, 1], to: .page) {
            position, outcome in
            if case .made = outcome { made.withLock { $0.append(position) } }
        }
        #expect(made.withLock { $0 } == [0, 1])
    }

    @Test("One without an end marker needs lenient mode", .enabled(if: isInstalled, "unar is not installed"))
    func withoutMarkEnd()
        async throws
    {
        let open = rar { $0.hasEnd = false }
        #expect(try await judge(open).word == "unsupported")
        let report = try #require(try await judge(open, mode: .lenient).report)
        #expect(report.pages.count == 3 && report.damage.count == 1)
    }

    // MARK: Without the program

    @Test("Without unar it is rejected, with the advice to install it") func withoutUnarRefused() async throws {
        let verdict = try await judge(rar { _ in }, by: [folder.path.appending("unar").text])
        #expect(verdict.word == "solid")
        #expect(verdict.message.contains("apt install unar"))
    }

    // MARK: What is not

    @Test("A wrong checksum is attributed to its page", .enabled(if: isInstalled, "unar is not installed"))
    func wrongChecksumPage() async throws {
        let bytes = rar { $0.entries[1].crc = 1 }
        let verdict = try await judge(bytes)
        #expect(verdict.word == "damaged-page")
        #expect(verdict.message.contains("the page 2.png is damaged: its checksum differs"))
        let report = try #require(try await judge(bytes, mode: .lenient).report)
        #expect(report.pages.map { $0.damage == nil } == [true, false, true])
    }

    /// A page must not go missing because its name no longer looks like a picture's.
    @Test("A flipped bit in a header is detected, or changes nothing") func bitHeaderFlipped() throws {
        let archive = RawRar(solid: pages)
        let (sound, edges) = (archive.four, archive.edgesOfFour)
        func scan(_ bytes: [UInt8]) throws -> StructureScan {
            let file = try Descriptor(inMemory: "a.cbr")
            try file.write(bytes, at: 0)
            let handed = try #require(HandedFile(descriptor: file.raw))
            return try Rar4Headers.scan(handed, start: 0, withNames: true)
        }
        let expected = try scan(sound)
        #expect(expected.rarFiles?.map(\.name) == [1, 2, 3].map { Array("\($0).png".utf8) })
        #expect(expected.missing(entries: 3, format: .rar) == nil)
        for start in edges.dropFirst().dropLast() {
            let length = Int(sound[start + 5]) | Int(sound[start + 6]) << 8
            for bit in 0..<(8 * length) {
                var bytes = sound
                bytes[start + bit / 8] ^= 1 << (bit % 8)
                let found = try scan(bytes)
                let isFound = found.missing(entries: found.rarFiles?.count ?? 0, format: .rar) != nil
                #expect(isFound || found.rarFiles == expected.rarFiles, "byte \(start + bit / 8), bit \(bit % 8)")
            }
        }
    }

    @Test("Contents whose length differs from the headers are rejected") func contentsLongHeaders() async throws {
        let contents = pages.flatMap { $0 }
        let bytes = rar { _ in }
        #expect(try await judge(bytes, by: shell(saying(contents))).word == "accepted")
        let short = try await judge(bytes, by: shell(saying(contents.dropLast())))
        #expect(short.word == "damaged-archive")
        #expect(short.message.contains("only \(contents.count - 1) of its \(contents.count) bytes"))
        for script in [saying(contents + [0]), "while :; do \(saying([65])); done"] {
            let long = try await judge(bytes, by: shell(script))
            #expect(long.word == "damaged-archive", "\(long.message)")
            #expect(long.message.contains("more than its headers say"))
        }
        // The right number of bytes, but different ones.
        #expect(try await judge(bytes, by: shell(saying(contents.reversed()))).word == "damaged-page")
    }

    @Test("Claims in headers are bounded before anything is unpacked") func headersClaimBounded() async throws {
        let never = shell(saying([1]))
        for (size, mebibytes, word) in [
            (UInt64(513 << 20), 0, "too-many-bytes"), (UInt64(200 << 20), 0, "ratio"),
            (.max >> 33, 0, "too-many-bytes"),
        ] {
            let bytes = rar { $0.entries[1].size = size } + [UInt8](repeating: 0, count: mebibytes << 20)
            #expect(try await judge(bytes, by: never).word == word, "\(size)")
        }
    }

    @Test("An encrypted or partial archive is not given to unar") func encryptedPartNone() async throws {
        let never = shell(saying([1]))
        #expect(try await judge(rar { $0.entries[1].isEncrypted = true }, by: never).word == "encrypted")
        #expect(try await judge(rar { $0.isVolume = true }, by: never).word == "multi-volume")
        #expect(try await judge(rar { $0.entries[1].isSplit = true }, by: never).word == "multi-volume")
    }

    @Test(
        "A name that leads outside condemns it",
        arguments: [("../../x.png", "traversal"), ("/x.png", "absolute-path"), ("", "bad-name")])
    func nameLeadsElsewhere(name: String, word: String) async throws {
        let bytes = rar { $0.entries[1].name = Array(name.utf8) }
        #expect(try await judge(bytes, by: shell(saying(pages.flatMap { $0 }))).word == word)
    }

    // MARK: A program that does not do what it should

    @Test("A program that hangs is killed") func programHangsKilled() async throws {
        // The other end of its own pipe, to which nobody writes.
        let fault = await #expect(throws: Fault.self) {
            try await judge(rar { _ in }, by: ["/bin/cat", "/dev/fd/1"], limits: WorkerLimits(standstill: 1))
        }
        #expect(fault?.kind == .transient)
    }

    @Test("A program that exceeds its CPU time is killed") func programTakesMore() async throws {
        let limits = WorkerLimits(processorSeconds: 1, solidProcessorSeconds: 1)
        let verdict = try await judge(rar { _ in }, by: shell("while :; do :; done"), limits: limits)
        #expect(verdict.word == "worker-limit", "\(verdict.message)")
    }

    @Test("A crash caused by the archive is told from a program that always crashes") func programArchiveMakes()
        async throws
    {
        let verdict = try await judge(rar { _ in }, by: shell("if [ -s /dev/fd/0 ]; then kill -SEGV $$; fi"))
        #expect(verdict.word == "worker-crashed", "\(verdict.message)")
        let fault = await #expect(throws: Fault.self) { try await judge(rar { _ in }, by: shell("kill -SEGV $$")) }
        #expect(fault?.kind == .transient && fault?.code == Fault.machine)
    }

    @Test("In its cage, unar can read, write and reach nothing") func cageReadsWrites() async throws {
        let secret = try folder.write("secret", "x\n")
        let target = folder.path.appending("written")
        for script in [
            "read line < /etc/passwd && \(saying([65]))", "read line < \(secret) && \(saying([65]))",
            "echo x > \(target) && \(saying([65]))", "echo x >> \(secret) && \(saying([65]))",
        ] {
            let verdict = try await judge(rar { _ in }, by: shell(script))
            #expect(verdict.message.contains("only 0 of its"), "\(script): \(verdict.message)")
        }
        #expect(try FileStatus.of(target) == nil)
        let fault = await #expect(throws: Fault.self) {
            try await judge(rar { _ in }, by: shell("(:); \(saying([65]))"))
        }
        #expect(fault?.code == Fault.machine)
        // A C library requests one by itself, so the request fails instead of killing.
        if access("/usr/bin/python3", X_OK) == 0 {
            let script = """
                import errno, socket, sys
                try: socket.socket(socket.AF_UNIX)
                except OSError as error: sys.stdout.write("A" if error.errno == errno.EACCES else "")
                """
            let verdict = try await judge(rar { _ in }, by: ["/usr/bin/python3", "-ISc", script])
            #expect(verdict.message.contains("only 1 of its"), "\(verdict.message)")
        }
    }
}
