import AgentKit
import ArgumentParser
import JSONText
import OwnFiles
import Platform
import Rules
import TKCommands

/// `steward rules import`
struct RulesImport: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make rules from an organize configuration (tfeldmann/organize, version 3).",
        discussion: """
            The rules are printed, or written to a new file with --out. Parts that cannot be imported are reported by line on \
            standard error, and so are the places that steward.yaml must define. Review the rules, and \
            `steward rules try` them, before they go into ~/.config/steward/rules.d.
            """)

    @OptionGroup var options: CommonOptions

    @Argument(help: "organize's configuration.", completion: .file())
    var file: PathArgument

    @Option(name: .long, help: "Write the rules to this file, which must not exist.", completion: .file())
    var out: PathArgument?

    func run() async throws {
        try await Output.guarding {
            let directories = try options.directories()
            let places = Configuration.load(directories).0?.places.map(\.info) ?? []
            let bytes = try ConfigurationFiles.read(file.path, limit: RuleFileReader.limit)
            let imported = try OrganizeImport(
                file: file.path.nameText, bytes: bytes, known: places, home: directories.home)
            if let out { try imported.write(to: out.path) }
            if options.json { return Output.json(try JSONText.shown(imported)) }
            if out == nil { Output.document(imported.text) }
            for line in imported.advice { Output.note(line) }
        }
    }
}
