import AgentKit
import ArgumentParser
import Glibc
import OwnFiles
import Platform

/// `steward dots`
struct Dots: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dots", abstract: "Show captures as grids of dots, and manage their store.",
        discussion: """
            A capture is a note, a link, a photo or a dot, with the time at which it happened: dropped into the dropbox \
            or added here. A dot of a grid is filled where its hour, day, week or month holds a capture.

            Days and hours are those of the configuration's `time-zone`. All commands work beside a running agent, and \
            without one.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Grids", subcommands: [DotsToday.self, DotsWeek.self, DotsMonth.self, DotsYear.self]),
            CommandGroup(
                name: "Captures", subcommands: [DotsShow.self, DotsSearch.self, DotsAdd.self, DotsDelete.self]),
            CommandGroup(
                name: "The store",
                subcommands: [DotsExport.self, DotsImport.self, DotsBackup.self, DotsCheck.self]),
        ],
        defaultSubcommand: DotsToday.self)
}
