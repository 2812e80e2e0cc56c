import AgentKit
import ArgumentParser
import ComicArchive
import CommandArguments
import Foundation
import Glibc
import Platform

/// `steward comics page`
struct ComicsPage: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Take one page out of a comic, byte for byte as it was packed.",
        discussion: """
            In a folder the file is named after the comic and the page, with the ending that its picture calls for. \
            Nothing is overwritten without --force.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page: String

    @OptionGroup var target: PictureOptions

    func validate() throws {
        guard PageChoice(page) != nil else {
            throw ValidationError("`\(page)` is neither a page's number nor `cover`")
        }
        try target.check(options)
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            guard let choice = PageChoice(page) else { throw Fault(.usage, "which page?") }
            let place = try target.place(options)
            let operations = try options.plainOperations()
            try target.show(try await operations.exportPage(options.path(file), choice, to: place), options)
        }
    }
}

/// `steward comics thumbnail`
struct ComicsThumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Make a small JPEG of a comic's cover, or of a page.",
        discussion: """
            It is made in the caged process by libvips and kept in ~/.cache/steward, at most 500 MB of them; what was \
            not used longest goes first.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page = "cover"

    @OptionGroup var target: PictureOptions

    @Option(name: .long, help: "The box that it fits in (default: 300x450 for a cover, 200x280 for a page).")
    var size: String?

    private static func box(_ text: String) -> ThumbnailSize? {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1],
            (1...ThumbnailSize.limit).contains(width), (1...ThumbnailSize.limit).contains(height)
        else { return nil }
        return ThumbnailSize(width: width, height: height)
    }

    func validate() throws {
        guard PageChoice(page) != nil else {
            throw ValidationError("`\(page)` is neither a page's number nor `cover`")
        }
        if let size, Self.box(size) == nil {
            throw ValidationError(
                "`\(size)` is not a size; write it as 300x450, each at most \(ThumbnailSize.limit)")
        }
        try target.check(options)
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            guard let choice = PageChoice(page) else { throw Fault(.usage, "which page?") }
            let place = try target.place(options)
            let operations = try options.plainOperations()
            let picture = try await operations.exportThumbnail(
                options.path(file), choice, size: size.flatMap(Self.box), to: place
            ) { Output.complain("steward: the thumbnail is not kept: \(explain($0))") }
            try target.show(picture, options)
        }
    }
}

/// Where a picture goes.
struct PictureOptions: ParsableArguments {
    @Option(name: .shortAndLong, help: "The file to write, or a folder; `-` is standard output.", completion: .file())
    var output: PathArgument

    @Flag(name: .shortAndLong, help: "Replace a file that is there already.")
    var force = false

    func check(_ options: ComicsOptions) throws {
        if output.isStream && options.json {
            throw ValidationError("standard output cannot take both the picture and JSON; write the picture to a file")
        }
    }

    func place(_ options: ComicsOptions) throws -> PictureTarget {
        guard output.isStream else {
            return .path(options.path(output), isFolder: output.isFolder, replaces: force)
        }
        if isatty(STDOUT_FILENO) == 1 {
            throw Fault(.usage, "a picture would garble the terminal; give a path, or send it into a pipe")
        }
        return .standardOutput
    }

    func show(_ picture: ComicPicture, _ options: ComicsOptions) throws {
        guard output.isStream else { return try Output.show(picture, lines: picture.lines, json: options.json) }
        for line in picture.lines where !options.quiet { Output.complain(line) }
    }
}

/// `steward comics progress`
struct ComicsProgress: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress", abstract: "Show or set how far a comic has been read.",
        discussion: "A comic is known by its content, so that a renamed or moved one keeps its place.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @OptionGroup var mark: ReadingOptions

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, zone) = try options.operations()
            let change: ComicOperations.ReadingChange? =
                if let page = mark.set { .page(page) } else if mark.done { .done } else if mark.reset { .reset } else {
                    nil
                }
            let state = try await operations.reading(options.path(file), change, options.meter)
            try Output.show(state, lines: state.lines(zone: zone), json: options.json)
            try await operations.close()
        }
    }
}

/// `steward comics bookmark`
struct ComicsBookmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Show a comic's bookmarks, or set and remove one.",
        discussion: "With a page: sets a bookmark where there is none, removes it where there is one.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @OptionGroup var bookmark: BookmarkOptions

    struct Answer: Encodable {
        let file: BytePath
        let bookmarks: [Int]
        let page: Int?
        let isSet: Bool?
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, _) = try options.operations()
            let page = bookmark.page
            let change: ComicOperations.BookmarkChange? = page.map { bookmark.remove ? .remove($0) : .toggle($0) }
            let (state, isSet) = try await operations.bookmark(options.path(file), change, options.meter)
            let list = state.bookmarks.map(String.init).joined(separator: ", ")
            let lines =
                (isSet.map { ["\($0 ? "bookmark on" : "no bookmark on") page \(page ?? 0)"] } ?? [])
                + [list.isEmpty ? "no bookmarks" : "bookmarks: \(list)"]
            try Output.show(
                Answer(file: state.file, bookmarks: state.bookmarks, page: page, isSet: isSet),
                lines: lines, json: options.json)
            try await operations.close()
        }
    }
}

/// `steward comics favourite`
struct ComicsFavourite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "favourite", abstract: "Mark comics as favourites, or show those that are.")

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comics to mark; without one, all favourites are shown.", completion: .file())
    var files: [PathArgument] = []

    @Flag(name: .long, help: "Take the mark away.")
    var remove = false

    func validate() throws {
        if remove && files.isEmpty { throw ValidationError("say which comics are no favourites any more") }
    }

    func run() async throws {
        try await ComicsOptions.guarding {
            let (operations, zone) = try options.operations()
            for file in files { try await operations.setFavourite(!remove, options.path(file), options.meter) }
            let all = try await operations.favourites()
            let lines = all.map { $0.line(zone: zone) }
            try Output.show(all, lines: lines.isEmpty ? ["no favourites"] : lines, json: options.json)
            try await operations.close()
        }
    }
}
