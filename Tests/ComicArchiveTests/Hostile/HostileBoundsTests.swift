import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// The cost of hostile archives: the worker's limits hold, and the agent does not grow, leak a process or write
/// anywhere except its cache.
@Suite("Cost of hostile archives")
struct HostileBoundsTests {
    /// In a separate process, so that it does not measure other tests.
    @Test("The agent is unaffected") func agentStays() async throws {
        let folder = try TemporaryFolder("bounds")
        let comics = HostileComic.bombs + HostileComic.crowds + HostileComic.shapes
        for (index, comic) in comics.enumerated() {
            try folder.write(BytePath("archives/\(index).cbz"), try comic.make())
        }
        try Durable.makeDirectory(folder.path.appending("work"))
        setenv("STEWARD_TEST_FOLDER", folder.path.text, 1)
        await #expect(processExitsWith: .success) {
            let folder = BytePath(ProcessInfo.processInfo.environment["STEWARD_TEST_FOLDER"] ?? "")
            let (archives, work) = (folder.appending("archives"), folder.appending("work"))
            guard chdir(work.text) == 0 else { throw TestFailure("no \(work)") }
            let worker = try builtWorker()
            let (validator, factory) = (ComicValidator(worker: worker), ArchiveReaderFactory(worker: worker))
            let outside = ["/tmp/1.png", "/tmp/2.png", "/tmp/steward-link-target"].map { BytePath($0) }
            let targets = try outside.filter { try FileStatus.of($0) == nil }
            let files = try listDirectory(archives).map { archives.appending(name: $0.name) }.sorted()
            var bounds = Bounds()
            for path in [files[0]] + files {
                let verdict = try await validator.validate(path, mode: .lenient)
                if let page = verdict.report?.pages.first(where: { $0.damage == nil }) {
                    let reader = try await factory.reader(for: path)
                    if reader is WorkerArchiveReader {
                        try await Self.extract(page, reader, in: folder.appending("cache"))
                    }
                }
                try bounds.check(path)
            }
            #expect(try listDirectory(archives).count == files.count)
            #expect(try listDirectory(work).isEmpty)
            #expect(try listDirectory(folder.appending("cache")).isEmpty)
            #expect(try targets.allSatisfy { try FileStatus.of($0) == nil })
            #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
        }
    }

    /// Reads a page as a person would, and closes the comic.
    private static func extract(_ page: PageReport, _ reader: any ArchiveReader, in cache: BytePath) async throws {
        try Durable.makeDirectory(cache)
        let url = try await reader.extractEntry(page.entry, into: cache)
        let path = BytePath(url.path)
        #expect(path.parent == cache)
        #expect(try ContentHash.ofFile(path) == page.hash)
        #expect(try listDirectory(cache).count == 1)
        try Durable.remove(path)
    }

    /// Resources used by this process and its children.
    private struct Bounds {
        private var memory: Int?
        private var seconds = 0.0

        mutating func check(_ path: BytePath) throws {
            let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
            let peak =
                status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?
                .split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? .max
            // Kilobytes; the first archive has loaded what every one needs.
            let first = memory ?? peak
            memory = first
            #expect(peak - first < 24 << 10, "\(path): the agent grew from \(first) to \(peak) KiB")
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
            let now = [usage.ru_utime, usage.ru_stime].reduce(0.0) {
                $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
            }
            // A validation, a list and a page: three workers with ten seconds each.
            #expect(now - seconds < 30, "\(path): its workers took \(now - seconds) s")
            seconds = now
        }
    }

    /// The kernel enforces the worker's CPU limit from before it reads the first byte.
    @Test("The worker is limited", arguments: [("zip", "10"), ("7z", "120")])
    func workerLimit(_ format: String, _ seconds: String) async throws {
        let folder = try TemporaryFolder("limits")
        let bytes =
            format == "zip"
            ? RawZip([RawZip.Entry("1.png", picture(1))]).bytes
            : RawSevenZip([RawSevenZip.Entry("1.png", picture(1))]).bytes
        let path = try folder.write("comic", bytes)
        let program = try builtWorker().executable
        let rows = try await BlockingPool("limits").run {
            var rows: [[Substring]] = []
            let process = WorkerProcess(
                program: program, archive: .file(try Descriptor(path)), arguments: ["inspect"], timeout: 120)
            _ = try process.run { _ in
                // It is running, or waiting to be reaped: until then the kernel shows its limits.
                for id in try listDirectory("/proc").map({ String(decoding: $0.name, as: UTF8.self) }) {
                    guard let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                        status.contains("(steward-worker)"),
                        status.contains(") S \(getpid()) ")
                            || status.contains(") R \(getpid()) ") || status.contains(") Z \(getpid()) ")
                    else { continue }
                    let limits = try String(contentsOfFile: "/proc/\(id)/limits", encoding: .utf8)
                    rows += limits.split(separator: "\n").filter { $0.hasPrefix("Max cpu time") }
                        .map { $0.split(separator: " ") }
                }
                return false
            }
            return rows
        }
        // Another test's worker may be among them, just started.
        #expect(rows.contains { $0.dropFirst(3).first.map(String.init) == seconds }, "\(rows)")
    }

    /// More than two GiB of zeros, sent slowly enough for the ratio not to be a bomb's.
    @Test("A worker that takes too long is killed") func workerTakesToo() async throws {
        let folder = try TemporaryFolder("long")
        let page = RawZip.Entry(zeros: "", runs: 400_000)
        var archive = RawZip(
            (0..<25).map { number in
                var page = page
                page.name = Array("\(number).png".utf8)
                return page
            })
        archive.front = [UInt8](repeating: 1, count: 10 << 20)
        let path = try folder.write("long.cbz", archive.bytes)
        let whole = try await ComicValidator(worker: builtWorker()).validate(path, hashes: false)
        #expect(whole.word == "too-many-bytes")
        let hasty = try ArchiveWorker(program: builtWorker().program, limits: WorkerLimits(processorSeconds: 1))
        #expect(try await ComicValidator(worker: hasty).validate(path).word == "worker-limit")
    }
}
