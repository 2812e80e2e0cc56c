import AgentKit
import ArgumentParser
import ComicArchive
import CommandArguments
import Foundation
import Glibc
import OwnFiles
import Platform
import Rules

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
    func operations(_ folder: PathArgument? = nil) throws -> (ComicOperations, Zone) {
        let directories = try common.directories()
        var zone = Zone.current
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
            } catch let error as ComicError {
                throw error.fault()
            }
        }
    }

    /// Columns that standard output has; nil where it is no terminal.
    static var width: Int? { TextWidth.terminal(STDOUT_FILENO) }
}
