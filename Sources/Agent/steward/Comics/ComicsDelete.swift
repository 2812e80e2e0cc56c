import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import JSONText
import Platform
import TKCommands

/// `steward comics delete`
struct ComicsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Move comics of the library to the trash.",
        discussion: "Their reading progress is kept, in case one comes back; a file manager can restore them.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comics.", completion: .file())
    var files: [PathArgument]

    @Option(name: .long, help: "The library's folder, if it is not the configured one.", completion: .directory)
    var library: PathArgument?

    func run() async throws {
        try await options.with(library) { operations, _ in
            var moved: [ComicMoved] = []
            for file in files {
                moved.append(try await operations.delete(file.located))
                if !options.json, let last = moved.last { Output.line("put \(last.from) into the trash") }
            }
            if options.json { Output.json(try JSONText.shown(moved)) }
        }
    }
}
