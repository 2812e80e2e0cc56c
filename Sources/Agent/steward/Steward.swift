import ArgumentParser
import Platform
import TKCommands

/// The command line: parses, wires and starts; all behaviour is in AgentKit.
///
/// Each command states its name: otherwise the parser would derive it from the type's, for every command at every
/// start, which takes two milliseconds.
@main
struct Steward: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "steward",
        abstract: "Looks after your files: watches folders and applies rules to whatever arrives or changes there.",
        discussion: """
            Begin with `steward init`, which writes a configuration and makes the folders, then `steward run`. \
            `steward explain FILE` says what the rules make of a file and why.

            Exit codes: 0 done, 1 failed, 2 findings (check, doctor, health), 64 wrong usage, 69 no agent runs (health).
            """,
        version: ProgramVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Set up", subcommands: [Init.self, Check.self, Doctor.self, RulesCommand.self, Demo.self]),
            CommandGroup(name: "Run", subcommands: [Run.self, Pause.self, Resume.self, Reload.self, Wait.self]),
            CommandGroup(
                name: "Look",
                subcommands: [Status.self, Health.self, MetricsCommand.self, Log.self, Explain.self, DueCommand.self]),
            CommandGroup(name: "Keep", subcommands: [BackupCommand.self, RestoreCommand.self]),
            CommandGroup(name: "Captures", subcommands: [Dots.self]),
            CommandGroup(name: "Comics", subcommands: [Comics.self, Vault.self]),
            CommandGroup(
                name: "Fix",
                subcommands: [
                    ConfirmCommand.self, Decline.self, Retry.self, Undo.self, Quarantine.self, Losses.self, Blocks.self,
                    OutboxCommand.self, CountersCommand.self, Reprocess.self, Rebuild.self,
                ]),
        ])

    static func main() async {
        // One program under two names: they share most of their libraries, 40 MB.
        if CommandLine.arguments.first?.split(separator: "/").last == "tk" { return await runTK() }
        // Bypasses the parser, which would first set up all commands and completions, and threads for them.
        if CommandLine.arguments.dropFirst().elementsEqual(["--version"]) { return print(ProgramVersion.text) }
        // Before anything else: a thread that already has its own heap arena keeps it.
        SharedHeap.use()
        await mainAsGiven()
    }
}
