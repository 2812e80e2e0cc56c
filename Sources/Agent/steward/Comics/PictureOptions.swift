import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// The destination of a picture.
struct PictureOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "The file to write, or a folder; `-` is standard output.", completion: .file())
    var output: PathArgument

    @Flag(name: .shortAndLong, help: "Replace an existing file.")
    var force = false

    func check(_ options: ComicsOptions) throws {
        if output.isStream && options.json {
            throw ValidationError("standard output cannot take both the picture and JSON; write the picture to a file")
        }
    }

    func place() throws -> PictureTarget { try output.target(replaces: force) }

    func show(_ picture: ComicPicture, _ options: ComicsOptions) throws {
        guard output.isStream else { return try Output.show(picture, lines: picture.lines, json: options.json) }
        for line in picture.lines where !options.quiet { Output.complain(line) }
    }
}

extension PathArgument {
    /// The path that is meant (``ComicOperations/path(_:from:)``).
    var located: BytePath { ComicOperations.path(path, from: ComicsOptions.here) }

    /// - Parameter what: what a terminal cannot show.
    func target(replaces: Bool, of what: String = "a picture") throws -> PictureTarget {
        guard isStream else { return .path(located, isFolder: isFolder, replaces: replaces) }
        if isatty(STDOUT_FILENO) == 1 {
            throw Fault(.usage, "\(what) would garble the terminal; give a path, or send it into a pipe")
        }
        return .standardOutput
    }
}
