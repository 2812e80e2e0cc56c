import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// `steward comics page`
struct ComicsPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Extract one page of a comic, byte for byte as it was packed.",
        discussion: """
            In a folder the file is named after the comic and the page, with the ending that its picture calls for. \
            Nothing is overwritten without --force.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page: String

    @OptionGroup var target: PictureOptions

    func validate() throws {
        guard PageChoice(page) != nil else {
            throw ValidationError("`\(page)` is neither a page's number nor `cover`")
        }
        try target.check(options)
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            guard let choice = PageChoice(page) else { throw Fault(.usage, "which page?") }
            let place = try target.place()
            let operations = try options.plainOperations()
            try target.show(try await operations.exportPage(file.located, choice, to: place), options)
        }
    }
}
