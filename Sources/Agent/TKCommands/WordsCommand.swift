import ArgumentParser
import OwnFiles
import Platform
import TKCore

struct WordsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "words", abstract: "Words that count as spelt correctly: your own, and a project's.",
        discussion: """
            Yours are in ~/.tk/words.txt. A project's are in .tk/words.txt of a folder, and count for all drafts below it.
            """,
        subcommands: [WordsList.self, WordsAdd.self, WordsRemove.self], defaultSubcommand: WordsList.self)
}

/// Which list a command is about.
struct WordsOptions: ParsableArguments {
    @Flag(name: .long, help: "The project's list: the nearest .tk/words.txt from here upwards, else a new one here.")
    var project = false

    func file() throws -> WordFile {
        let home = try TKHome(environment: Terminal.environment)
        guard project else { return WordFile(home: home) }
        let here = BytePath.workingFolder
        let nearest = try WordFile.all(above: here).first { $0.path.nameText == WordFile.names[0] }
        // The user's own list is found on the way up as well.
        if let nearest, nearest.path.real != WordFile(home: home).path.real { return nearest }
        return WordFile(here.appending(".tk").appending(WordFile.names[0]))
    }
}

struct WordsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the words.")

    @OptionGroup var options: WordsOptions

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let file = try options.file()
            let words = try file.words()
            if json {
                Terminal.json(
                    [
                        "version": .string(SuggestionJSON.version), "path": .string(file.path.description),
                        "words": .array(words.map { .string($0) }),
                    ])
            } else {
                for word in words { Terminal.line(Printable.line(word)) }
            }
        }
    }
}

struct WordsAdd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add words.")

    @Argument(help: "The words as they are written; one in lower case may also be capitalised.")
    var words: [String]

    @OptionGroup var options: WordsOptions

    func run() async throws {
        try await Terminal.guarding {
            let file = try options.file()
            let new = try file.add(words)
            Terminal.line(
                new.isEmpty
                    ? "They are in \(file.path) already."
                    : "Added to \(file.path): \(new.map { Printable.line($0) }.joined(separator: ", ")).")
        }
    }
}

struct WordsRemove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Remove words.")

    @Argument(help: "The words, as `tk words list` shows them.")
    var words: [String]

    @OptionGroup var options: WordsOptions

    func run() async throws {
        try await Terminal.guarding {
            let file = try options.file()
            let removed = try file.remove(words)
            guard !removed.isEmpty else { throw Fault(.usage, "none of these words is in \(file.path)") }
            Terminal.line("Removed from \(file.path): \(removed.map { Printable.line($0) }.joined(separator: ", ")).")
        }
    }
}
