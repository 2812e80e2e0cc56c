import AgentKit
import ArgumentParser
import ComicVault
import CommandArguments
import Foundation
import Glibc
import Platform

/// What every command on a vault takes.
struct VaultOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(name: .long, help: "Which vault of the configuration is meant.")
    var vault = VaultPlace.standardName

    @Flag(name: .long, help: "Show no progress bar.")
    var quiet = false

    var json: Bool { common.json }

    var meter: ProgressMeter { .standard(isOff: quiet) }

    func directories() throws -> Directories { try common.directories() }

    func configuration() throws -> Configuration { try common.configuration(directories()) }

    func place() throws -> VaultPlace {
        let places = try configuration().vaults
        if let place = places.first(where: { $0.name == vault }) { return place }
        let names = places.map(\.name)
        throw Fault(
            .usage,
            names.isEmpty
                ? "no vault is configured; add `vaults: { \(vault): { path: FOLDER } }` to "
                    + "\(try directories().configuration)"
                : "no vault is called “\(BytePath(vault))”; there are \(names.joined(separator: ", "))")
    }

    /// A vault that is there, locked. Blocks.
    func locked() throws -> SealedVault { try place().open() }

    /// - Parameter changesNothing: where the agent does not have the vault unlocked it is opened only to be looked at;
    ///   what unlocking would warn of is the command's to say.
    func access(_ source: PasswordSource, changesNothing: Bool = false) throws -> VaultAccess {
        let place = try place()
        return VaultAccess(place, socket: try directories().socket) { vault in
            if changesNothing {
                _ = try Unlocking(source: source, vault: place.name).run { credential, _ in
                    try vault.examine(credential)
                }
                return
            }
            let report = try Unlocking(source: source, vault: place.name).run { credential, drops in
                try vault.unlock(credential, dropsTornTail: drops)
            }
            for warning in report.warnings { Output.complain("steward: \(warning)") }
        }
    }

    /// Has the command carried out, by the agent or here, and shows its answer.
    ///
    /// - Parameter changesNothing: as of ``access(_:changesNothing:)``.
    @discardableResult
    func carryOut<C: VaultCommand>(
        _ command: C, _ unlocking: UnlockOptions, changesNothing: Bool = false
    ) throws -> C.Answer {
        let meter = meter
        // Before anything is done: somebody may be editing the configuration when that has ended.
        let screen = Screen(width: ComicsOptions.width, zone: try configuration().timeZone)
        let access = try access(unlocking.source(self), changesNothing: changesNothing)
        let answer = try access.ask(command, [], outlet(meter))
        access.close()
        meter.clear()
        try Output.show(answer, lines: command.lines(answer, on: screen), json: json)
        return answer
    }

    /// Shows how far it has come; the bytes go to `sink`.
    func outlet(_ meter: ProgressMeter, _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void = { _ in })
        -> VaultOutlet
    {
        VaultOutlet(progress: { meter.show($0, of: $1, $2) }, bytes: sink)
    }

    /// Runs a command's body as ``Output/guarding(_:)`` does; errors of a vault become faults, and a wrong password ends
    /// with 77 (EX_NOPERM).
    static func guarding(_ body: () async throws -> Void) async throws {
        try await Output.guarding {
            do {
                // Before any secret is there; with the first one it would be too late for a debugger that is attached.
                try CoreDumps.forbid()
                try await VaultError.coded(body)
            } catch let fault as Fault where fault.code == VaultCode.incorrect {
                Output.complain("steward: \(fault.message)")
                throw ExitCode(77)
            }
        }
    }
}

/// Where the password comes from that opens the vault as it is.
struct UnlockOptions: ParsableArguments {
    @Option(name: .long, help: "Read the password from this open descriptor: one line.")
    var passwordFd: Int32?

    @Option(name: .long, help: "Unlock with this key file instead of a password.", completion: .file())
    var keyFile: PathArgument?

    func validate() throws {
        if passwordFd != nil && keyFile != nil {
            throw ValidationError("--password-fd and --key-file exclude each other")
        }
    }

    /// As asked; else the credential that systemd gave this process, else the terminal.
    func source(_ options: VaultOptions) throws -> PasswordSource {
        if let passwordFd { return try Self.descriptor(passwordFd, "--password-fd") }
        if let keyFile { return .keyFile(ComicOperations.path(keyFile.path, from: ComicsOptions.here)) }
        return try .credential(options.vault, ProcessInfo.processInfo.environment) ?? .terminal
    }

    static func descriptor(_ number: Int32, _ option: String) throws -> PasswordSource {
        guard fcntl(number, F_GETFD) >= 0 else {
            throw Fault(
                .usage, "\(option): the descriptor \(number) is not open; open it as in `\(option) 3 3< FILE`")
        }
        return .descriptor(number)
    }
}

/// Where a new password comes from.
struct NewSecretOptions: ParsableArguments {
    @Option(name: .long, help: "Read the new password from this open descriptor: one line.")
    var newPasswordFd: Int32?

    @Option(
        name: .long, help: "Take this key file (32 to 4,096 random bytes) instead of a new password.",
        completion: .file())
    var newKeyFile: PathArgument?

    func validate() throws {
        if newPasswordFd != nil && newKeyFile != nil {
            throw ValidationError("--new-password-fd and --new-key-file exclude each other")
        }
    }

    func read() throws -> Credential {
        if let newPasswordFd {
            return try NewSecret.read(UnlockOptions.descriptor(newPasswordFd, "--new-password-fd"), "New password")
        }
        if let newKeyFile {
            let file = ComicOperations.path(newKeyFile.path, from: ComicsOptions.here)
            return try NewSecret.read(.keyFile(file), "New key")
        }
        return try NewSecret.read(.terminal, "New password")
    }
}

/// A password or key file that is to be the vault's from now on.
enum NewSecret {
    /// Says so where it is easily guessed, and takes it: whose vault it is decides.
    static func read(_ source: PasswordSource, _ prompt: String) throws -> Credential {
        let credential = try source.read(prompt, again: "Once more")
        if let weakness = credential.weakness { Output.complain("steward: \(weakness)") }
        return credential
    }
}

/// Asks for the password until it is right, three times at a terminal; and what only a person can decide.
struct Unlocking {
    let source: PasswordSource
    let vault: String
    var prompt = "Password"
    /// Whether an incomplete last record may go without a question.
    var isAgreed = false

    func run<R>(_ unlock: (_ credential: Credential, _ dropsTornTail: Bool) throws -> R) throws -> R {
        var attempts = source == .terminal ? 3 : 1
        while true {
            let credential = try source.read("\(prompt) for the vault \(vault)")
            do {
                return try attempt(credential, unlock)
            } catch let fault as Fault where fault.code == VaultCode.incorrect {
                attempts -= 1
                guard attempts > 0 else { throw fault }
                Output.complain("steward: that is not a password of this vault")
            }
        }
    }

    private func attempt<R>(_ credential: Credential, _ unlock: (Credential, Bool) throws -> R) throws -> R {
        do {
            return try VaultError.coded { try unlock(credential, isAgreed) }
        } catch let fault as Fault where fault.code == VaultCode.tornTail && !isAgreed {
            Output.complain("steward: \(fault.message)")
            guard try Consent.asked("Drop the incomplete record, and go on with what stands before it?", yes: false)
            else {
                throw fault
            }
            return try VaultError.coded { try unlock(credential, true) }
        }
    }
}

/// What destroys something: says what it would be, asks, and does it.
struct Destruction: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Do not ask.")
    var yes = false

    @Flag(name: .shortAndLong, help: "Only say what would be done.")
    var dryRun = false

    /// - Parameters:
    ///   - question: about so many things.
    ///   - otherwise: what is said where the answer is no.
    func carryOut<C: VaultDestruction>(
        _ command: C, _ options: VaultOptions, _ source: PasswordSource,
        question: (_ count: Int) -> String, otherwise: String
    ) throws {
        let access = try options.access(source)
        defer { access.close() }
        var command = command
        command.isDryRun = true
        let plan = try access.ask(command)
        if dryRun || plan.items.isEmpty { return try Output.show(plan, lines: plan.lines, json: options.json) }
        if !yes && !options.json { Output.lines(plan.lines) }
        try Consent.require(question(plan.items.count), yes: yes, json: options.json, otherwise: otherwise)
        command.isDryRun = false
        command.narrow(to: plan.items)
        let change = try access.ask(command)
        try Output.show(change, lines: change.lines, json: options.json)
    }
}

/// A yes or no, before something that cannot be taken back.
enum Consent {
    /// - Parameter yes: said on the command line already.
    /// - Throws: `Fault(.usage)` where nobody can be asked.
    static func asked(_ question: String, yes: Bool, json: Bool = false) throws -> Bool {
        if yes { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, !json else {
            throw Fault(.usage, "nobody can be asked here; say --yes if you mean it")
        }
        return Question.ask(question)
    }

    /// Ends the command with 1 unless the answer is yes.
    static func require(_ question: String, yes: Bool, json: Bool = false, otherwise: String) throws {
        guard try asked(question, yes: yes, json: json) else {
            Output.complain(otherwise)
            throw ExitCode(1)
        }
    }
}
