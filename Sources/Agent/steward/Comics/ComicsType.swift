import AgentKit
import ArgumentParser
import ComicArchive
import Platform
import TKCommands

/// `steward comics type`
struct ComicsType: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "type", abstract: "Identify files by their first bytes, then by their names.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The files.", completion: .file())
    var files: [PathArgument]

    func run() async throws {
        try await ComicsOptions.guarding {
            let operations = try options.plainOperations()
            var typed: [ComicTyped] = []
            for file in files { typed.append(try await operations.typed(file.located)) }
            try Output.show(typed, lines: typed.map(\.line), json: options.json)
        }
    }
}
