import ComicTestSupport
import ComicVault
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

@testable import AgentKit

/// Problems reported in the status of a vault that looks fine from outside.
@Suite("Problems of a vault")
struct VaultStatusTests {
    private let home: TemporaryFolder
    private let place: VaultPlace
    private let key: Credential

    private struct Stop: Error {}

    init() throws {
        home = try TemporaryFolder("steward-status")
        place = VaultPlace(name: "main", path: home.path.appending("vault"), host: home.path.appending("host"))
        key = try .keyFile(.random(64))
        try SealedVault.create(at: place.path, host: place.hostState(), credentials: [key]).lock()
    }

    private func service() -> VaultService {
        // No worker: no deposit can be judged.
        VaultService(place, judge: ArchiveDepositJudge(program: home.path.appending("none")))
    }

    private func deposit(_ name: BytePath) throws -> ObjectID {
        let file = try home.write("archive", "of \(name)")
        let envelope = DropEnvelope(
            name: name, source: "inbox", hash: ContentHash(of: try Descriptor(file).readAll()), time: .now())
        return try VaultDeposit.seal(Descriptor(file), envelope, into: place.path, host: place.hostState()).drop
    }

    @Test("A deposit that is not ingested is reported with the reason until it is gone; several are counted")
    func waiting() async throws {
        let first = try deposit("A.cbz")
        let service = service()
        try await service.unlock(key)
        try await waitUntil("all were tried") { await !service.isIngesting }
        let problems = try await VaultStatus.live(service, within: 600).problems
        try #require(problems.count == 1)
        #expect(problems[0].contains("\(first)"))
        #expect(problems[0].contains("no comic can be examined"), "\(problems)")
        try await service.use { try $0.removeDrop(first) }
        #expect(try await VaultStatus.live(service, within: 600).problems == [])
        await service.lock(.asked)
        _ = (try deposit("B.cbz"), try deposit("C.cbz"))
        try await service.unlock(key)
        try await waitUntil("all were tried") { await !service.isIngesting }
        let both = try await VaultStatus.live(service, within: 600).problems
        #expect(both.first?.hasPrefix("2 deposits were not ingested") == true, "\(both)")
        await service.lock(.stop)
    }

    @Test("A vault moved away while unlocked is locked on the next request, and reported")
    func displaced() async throws {
        let service = service()
        try await service.unlock(key)
        #expect(try await VaultStatus.live(service, within: 600).problems == [])
        try runProgram(["mv", place.path.text, home.path.appending("aside").text]).check()
        let away = try await VaultStatus.live(service, within: 600)
        #expect(!away.isUnlocked && away.problems.contains { $0.contains("its folder was moved or replaced") })
        #expect(away.problems.contains { $0.contains("is gone; mount its disk") }, "\(away.problems)")
        try runProgram(["mv", home.path.appending("aside").text, place.path.text]).check()
        try await service.unlock(key)
        #expect(try await VaultStatus.live(service, within: 600).problems == [])
        await service.lock(.stop)
    }

    @Test("An older copy is reported until somebody decides")
    func rolledBack() async throws {
        let old = home.path.appending("vault.old").text
        try runProgram(["cp", "-a", place.path.text, old]).check()
        let vault = try place.open()
        try vault.unlock(key)
        _ = try vault.addSlot(.keyFile(.random(64)))
        try vault.consolidate()
        vault.lock()
        try runProgram(["rm", "-r", place.path.text]).check()
        try runProgram(["mv", old, place.path.text]).check()
        let service = service()
        try await service.unlock(key)
        let status = try await VaultStatus.live(service, within: 600)
        #expect(status.problems.first?.contains("`steward vault accept-rollback`") == true, "\(status.problems)")
        #expect(status.lines.contains { $0.contains("! the vault differs from its last state on this host") })
        _ = try await service.use { try $0.acceptRollback() }
        #expect(try await VaultStatus.live(service, within: 600).problems == [])
        await service.lock(.stop)
    }

    private func rekey(_ new: Credential, _ stop: (RekeyProgress) -> Bool = { _ in false }) throws {
        try SealedVault.rekey(at: place.path, host: place.hostState(), old: key, new: [new]) {
            if stop($0) { throw Stop() }
        }
    }

    @Test("An interrupted rekey is reported with the next step; a wrong new password differs from a wrong old one")
    func rekeying() throws {
        let (new, other) = (try Credential.keyFile(.random(64)), try Credential.keyFile(.random(64)))
        #expect(throws: Stop.self) { try rekey(new) { if case .verifying = $0 { true } else { false } } }
        #expect(try VaultStatus(place).problems.first?.contains("the same new password resumes it") == true)
        let mistaken = #expect(throws: Fault.self) { try rekey(other) }
        #expect(mistaken?.message.contains("this is not its new password") == true)
        // Abandoned: the vault is complete without the copy.
        try runProgram(["rm", "-r", place.path.text + ".rekey"]).check()
        #expect(try VaultStatus(place).problems == [])
        #expect(throws: Stop.self) { try rekey(other) { if case .removingOld = $0 { true } else { false } } }
        #expect(try VaultStatus(place).problems.first?.contains("before it removed the old one") == true)
        let late = #expect(throws: Fault.self) { try rekey(new) }
        #expect(late?.message.contains("has already given the vault new keys") == true)
        let vault = try place.open()
        try vault.unlock(other)
        #expect(try VaultStatus(place).problems == [])
        vault.lock()
    }
}
