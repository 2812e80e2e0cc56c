import Foundation
import OwnFiles
import Platform

/// Performs `steward init`.
package struct Setup: Sendable {
    package struct Made: Codable, Sendable {
        package var configuration: BytePath
        package var created: [BytePath] = []
        package var existed: [BytePath] = []

        /// For the terminal.
        package func lines(dryRun: Bool) -> [String] {
            created.map { "\(dryRun ? "would make" : "made")   \($0)" }
                + existed.map { "kept   \($0), which exists already" }
                + [
                    "",
                    "Next: `steward check`, then `steward run`. Your own rules go into \(configuration.parent)/rules.d.",
                ]
        }
    }

    private let directories: Directories
    private let base: String

    /// - Parameter base: the folder for the places; `~` is HOME.
    package init(directories: Directories, base: String) {
        self.directories = directories
        self.base = base
    }

    /// Creates what is missing. Blocks.
    package func carryOut(dryRun: Bool) throws -> Made {
        var made = Made(configuration: directories.configuration)
        let root = directories.expand(base, base: BytePath.workingFolder)
        let written = base.hasPrefix("~") ? base : root.text
        let folders =
            ["notes", "drafts", "comics", "dropbox", Configuration.libraryName].map { root.appending($0) }
            + [directories.configuration.parent.appending("rules.d")]
        for folder in folders {
            if try FileStatus.of(folder) != nil {
                made.existed.append(folder)
                continue
            }
            if !dryRun { try Durable.makeDirectory(folder) }
            made.created.append(folder)
        }
        if try FileStatus.of(directories.configuration) != nil {
            made.existed.append(directories.configuration)
        } else {
            if !dryRun {
                let text = ConfigurationTemplate.text(base: written)
                let temporary = try Durable.stage(Array(text.utf8), for: directories.configuration, mode: 0o600)
                if try !Durable.renameNew(temporary, to: directories.configuration) { try Durable.remove(temporary) }
            }
            made.created.append(directories.configuration)
        }
        return made
    }
}
