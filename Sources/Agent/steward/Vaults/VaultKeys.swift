import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Glibc
import Platform

/// `steward vault passwd`
struct VaultPasswd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "passwd", abstract: "Change a password or key file.",
        discussion: """
            Takes no longer for a large vault. Other slots stay as they are, and copies of the vault made before still \
            open with the old password: after a password was found out, only `steward vault rekey` helps.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var new: NewSecretOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            let vault = try place.open()
            // First of all: who does not know the old one need not think of a new one.
            let old = try Unlocking(source: unlocking.source(options), vault: place.name, prompt: "Old password").run {
                credential, _ in
                _ = try KeySlots(vault.folder, vault.description).open(credential)
                return credential
            }
            let credential = try new.read()
            // It need not be unlocked: the old password is given.
            let access = VaultAccess(place, socket: try options.directories().socket) { _ in }
            let change = try access.ask(ChangeVaultPassword(), [old, credential])
            let others = try vault.slots().count - 1
            let stay = others == 1 ? "1 other slot stays" : "\(others) other slots stay"
            let rest = others > 0 ? ["\(stay) valid: `steward vault slots`"] : []
            try Output.show(
                change,
                lines: change.lines + rest + ["Copies of the vault made before still open with the old one."],
                json: options.json)
        }
    }
}

/// `steward vault slots`
struct VaultSlots: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slots", abstract: "The passwords and key files that open the vault, eight at most.",
        subcommands: [VaultSlotList.self, VaultSlotAdd.self, VaultSlotRemove.self],
        defaultSubcommand: VaultSlotList.self)
}

/// `steward vault slots list`
struct VaultSlotList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the slots; needs no password.",
        discussion: "Ends with 2 where one is damaged.")

    struct Line: Encodable {
        let id: SlotID
        /// `password` or `key file`; nil where it is damaged.
        let kind: String?
        let problem: String?
    }

    @OptionGroup var options: VaultOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let slots = try options.locked().slots().map {
                Line(id: $0.id, kind: $0.kind?.description, problem: $0.damage?.description)
            }
            let lines = slots.map { "\($0.id)  \($0.kind ?? $0.problem ?? "")" }
            try Output.show(slots, lines: lines, json: options.json)
            if slots.contains(where: { $0.problem != nil }) { throw ExitCode(2) }
        }
    }
}

/// `steward vault slots add`
struct VaultSlotAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a password or key file that opens the vault as well.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions
    @OptionGroup var new: NewSecretOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let access = try options.access(unlocking.source(options))
            // First of all: who has no way in need not think of a new password.
            _ = try access.ask(ListVaultComics())
            let change = try access.ask(AddVaultSlot(), [new.read()])
            access.close()
            try Output.show(change, lines: change.lines, json: options.json)
        }
    }
}

/// `steward vault slots remove`
struct VaultSlotRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove a slot; asks first. The last one stays.",
        discussion: "Copies of the vault made before still open with it.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Argument(help: "The slot's id, or the beginning of it.")
    var slot: String

    @OptionGroup var destruction: Destruction

    func run() async throws {
        try await VaultOptions.guarding {
            try destruction.carryOut(
                RemoveVaultSlot(slot), options, unlocking.source(options),
                question: { _ in "Remove it? What it is made of will not open the vault any more." },
                otherwise: "nothing was removed")
        }
    }
}

/// `steward vault rekey`
struct VaultRekey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey", abstract: "Encrypt everything anew with new keys; asks first.",
        discussion: """
            For when a password or a key was found out. The vault must be locked. Deposits of this host are taken in first; \
            others, and what lies in its quarantine, have to be approved or discarded before. It takes the vault's space a \
            second time while it runs; when it was interrupted, the same command with the same new password goes on. Of \
            all slots only the new one is left, and keys that were exported before open nothing any more. Old backups still \
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
        /// Bytes to be written.
        let bytes: Int64
        /// Bytes free where the copy is made.
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
                    "deposits wait in \(place.path) that this host has not made (\(strange)); take them in with `steward "
                        + "vault quarantine take-in ID`, or discard them, and try again", path: place.path)
            }
            let source = try unlocking.source(options)
            if dryRun { return try showPlan(place, source) }
            try Consent.require(
                "Encrypt the vault \(place.name) anew? All its passwords, key files and exported keys but the new one stop "
                    + "working.",
                yes: yes, json: options.json, otherwise: "nothing was changed")
            let old = try source.read("Old password for the vault \(place.name)")
            let meter = options.meter
            try SealedVault.rekey(
                at: place.path, host: place.hostState(), old: old, new: [new.read()], judge: ArchiveDepositJudge()
            ) { progress in
                switch progress {
                case .ingesting(let done, let total): meter.show(Int64(done), of: Int64(total), "taking in deposits")
                case .copying(let done, let total):
                    meter.show(Int64(clamping: done), of: Int64(clamping: total), "encrypting anew")
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
        // The copy is made beside the vault.
        let beside = place.path.parent
        var disk = statvfs()
        guard beside.withCString({ statvfs($0, &disk) }) == 0 else {
            throw Fault.system("look at the free space of", beside)
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
                "Other hosts deposit nothing until they trust it: `steward vault trust` there.",
                "Keys that were exported before open nothing any more: `steward vault export-key` writes the new one.",
                "Old backups still open with the old password.",
            ], json: options.json)
    }
}

/// `steward vault export-key`
struct VaultExportKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export-key", abstract: "Write the vault's own key to a file, for the day all passwords are lost.",
        discussion: """
            Whoever has the file and the vault can read everything. Keep it offline, and not where backups of the vault \
            are. It also carries the key that tells this installation's backups from others (`steward restore --key`). The \
            vault must be locked: the password is asked for, even by the agent's own user.
            """)

    @OptionGroup var options: VaultOptions
    @OptionGroup var unlocking: UnlockOptions

    @Option(name: .shortAndLong, help: "The file to make; it must not exist.", completion: .file())
    var output: PathArgument

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            try VaultAlone.require(place, options)
            let vault = try place.open()
            let source = try unlocking.source(options)
            _ = try Unlocking(source: source, vault: place.name).run { try vault.unlock($0, dropsTornTail: $1) }
            let path = ComicOperations.path(output.path, from: ComicsOptions.here)
            do {
                try vault.exportKey(to: path, backupKey: BackupKey.make(in: options.directories().state).bytes)
            } catch let fault as Fault where fault.errno == EEXIST {
                throw Fault(.failed, "\(path) is there already; give another name", path: path, errno: EEXIST)
            }
            vault.lock()
            try Output.show(
                ["path": path.description],
                lines: ["wrote \(path); whoever has it and the vault can read everything"], json: options.json)
        }
    }
}

/// `steward vault import-key`
struct VaultImportKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-key", abstract: "Make a new slot from a key that was exported.",
        discussion: "For when every password is lost. The vault must be locked.")

    @OptionGroup var options: VaultOptions
    @OptionGroup var new: NewSecretOptions

    @Argument(help: "The exported key.", completion: .file())
    var file: PathArgument

    func run() async throws {
        try await VaultOptions.guarding {
            let place = try options.place()
            try VaultAlone.require(place, options)
            let slot = try place.open().importKey(
                ComicOperations.path(file.path, from: ComicsOptions.here), credential: new.read())
            let change = VaultChange(slot: slot, done: "added the slot")
            try Output.show(change, lines: change.lines, json: options.json)
        }
    }
}

/// For what the agent must not hold the keys during.
enum VaultAlone {
    static func require(_ place: VaultPlace, _ options: VaultOptions) throws {
        guard try VaultStatus.asked(place, options.directories().socket).isUnlocked else { return }
        throw Fault(
            .failed,
            "the agent has the vault \(place.name) unlocked; run `steward vault lock` first, and this again")
    }
}
