import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import OwnFiles
import Platform
import Rules

/// `steward comics`
struct Comics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comics", abstract: "Inspect comics, and manage a library of them.",
        discussion: """
            Archives (\(ArchiveFormat.comicNames.joined(separator: ", "))) are opened in a separate process that can \
            reach nothing but the one file it was given. Pages are counted from 1.

            The library is the place `library` of the configuration; without one, the folder you are in.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Look", subcommands: [ComicsInspect.self, ComicsList.self, ComicsShow.self, ComicsType.self]),
            CommandGroup(
                name: "Read",
                subcommands: [
                    ComicsPage.self, ComicsThumbnail.self, ComicsProgress.self, ComicsBookmark.self,
                    ComicsFavourite.self,
                ]),
            CommandGroup(
                name: "Put in order", subcommands: [ComicsDuplicates.self, ComicsMove.self, ComicsDelete.self]),
        ])
}
