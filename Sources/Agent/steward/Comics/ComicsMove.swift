import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// `steward comics move`
struct ComicsMove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move", abstract: "Move or rename a comic within the library.",
        discussion: """
            Unlike mv it overwrites nothing (a taken name gets ` (1)`), makes the folders that are needed, does not \
            leave the library, and takes the list of recent comics along.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @Argument(help: "Its new path, or the folder it goes into (with a `/` at the end: one that is made).")
    var to: PathArgument

    @Option(name: .long, help: "The library's folder, if it is not the configured one.", completion: .directory)
    var library: PathArgument?

    func run() async throws {
        try await options.with(library) { operations, _ in
            let moved = try await operations.move(file.located, to: to.located, isFolder: to.isFolder)
            try Output.show(moved, lines: ["moved to \(moved.to)"], json: options.json)
        }
    }
}
