import AgentKit
import ArgumentParser
import ComicVault
import Platform
import Rules
import TKCommands

/// `steward backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copy ledger, stores and vaults into a new folder, while the agent works.",
        discussion: """
            Makes FOLDER/steward-YYYYMMDDTHHMMSSZ, which has that name only when all of it is on the disk. Files that have \
            not changed since the backup before are shared with it. The places' own files are not in it: they are yours \
            to copy. Nor are keys and passwords. `steward restore --verify FOLDER` proves a backup. docs/operations.md tells \
            more.
            """)

    @OptionGroup var options: CommonOptions
    @Argument(help: "The folder of the backups.", completion: .directory) var folder: PathArgument

    @Option(name: .long, help: "Keep this number of finished backups of this agent, and remove older ones.")
    var keep: Int?

    @Flag(name: .long, help: "Copy everything, and share nothing with the previous backup.")
    var anew = false

    @Flag(name: .long, help: "Include the keys of tk's services (~/.tk/secrets).")
    var withSecrets = false

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep takes a number from 1 on") }
    }

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let configuration = try options.configuration(directories)
            let stores = BackupStore.all(
                directories, vaults: configuration.vaults.map { ($0.name, $0.path) },
                places: configuration.places.map(\.info.root), tk: BackupPaths.drafts, takesSecrets: withSecrets)
            let meter = ProgressMeter.standard(isOff: options.json)
            let backup = try Backup(
                directories, stores, into: folder.absolute,
                forbidden: configuration.places.map { ("the place \($0.info.name)", $0.info.root) },
                version: ProgramVersion.text
            ) { BackupPaths.show($0, on: meter) }
            defer { meter.clear() }
            let report = try backup.run(anew: anew, keep: keep)
            meter.clear()
            try Output.show(report, lines: report.lines, json: options.json)
        }
    }
}
