import ComicTestSupport
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import ComicArchive
@testable import Sandbox

/// A thumbnail process that dies, or lies: played by a script.
@Suite("A thumbnail process that dies or lies")
struct ThumbnailDistrustTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("distrust") }

    /// - Parameters:
    ///   - records: its output, by the number of the first requested picture; otherwise by `any`.
    ///   - end: how it ends.
    private func worker(_ records: [String: [WorkerRecord]], end: String) throws -> ThumbnailWorker {
        for (name, said) in records { try folder.write(BytePath("said-\(name)"), said.flatMap { $0.encoded() }) }
        let script = try folder.write(
            "steward-worker",
            """
            #!/bin/sh
            echo start >> '\(folder.path)/starts'
            said='\(folder.path)/said-'$6
            test -f "$said" || said='\(folder.path)/said-any'
            test -f "$said" && /bin/cat "$said" >&4
            \(end)
            """)
        chmod(script.text, 0o755)
        return ThumbnailWorker(try ArchiveWorker(program: script))
    }

    private func starts() throws -> Int { try folder.read("starts").split(separator: "\n").count }

    private func content(_ position: Int) -> WorkerRecord {
        .content(
            EntryContent(position: position, state: .whole, size: 1, crc32: 0, hash: nil, image: nil, message: ""))
    }

    private func isFailed(_ outcome: ThumbnailOutcome) -> Bool { if case .failed = outcome { true } else { false } }

    @Test("The picture that killed it gets no thumbnail; the others are tried again") func pictureOverDied()
        async throws
    {
        let records = Dictionary(
            uniqueKeysWithValues: (0..<3).map { ("\($0)", [WorkerRecord.bytes(position: $0, [])]) })
        let worker = try worker(records, end: "kill -SEGV $$")
        let outcomes = try await worker.shrink(pictures: [[1], [2], [3]], to: .page)
        #expect(outcomes.allSatisfy { $0 == .failed("decoding it crashed the process (signal 11)") })
        #expect(try starts() == 3)
    }

    @Test("It is abandoned eventually") func givenEnd() async throws {
        let records = Dictionary(
            uniqueKeysWithValues: (0..<50).map { ("\($0)", [WorkerRecord.bytes(position: $0, [])]) })
        let worker = try worker(records, end: "kill -SEGV $$")
        #expect(try await worker.shrink(pictures: .init(repeating: [1], count: 50), to: .page).allSatisfy(isFailed))
        #expect(try starts() < 12)
    }

    @Test("Its output is accepted only if it is plausible") func saysBelievedMakes() async throws {
        let large = Picture.png(300, 300)
        let lies: [[WorkerRecord]] = [
            [.bytes(position: 0, []), .bytes(position: 0, large), content(0)],
            [.bytes(position: 0, []), .bytes(position: 0, [0xFF, 0xD8, 0xFF]), content(0)],
            [.bytes(position: 7, []), .bytes(position: 7, [1]), content(7)],
            [.bytes(position: 0, [1, 2, 3])],
            [content(0)],
            [.bytes(position: 0, []), .bytes(position: 0, [])],
            [.end(WorkerEnd(reason: .complete, message: ""))],
        ]
        for lie in lies {
            let worker = try worker(["any": lie], end: "exit 0")
            let outcomes = try await worker.shrink(pictures: [[1]], to: .page)
            #expect(outcomes.allSatisfy(isFailed))
        }
    }

    @Test("If libvips or the cage is missing, no page is to blame") func withoutLibvipsWithout() async throws {
        let absent = try await #require(throws: Fault.self) {
            try await worker([:], end: "exit 69").shrink(pictures: [[1]], to: .page)
        }
        #expect(absent == ThumbnailWorker.absent)
        #expect(absent.message.contains("libvips42"))
        let open = WorkerRecord.end(WorkerEnd(reason: .noCage, message: "no filter"))
        let caged = try await #require(throws: Fault.self) {
            try await worker(["any": [open]], end: "exit 70").check()
        }
        #expect(caged.message.contains("no filter"))
    }
}
