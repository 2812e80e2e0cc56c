import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// `steward vault rekey`
struct VaultRekey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Re-encrypt everything with new keys; asks first.",
        discussion: """
            For when a password or a key became known. The vault must be locked. Deposits of this host are ingested first; \
            others, and the contents of its quarantine, must be approved or discarded before. It needs the vault's space a \
            second time while it runs; after an interruption, the same command with the same new password continues. Of \
            all slots only the new one is left, and previously exported keys stop working. Old backups still \
            open with the old password: destroy them.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var new: NewSecretOptions

    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Only say what would be done.")
    var dryRun = false

    struct Plan: Encodable {
        let comics: Int
        /// Bytes to write.
        let bytes: Int64
        /// Bytes free on the disk of the copy.
        let free: Int64

        var lines: [String] {
            [
                "would encrypt \(comics == 1 ? "1 comic" : "\(comics) comics") anew: \(ComicText.bytes(bytes)); \(ComicText.bytes(free)) are free there"
            ]
        }
    }

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            try VaultAlone.require(place, options)
            let strange = try place.open().drops().waiting.count { $0.origin != .ownDeposit }
            guard strange == 0 else {
                throw Fault(
                    .failed,
                    "deposits wait in \(place.path) that this host did not make (\(strange)); ingest them with `steward "
                        + "vault quarantine take-in ID`, or discard them, and try again", path: place.path)
            }
            let source = try unlocking.source(options)
            if dryRun { return try showPlan(place, source) }
            try Consent.require(
                "Encrypt the vault \(place.name) with new keys? All its passwords, key files and exported keys but the new one stop "
                    + "working.",
                yes: yes, json: options.json, otherwise: "nothing was changed")
            let old = try source.read("Old password for the vault \(place.name)")
            let meter = options.meter
            try SealedVault.rekey(
                at: place.path, host: place.hostState(), old: old, new: [new.read()], judge: ArchiveDepositJudge()
            ) { progress in
                switch progress {
                case .ingesting(let done, let total): meter.show(Int64(done), of: Int64(total), "ingesting deposits")
                case .copying(let done, let total):
                    meter.show(Int64(clamping: done), of: Int64(clamping: total), "encrypting again")
                case .verifying(let done, let total):
                    meter.show(Int64(clamping: done), of: Int64(clamping: total), "verifying")
                case .removingOld: meter.show(1, of: 1, "removing the old one")
                }
            }
            meter.clear()
            try show(place)
        }
    }

    private func showPlan(_ place: VaultPlace, _ source: PasswordSource) throws {
        let vault = try place.open()
        let report = try Unlocking(source: source, vault: place.name).run { credential, _ in
            try vault.examine(credential)
        }
        defer { vault.lock() }
        try SealedVault.requireRoomBeside(place.path)
        try vault.requireWhole(report)
        let comics = try vault.list()
        // The copy is made next to the vault.
        let beside = place.path.parent
        var disk = statvfs()
        guard beside.withCString({ statvfs($0, &disk) }) == 0 else {
            throw Fault.system("get the free space of", beside)
        }
        let plan = Plan(
            comics: comics.count,
            bytes: Int64(clamping: comics.flatMap(\.objects).reduce(0) { $0 + $1.length }),
            free: Int64(clamping: UInt64(disk.f_bavail) &* UInt64(disk.f_frsize)))
        try Output.show(plan, lines: plan.lines, json: options.json)
    }

    private func show(_ place: VaultPlace) throws {
        let pin = try VaultDeposit.offered(at: place.path, host: place.hostState())
        let made = VaultInit.Made(vault: place.name, path: place.path, id: pin.vault, fingerprint: pin.fingerprint)
        try Output.show(
            made,
            lines: [
                "the vault \(place.name) has new keys", "fingerprint: \(pin.fingerprint)",
                "Other hosts deposit nothing until they trust it: run `steward vault trust` there.",
                "Previously exported keys no longer work: `steward vault export-key` writes the new one.",
                "Old backups still open with the old password.",
            ], json: options.json)
    }
}
