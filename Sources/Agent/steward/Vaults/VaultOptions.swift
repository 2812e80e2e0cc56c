import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform
import TKCommands

/// Options of every vault command.
struct VaultOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Option(name: .long, help: "The vault's name in the configuration.")
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

    /// - Parameter changesNothing: unless the agent has the vault unlocked, opens it read-only; the command is
    ///   responsible for the warnings of an unlock.
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

    /// Runs the command, in the agent or here, and shows its answer.
    ///
    /// - Parameter changesNothing: as of ``access(_:changesNothing:)``.
    @discardableResult
    func carryOut<C: VaultCommand>(
        _ command: C, _ unlocking: UnlockOptions, changesNothing: Bool = false
    ) throws -> C.Answer {
        let meter = meter
        // Read first: the user may be editing the configuration by the time the command ends.
        let screen = Screen(width: ComicsOptions.width, zone: try configuration().timeZone)
        let access = try access(unlocking.source(self), changesNothing: changesNothing)
        let answer = try access.ask(command, [], outlet(meter))
        access.close()
        meter.clear()
        try Output.show(answer, lines: command.lines(answer, on: screen), json: json)
        return answer
    }

    /// Shows progress; the bytes go to `sink`.
    func outlet(_ meter: ProgressMeter, _ sink: @escaping (UnsafeRawBufferPointer) throws -> Void = { _ in })
        -> VaultOutlet
    {
        VaultOutlet(progress: { meter.show($0, of: $1, $2) }, bytes: sink)
    }

    /// Runs a command's body like ``Output/guarding(_:)``; vault errors become faults, and a wrong password exits with
    /// 77 (EX_NOPERM).
    static func guarding(_ body: () async throws -> Void) async throws {
        try await Output.guarding {
            do {
                // Before any secret is in memory: then it would be too late to shut out an attached debugger.
                try CoreDumps.forbid()
                try await VaultError.coded(body)
            } catch let fault as Fault where fault.code == VaultCode.incorrect {
                Output.complain("steward: \(fault.message)")
                throw ExitCode(77)
            }
        }
    }
}

/// A command that has a vault answer one request.
protocol VaultRequestCommand: AsyncParsableCommand {
    associatedtype Request: VaultCommand
    var options: VaultOptions { get }
    var unlocking: UnlockOptions { get }
    var request: Request { get }
}

extension VaultRequestCommand {
    func run() async throws {
        try await VaultOptions.guarding { try options.carryOut(request, unlocking) }
    }
}
