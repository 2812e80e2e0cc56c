import AgentKit
import ArgumentParser
import ComicArchive
import CommandArguments
import Foundation
import Glibc
import JSONText
import Platform

/// `steward comics duplicates`
struct ComicsDuplicates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates", abstract: "Find comics that are there more than once, and remove the copies.",
        discussion: """
            Only the content counts: `name (1).cbz` with pages of its own is no copy and stays. Of the same content \
            the file stays that is not named like a copy, then the oldest. Copies go into the trash, never for good.

            --remove asks first; where nobody can be asked, --yes is needed.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The folder (default: the configured library, else this folder).", completion: .directory)
    var folder: PathArgument?

    @Flag(name: .long, help: "Put the copies into the trash.")
    var remove = false

    @Flag(name: .long, help: "With --remove: say what would go, and touch nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "With --remove: do not ask.")
    var yes = false

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, _) = try options.operations(folder)
            let meter = options.meter
            var review = try await operations.duplicates(meter)
            let isRemoval = remove && !dryRun && review.copies > 0
            if !options.json {
                Output.lines(review.lines(isDryRun: dryRun, isRemoval: isRemoval))
            }
            if isRemoval {
                guard try isAgreed(review) else {
                    Output.complain("nothing was removed")
                    throw ExitCode(1)
                }
                review = await operations.removeCopies(review, meter)
                if !options.json { Output.lines(review.removalLines) }
            }
            if options.json { Output.json(try JSONText.shown(review)) }
            try await operations.close()
            if review.hasProblems { throw ExitCode(1) }
        }
    }

    private func isAgreed(_ review: DuplicateReview) throws -> Bool {
        if yes { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1, !options.json else {
            throw Fault(.usage, "nobody can be asked here; say --yes to remove the copies, or --dry-run to see them")
        }
        return Question.ask("Put \(review.copies == 1 ? "the copy" : "\(review.copies) copies") into the trash?")
    }
}

/// A question to the person at the terminal.
enum Question {
    /// - Returns: true for `y` and `yes`; false for everything else, an end of input too.
    static func ask(_ text: String) -> Bool {
        Output.ask("\(text) [y/N] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "y" || answer == "yes"
    }
}

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

    @Option(name: .long, help: "The library's folder, where it is not the configured one.", completion: .directory)
    var library: PathArgument?

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, _) = try options.operations(library)
            let moved = try await operations.move(options.path(file), to: options.path(to), isFolder: to.isFolder)
            try Output.show(moved, lines: ["moved to \(moved.to)"], json: options.json)
            try await operations.close()
        }
    }
}

/// `steward comics delete`
struct ComicsDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Put comics of the library into the trash.",
        discussion: "How far they were read is kept, for the day one comes back; a file manager brings it back.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comics.", completion: .file())
    var files: [PathArgument]

    @Option(name: .long, help: "The library's folder, where it is not the configured one.", completion: .directory)
    var library: PathArgument?

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, _) = try options.operations(library)
            var moved: [ComicMoved] = []
            for file in files {
                moved.append(try await operations.delete(options.path(file)))
                if !options.json, let last = moved.last { Output.line("put \(last.from) into the trash") }
            }
            if options.json { Output.json(try JSONText.shown(moved)) }
            try await operations.close()
        }
    }
}
