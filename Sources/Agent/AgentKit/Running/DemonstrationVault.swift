import ComicVault
import Foundation
import OwnFiles
import Platform

/// The demo's vault: one comic is dropped while it is locked, one while it is unlocked.
struct DemonstrationVault: Sendable {
    private static let locked: BytePath = "private/Night shift 01.cbz"
    private static let unlocked: BytePath = "private/Night shift 02.cbz"

    private let base: BytePath
    private let directories: Directories
    private let pool: BlockingPool
    /// Used instead of a password, whose key would take a moment to derive.
    private let credential: Credential

    init(base: BytePath, directories: Directories, pool: BlockingPool) throws {
        (self.base, self.directories, self.pool) = (base, directories, pool)
        credential = try .keyFile(SecretBytes((0..<64).map { _ in UInt8.random(in: 0...255) }))
    }

    /// Adds a place to the configuration and a rule to the home's own rules.
    ///
    /// - Parameter rules: the home's rule folder.
    func prepare(rules: BytePath) throws {
        try Durable.makeDirectory(base.appending("private"))
        try Durable.makeDirectory(rules)
        let text = String(decoding: try Descriptor(directories.configuration).readAll(), as: UTF8.self)
        let place = "places:\n  private: { kind: inbox, path: \(base.appending("private").text) }\n"
        try Durable.replaceOwn(
            directories.configuration, with: Array(text.replacing("places:\n", with: place, maxReplacements: 1).utf8))
        let rule = """
            - rule: Seal comics
              in: private
              where: { extension: cbz }
              do:
                - import-comic: { vault: main }

            """
        try Durable.replaceOwn(rules.appending("60-private.yaml"), with: Array(rule.utf8))
    }

    /// Shows how the two comics are handled. The agent must be running.
    func run(_ tell: @Sendable (String) -> Void, drop: (BytePath, [UInt8]) throws -> Void) async throws {
        let (configuration, _) = Configuration.load(directories)
        guard let configuration, let place = configuration.vaults.first else {
            throw Fault(.failed, "the demo's own configuration has no vault")
        }
        tell("\n$ steward vault init     # and a rule: import-comic: { vault: main }")
        let credential = credential
        try await pool.run {
            try SealedVault.create(at: place.path, host: place.hostState(), credentials: [credential]).lock()
        }
        tell("Dropping a comic while the vault is locked:\n  \(Self.locked)")
        try drop(base.appending(Self.locked), DemonstrationComics.night(1))
        try await tellOutcome(Self.locked, tell, configuration)
        let sealed = try await pool.run { try place.open().drops().waiting }
        tell(
            "  in the vault's folder: \(sealed.count) deposit of \(sealed.first?.size ?? 0) bytes, sealed to its public key"
        )
        tell("\n$ steward vault unlock")
        _ = try await ask(UnlockVault(dropsTornTail: false), of: place, [credential])
        tell("Dropping another one:\n  \(Self.unlocked)")
        try drop(base.appending(Self.unlocked), DemonstrationComics.night(2))
        try await tellOutcome(Self.unlocked, tell, configuration)
        let list = ListVaultComics()
        var listing = try await ask(list, of: place)
        for _ in 0..<600 where listing.comics.count < 2 {
            try await Task.sleep(for: .milliseconds(50))
            listing = try await ask(list, of: place)
        }
        tell("\n$ steward vault list")
        let screen = Screen(width: 80, zone: configuration.timeZone)
        for line in list.lines(listing, on: screen) { tell("  \(line)") }
        let report = try await ask(VerifyVault(), of: place)
        tell("\n$ steward vault verify")
        tell("  \(report.objects) objects, \(report.bytes) bytes: \(report.isWell ? "all verify" : "DAMAGED")")
        guard report.isWell, listing.comics.count == 2 else {
            throw Fault(.failed, "the demo's vault does not hold two comics that verify")
        }
        let texts = [directories.state.appending("ledger.sqlite"), directories.state.appending("ledger.sqlite-wal")]
        let isNamed = try texts.contains { file in
            try FileStatus.of(file) != nil
                && Data(try Descriptor(file).readAll()).range(of: Data("Night shift".utf8)) != nil
        }
        guard !isNamed else { throw Fault(.failed, "the demo's ledger names a comic of the vault") }
        tell("  their names are nowhere in the ledger")
    }

    /// Waits until the agent is quiet, then shows the outcome of the file.
    private func tellOutcome(
        _ file: BytePath, _ tell: @Sendable (String) -> Void, _ configuration: Configuration
    ) async throws {
        let socket = directories.socket
        _ = try await pool.run { try ControlClient.ask(WaitUntilQuiet(), at: socket) }
        let explanation = try await Explanation.of(base.appending(file), event: nil, configuration, directories)
        for job in explanation.past { for line in job.done { tell("    rule \"\(job.rule)\": \(line)") } }
    }

    private func ask<R: VaultRequest>(
        _ request: R, of vault: VaultPlace, _ secrets: [Credential] = []
    ) async throws -> R.Answer {
        let socket = directories.socket
        return try await pool.run {
            guard let answer = try VaultClient.ask(request, of: vault.name, secrets, at: socket) else {
                throw Fault(.failed, "the demo's agent has ended")
            }
            return answer
        }
    }
}
