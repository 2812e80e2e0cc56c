import ComicArchive
import ComicTestSupport
import ComicVault
import FileActions
import Foundation
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

/// An ``ActionScene`` with a vault called `main`, opened by a key file, which takes no time.
final class VaultScene: Sendable {
    let scene: ActionScene
    let service: VaultService

    private static let information = Packed(
        name: "ComicInfo.xml",
        bytes: Array("<ComicInfo><Title>The Gate</Title><Series>Saga</Series><Number>7</Number></ComicInfo>".utf8))
    /// The default action of the tests.
    static let entry = "import-comic: { vault: main }"

    init() throws {
        scene = try ActionScene()
        let place = VaultPlace(
            name: "main", path: scene.path("vault"), host: scene.path("state/vault"), idle: nil)
        try Durable.makeDirectory(scene.path("state"))
        try SealedVault.create(at: place.path, host: place.hostState(), credentials: [Self.credential()]).lock()
        service = VaultService(place, judge: WorkerJudge())
    }

    static func credential() throws -> Credential { try .keyFile(SecretBytes(ContentHash(of: [1]).bytes)) }

    /// A comic of one series, a different one for each number.
    static func comic(_ number: Int = 1, _ packing: Packing = .storedZip, pages: Int = 2) throws -> [UInt8] {
        let pictures = (1...pages).map { Packed(name: "\($0).png", bytes: picture(number * 100 + $0)) }
        return try packed(pictures + [information], packing)
    }

    /// A value about the comic in the step's receipt.
    static func text(_ receipt: Receipt, _ name: String) -> String {
        receipt.values["comic.\(name)"]?.shown(.gmt) ?? ""
    }

    /// One run of an agent; the vault is as it was left.
    func open() throws -> ActionWorld {
        var options = ActionWorld.Options()
        options.vaults = VaultKeeper([service])
        return try scene.open(options)
    }

    /// Returns when all deposits have been examined.
    func unlock() async throws {
        try await service.unlock(Self.credential())
        try await waitUntil("deposits are taken in") { await !self.service.isIngesting }
    }

    func comics() async throws -> [ComicEntry] { try await service.use { try $0.list() } }

    func drops() throws -> Int { try service.place.open().drops().waiting.count }

    func drop(_ name: BytePath, _ bytes: [UInt8]) throws {
        try scene.home.write(BytePath("dropbox").appending(name), bytes)
    }

    func bytes(_ comic: ComicEntry) async throws -> [UInt8] {
        try await service.use { vault in
            var all: [UInt8] = []
            try vault.open(.archive, of: comic.id).stream { all += $0 }
            return all
        }
    }
}

/// Judges deposits like the agent.
private struct WorkerJudge: DepositJudge {
    func judge(_ deposit: DropContent) throws -> DropVerdict {
        let worker = try builtWorker()
        let archive = try ArchiveSource.sealed(deposit)
        switch try worker.judge(archive, mode: .lenient, hashes: false) {
        case .refused(_, let message): throw Fault(.refused, message)
        case .accepted(let report):
            let comic = SealedComic(report, path: deposit.envelope.name, hash: deposit.hash)
            return DropVerdict(name: comic.name, parts: try comic.parts(of: archive, worker), summary: comic.summary)
        }
    }
}
