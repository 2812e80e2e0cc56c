import ArgumentParser
import Glibc
import OwnFiles
import Platform
import TKCore

/// Runs `tk`, for the program of that name and for `steward`, which is installed under both names.
package func runTK() async { await TK.main() }

/// The command line (docs/design/tk.md): parses, wires and prints; the work is done in TKCore.
///
/// Each command states its name: otherwise the parser would derive it from the type's, for every command at every
/// start.
struct TK: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tk",
        abstract:
            "Writing advisors: suggestions, councils, questions, and a quick pass without any model.",
        discussion: """
            Begin with `tk config init` and `tk config set api_key --stdin`; or without a key: `tk suggest draft.md` \
            then runs the quick pass, and nothing leaves this machine.

            Exit codes: 0 done, 1 failed, 2 there are suggestions (--strict), 64 wrong usage.
            """,
        version: ProgramVersion.text,
        groupedSubcommands: [
            CommandGroup(
                name: "Write",
                subcommands: [
                    Suggest.self, Council.self, Ask.self, Pipe.self, Export.self, JourneyCommand.self, LSP.self,
                ]),
            CommandGroup(name: "Other reviewers", subcommands: [FindingsCommand.self, MCP.self]),
            CommandGroup(name: "Advisors", subcommands: [RolesCommand.self, StoryTypesCommand.self]),
            CommandGroup(
                name: "Set up and look",
                subcommands: [ConfigCommand.self, WordsCommand.self, UsageCommand.self, Search.self]),
        ])

    static func main() async {
        let arguments = GivenWords.words
        // Bypasses the parser, which would first set up all commands and completions, and threads for them.
        if arguments == ["--version"] { return Terminal.line(ProgramVersion.text) }
        do {
            // API keys pass through this process.
            try CoreDumps.forbid()
        } catch {
            Terminal.fail(explain(error))
        }
        if let complaint = UnknownCommand.complaint(arguments, TK.self, path: ["tk"]) {
            Terminal.note("tk: \(complaint)")
            Glibc.exit(64)
        }
        await mainAsGiven()
    }
}

/// Reports an unknown command. The parser would report an unexpected argument, without a suggestion.
enum UnknownCommand {
    /// - Parameter path: the commands so far, as typed.
    /// - Returns: nil if all is well, or if the parser should decide.
    static func complaint(_ arguments: [String], _ command: any ParsableCommand.Type, path: [String]) -> String? {
        let commands = command.configuration.subcommands
        guard !commands.isEmpty, let word = arguments.first, !word.hasPrefix("-"), word != "help" else { return nil }
        if let next = commands.first(where: { $0._commandName == word }) {
            return complaint(Array(arguments.dropFirst()), next, path: path + [word])
        }
        // It may be the argument of the default command.
        if path.count > 1, command.configuration.defaultSubcommand == JourneyShow.self { return nil }
        let line = path.joined(separator: " ")
        let file = BytePath(bytes: GivenWords.bytes(of: word))
        let shown = file.description
        if path.count == 1, (try? FileStatus.of(file)) != nil {
            return "there is no command `\(shown)`; for suggestions about that file: tk suggest \(shown)"
        }
        let hint = NearMiss.hint(for: word, among: commands.map { $0._commandName })
        return "there is no command `\(line) \(shown)`; \(hint) (`\(line) --help`)"
    }
}
