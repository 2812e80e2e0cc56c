import AgentKit
import ArgumentParser
import Glibc
import Platform
import TKCommands

/// `steward dots add`
struct DotsAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add a note, a link, a photo or a dot.",
        discussion: "It goes only into the store: rules run on files in the dropbox.",
        subcommands: [Note.self, Link.self, Photo.self, Dot.self])

    struct Note: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "note", abstract: "Add a text, from the arguments or from standard input.")

        @OptionGroup var options: DotsOptions
        @OptionGroup var addition: AdditionOptions
        @Argument(help: "The text.") var words: [String] = []

        func run() async throws {
            try await addition.add(options) { .note(text: try AdditionOptions.text(words, "the text of the note")) }
        }
    }

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link", abstract: "Add a web address, from the argument or from standard input.")

        @OptionGroup var options: DotsOptions
        @OptionGroup var addition: AdditionOptions
        @Argument(help: "The address; `https://` is added if missing.") var address: String?

        func run() async throws {
            try await addition.add(options) {
                .link(address: try AdditionOptions.text(address.map { [$0] } ?? [], "the address"))
            }
        }
    }

    struct Photo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "photo", abstract: "Add pictures, as one capture.",
            discussion: "Its time is --time, or else from the EXIF data of the first picture, or else now.")

        @OptionGroup var options: DotsOptions
        @OptionGroup var addition: AdditionOptions
        @Argument(help: "Pictures: JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF.", completion: .file()) var files:
            [PathArgument]

        func run() async throws {
            try await addition.add(options) { .photo(pictures: files.map(\.located)) }
        }
    }

    struct Dot: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "dot", abstract: "Add the moment itself, without text.")

        @OptionGroup var options: DotsOptions
        @OptionGroup var addition: AdditionOptions

        func run() async throws { try await addition.add(options) { .dot } }
    }
}
