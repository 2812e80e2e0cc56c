import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// `steward comics favourite`
struct ComicsFavourite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "favourite", abstract: "Mark comics as favourites, or show those that are.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comics to mark; without one, all favourites are shown.", completion: .file())
    var files: [PathArgument] = []

    @Flag(name: .long, help: "Remove the mark.")
    var remove = false

    func validate() throws {
        if remove && files.isEmpty { throw ValidationError("name the comics to remove from the favourites") }
    }

    func run() async throws {
        try await options.with { operations, zone in
            for file in files { try await operations.setFavourite(!remove, file.located, options.meter) }
            let all = try await operations.favourites()
            let lines = all.map { $0.line(zone: zone) }
            try Output.show(all, lines: lines.isEmpty ? ["no favourites"] : lines, json: options.json)
        }
    }
}
