import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// Archives for which the worker gets no file, only the bytes that it requests.
@Suite("Archives read without giving the worker a file")
struct AskedArchiveTests {
    private let worker: ArchiveWorker

    init() throws { worker = try builtWorker() }

    private struct Unreadable: Error {}

    private func asked(_ bytes: [UInt8]) -> ArchiveSource {
        .asked(
            AskedArchive(path: "the deposit", size: Int64(bytes.count)) { buffer, offset in
                buffer.copyBytes(from: bytes[Int(offset)...].prefix(buffer.count))
            })
    }

    /// Pages larger than an answer, and small ones.
    private func entries() -> [(name: [UInt8], bytes: [UInt8])] {
        (1...9).map { (Array("\($0).png".utf8), picture($0, size: $0 % 3 == 0 ? 300_000 : 2000)) }
    }

    @Test("Every format is judged, extracted and thumbnailed as from a file", arguments: RawFormat.allCases)
    func everyFormatJudged(_ format: RawFormat) throws {
        let bytes = try #require(format.pack(entries()))
        let folder = try TemporaryFolder("asked")
        let file = try Descriptor(folder.write("a comic", bytes))
        let report = try #require(try worker.judge(asked(bytes)).report)
        let other = try #require(try worker.judge(.file(file)).report)
        #expect(report.format == other.format && report.pages.map(\.place) == other.pages.map(\.place))
        #expect(report.pages.map(\.entry.path) == other.pages.map(\.entry.path))
        #expect(report.pages.compactMap(\.hash) == entries().map { ContentHash(of: $0.bytes) })
        #expect(try worker.page(2, of: asked(bytes)).page?.bytes == picture(3, size: 300_000))
        let sizes = Dictionary(
            report.pages.map { ($0.entry.position, $0.entry.uncompressedSize) }, uniquingKeysWith: { one, _ in one })
        let stream = worker.stream(asked(bytes), sizes)
        var all = [UInt8](repeating: 0, count: entries().reduce(1) { $0 + $1.bytes.count })
        let count = try all.withUnsafeMutableBytes { try stream.read(into: $0) }
        #expect(count == all.count - 1 && Array(all.dropLast()) == entries().flatMap(\.bytes))
    }

    @Test(
        "A hostile one gets the same verdict as a file",
        arguments: [
            HostileComic.names, HostileComic.links, HostileComic.bombs, HostileComic.shapes, HostileComic.pictures,
        ])
    func hostileGetsVerdict(_ comics: [HostileComic]) throws {
        for comic in comics {
            let archive = asked(try comic.make())
            if try archive.isPdf() { continue }
            let verdict = try worker.judge(archive)
            #expect(comic.words.contains(verdict.word), "\(comic): \(verdict.word) \(verdict.message)")
        }
    }

    @Test("An error while reading its bytes is thrown, and is not a verdict on it", arguments: [0, 1, 2])
    func keepsBytesBeing(_ answers: Int) throws {
        let bytes = try #require(RawFormat.zip.pack(entries()))
        let given = Mutex(0)
        let archive = ArchiveSource.asked(
            AskedArchive(path: "the deposit", size: Int64(bytes.count)) { buffer, offset in
                // The first question is whether it is a PDF.
                let count = given.withLock { given in
                    given += 1
                    return given
                }
                if count > answers + 1 { throw Unreadable() }
                buffer.copyBytes(from: bytes[Int(offset)...].prefix(buffer.count))
            })
        #expect(throws: Unreadable.self) { try worker.judge(archive, mode: .lenient) }
    }

    @Test(
        "A worker whose requests make no sense is ended",
        arguments: [
            // A count of zero, one larger than an answer, bytes past the end, and a negative offset.
            #"\0\0\0\0\0\0\0\0\0\0\0\0"#, #"\0\0\0\0\0\0\0\0\x01\0\x02\0"#, #"\0\0\0\0\x01\0\0\0\x01\0\0\0"#,
            #"\xff\xff\xff\xff\xff\xff\xff\xff\x01\0\0\0"#,
        ])
    func workerAsksMakes(_ question: String) throws {
        let folder = try TemporaryFolder("asking")
        let liar = try ArchiveWorker(
            program: try fakeWorker("printf '\(question)' >&3; exec sleep 600", in: folder))
        let bytes = try #require(RawFormat.zip.pack(entries()))
        #expect(try liar.judge(asked(bytes)).word == "worker-nonsense")
    }

    @Test("A worker that ignores answers and keeps asking delays nobody beyond its time") func workerTakesAnswer()
        throws
    {
        let folder = try TemporaryFolder("asking")
        let flood = #"while :; do printf '\0\0\0\0\0\0\0\0\0\0\x01\0' >&3 || exit; done"#
        let slow = try ArchiveWorker(
            program: try fakeWorker(flood, in: folder),
            limits: WorkerLimits(processorSeconds: 1, timeout: 2, standstill: 2))
        let bytes = try #require(RawFormat.zip.pack(entries()))
        #expect(throws: Fault.self) { try slow.judge(asked(bytes)) }
    }

    /// The cage then allows only the socket in addition to what every worker may do.
    @Test(
        "Its worker is killed for the same system calls as any other",
        arguments: ["open", "create", "socket", "fork", "exec", "mmap", "kill"])
    func workerKilledAny(_ what: String) throws {
        let outcome = try worker.process(asked([1, 2, 3]), ["probe", what]).run { _ in true }
        #expect(outcome == .killed(signal: 31))
    }

    @Test("Its worker may write to the socket; one that has the file may not") func workerWriteSocket() throws {
        #expect(try worker.process(asked([1, 2, 3]), ["probe", "write"]).run { _ in true } == .mute(status: 1))
        let file = ArchiveSource.file(try Descriptor("/dev/null"))
        #expect(try worker.process(file, ["probe", "write"]).run { _ in true } == .killed(signal: 31))
    }

    @Test("A PDF is not requested") func pdfAsked() throws {
        #expect(throws: Fault.self) { try worker.judge(asked(Array("%PDF-1.7\n".utf8))) }
    }
}
