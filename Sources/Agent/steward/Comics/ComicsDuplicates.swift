import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import JSONText
import Platform
import TKCommands

/// `steward comics duplicates`
struct ComicsDuplicates: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "duplicates", abstract: "Find duplicate comics, and remove the copies.",
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

    @Flag(name: .long, help: "With --remove: say what would be removed, and touch nothing.")
    var dryRun = false

    @Flag(name: .shortAndLong, help: "With --remove: do not ask.")
    var yes = false

    func run() async throws {
        try await options.with(folder) { operations, _ in
            let meter = options.meter
            var review = try await operations.duplicates(meter)
            let isRemoval = remove && !dryRun && review.copies > 0
            if !options.json {
                Output.lines(review.lines(isDryRun: dryRun, isRemoval: isRemoval))
            }
            if isRemoval {
                try Consent.require(
                    "Put \(review.copies == 1 ? "the copy" : "\(review.copies) copies") into the trash?", yes: yes,
                    json: options.json, otherwise: "nothing was removed",
                    hint: "use --yes to remove the copies, or --dry-run to see them")
                review = await operations.removeCopies(review, meter)
                if !options.json { Output.lines(review.removalLines) }
            }
            if options.json { Output.json(try JSONText.shown(review)) }
            if review.hasProblems { throw ExitCode(1) }
        }
    }

}
