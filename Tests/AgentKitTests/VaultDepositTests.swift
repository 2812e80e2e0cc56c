import ComicArchive
import ComicTestSupport
import ComicVault
import OwnFiles
import Platform
import Synchronization
import TestSupport
import Testing

@testable import AgentKit

/// Deposits as the agent judges them: by the archive worker, in memory.
@Suite("Deposits and the worker")
struct VaultDepositTests {
    private let home: TemporaryFolder
    private let place: VaultPlace
    private let key: Credential

    init() throws {
        home = try TemporaryFolder("steward-deposit")
        place = VaultPlace(name: "main", path: home.path.appending("vault"), host: home.path.appending("host"))
        key = try .keyFile(.random(64))
        try SealedVault.create(at: place.path, host: place.hostState(), credentials: [key]).lock()
    }

    private func deposit(_ name: BytePath, _ entries: [Packed]) throws -> ObjectID {
        try deposit(name, packed(entries))
    }

    private func deposit(_ name: BytePath, _ bytes: [UInt8]) throws -> ObjectID {
        let file = try home.write(name, bytes)
        let envelope = DropEnvelope(
            name: name, source: "inbox", hash: ContentHash(of: try Descriptor(file).readAll()), time: .now())
        return try VaultDeposit.seal(Descriptor(file), envelope, into: place.path, host: place.hostState()).drop
    }

    @Test(
        "A comic is ingested with its archive's metadata; a hostile one is refused; the log names neither"
    )
    func judges() async throws {
        let info = Array("<ComicInfo><Title>The Secret</Title><Series>Saga</Series></ComicInfo>".utf8)
        let good = try deposit(
            "Saga 007.cbz",
            [
                Packed(name: "p1.png", bytes: picture(1)), Packed(name: "p2.png", bytes: picture(2)),
                Packed(name: "ComicInfo.xml", bytes: info),
            ])
        let bad = try deposit("Trap.cbz", [Packed(name: "../p1.png", bytes: picture(1))])
        let lines = Mutex<[String]>([])
        let service = VaultService(place, judge: ArchiveDepositJudge(program: try builtWorker().program)) { notice in
            lines.withLock { $0 += notice.logLines("main").map(\.1) }
        }
        try await service.unlock(key)
        try await waitUntil("all were tried") { await !service.isIngesting }
        let comics = try await service.use { try $0.list() }
        #expect(comics.map(\.name) == ["Saga 007.cbz"])
        #expect(comics.first?.drop == good)
        let summary = try #require(comics.first?.summary)
        #expect(summary.title == "The Secret" && summary.series == "Saga" && summary.number == "7")
        #expect(summary.pages == 2 && summary.format == "cbz")
        #expect(await service.refusals.keys.sorted() == [bad])
        #expect(try await service.count() == 1)
        await service.lock(.stop)
        let log = lines.withLock { $0 }.joined(separator: "\n")
        #expect(log.contains("ingested the deposit \(good)"))
        #expect(log.contains("did not ingest the deposit \(bad)"))
        for word in ["Saga", "Secret", "Trap", "p1.png"] { #expect(!log.contains(word), "\(word) in\n\(log)") }
    }

    @Test("A solid RAR 4 is ingested", .enabled(if: ArchiveWorker.unpacksSolidRar, "unar is not installed"))
    func solid() async throws {
        _ = try deposit("Saga 8.cbr", RawRar(solid: [picture(1), picture(2)]).four)
        let service = VaultService(place, judge: ArchiveDepositJudge(program: try builtWorker().program))
        try await service.unlock(key)
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(await service.refusals.isEmpty)
        let summary = try #require(try await service.use { try $0.list() }.first?.summary)
        #expect(summary.pages == 2 && summary.format == "cbr")
        await service.lock(.stop)
    }

    @Test("Without the worker, deposits wait for the next unlock")
    func noWorker() async throws {
        let drop = try deposit("A.cbz", [Packed(name: "p1.png", bytes: picture(1))])
        let service = VaultService(place, judge: ArchiveDepositJudge(program: home.path.appending("none")))
        try await service.unlock(key)
        try await waitUntil("all were tried") { await !service.isIngesting }
        #expect(await service.refusals[drop]?.contains("no comic can be examined") == true)
        #expect(try await service.use { try $0.drops().waiting.map(\.id) } == [drop])
        await service.lock(.stop)
    }
}
