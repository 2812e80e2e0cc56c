import AgentKit
import ArgumentParser
import ComicArchive
import CommandArguments
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules

/// `steward comics`
struct Comics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comics", abstract: "Look into comics, and keep a library of them in order.",
        discussion: """
            Archives (CBZ, CBR, CB7, CBT, PDF, EPUB) are opened in a process of its own that can reach nothing but \
            the one file it was given. Pages are counted from 1.

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

/// What every command on comics takes.
struct ComicsOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(name: .long, help: "Show no progress bar.")
    var quiet = false

    var json: Bool { common.json }

    var meter: ProgressMeter { .standard(isOff: quiet) }

    /// Where paths that a person types begin.
    static var here: BytePath { BytePath.workingFolder }

    func path(_ argument: PathArgument) -> BytePath { ComicOperations.path(argument.path, from: Self.here) }

    /// The operations of one library: the folder that was named, else the configured one, else the folder one is in. A
    /// configuration that is not there is none; one with errors is complained of.
    func operations(_ folder: PathArgument? = nil) throws -> (ComicOperations, TimeZone) {
        let directories = try common.directories()
        var zone = TimeZone.current
        var root = folder.map(path)
        let isThere = try FileStatus.of(directories.configuration) != nil
        if isThere || common.config != nil {
            if root == nil {
                let configuration = try common.configuration(directories)
                root = configuration.library?.root
                zone = configuration.timeZone
            } else if let configuration = Configuration.load(directories).0 {
                zone = configuration.timeZone
            }
        }
        return (ComicOperations(root: root ?? Self.here, directories: directories), zone)
    }

    /// For what concerns no library: the configuration, which may be broken, is not read.
    func plainOperations() throws -> ComicOperations {
        ComicOperations(root: Self.here, directories: try common.directories())
    }

    /// Runs a command's body as ``Output/guarding(_:)`` does; the errors of comics become faults.
    static func guarding(_ body: () async throws -> Void) async throws {
        try await Output.guarding {
            do {
                try await body()
            } catch let error as InkyPanelsError {
                throw error.fault()
            }
        }
    }

    /// Columns that standard output has; nil where it is no terminal.
    static var width: Int? { TextWidth.terminal(STDOUT_FILENO) }
}
