import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import OwnFiles
import Platform
import Rules
import TKCommands

/// Options of every comic command.
struct ComicsOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    @Flag(name: .long, help: "Show no progress bar.")
    var quiet = false

    var json: Bool { common.json }

    var meter: ProgressMeter { .standard(isOff: quiet) }

    /// The base of relative paths that a user types.
    static var here: BytePath { BytePath.workingFolder }

    /// Runs a command's body on one library, and closes it: the given folder, else the configured one, else the working
    /// directory. A missing configuration is fine; one with errors is reported.
    func with(_ folder: PathArgument? = nil, _ body: (ComicOperations, Zone) async throws -> Void) async throws {
        try await Self.guarding {
            let (operations, zone) = try operations(folder)
            let outcome: Result<Void, any Error>
            do { outcome = .success(try await body(operations, zone)) } catch { outcome = .failure(error) }
            try await operations.close()
            try outcome.get()
        }
    }

    private func operations(_ folder: PathArgument?) throws -> (ComicOperations, Zone) {
        let directories = try common.directories()
        var zone = Zone.current
        var root = folder?.located
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

    /// For commands that need no library: does not read the configuration, which may be broken.
    func plainOperations() throws -> ComicOperations {
        ComicOperations(root: Self.here, directories: try common.directories())
    }

    /// Runs a command's body like ``Output/guarding(_:)``, converting comic errors to faults.
    static func guarding(_ body: () async throws -> Void) async throws {
        try await Output.guarding {
            do {
                try await body()
            } catch let error as ComicError {
                throw error.fault()
            }
        }
    }

    /// Columns of standard output; nil if it is not a terminal.
    static var width: Int? { TextWidth.terminal(STDOUT_FILENO) }
}
