import AgentKit
import ArgumentParser
import ComicArchive
import Foundation
import Glibc
import Platform
import TKCommands

/// `steward comics thumbnail`
struct ComicsThumbnail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "thumbnail", abstract: "Make a small JPEG of a comic's cover, or of a page.",
        discussion: """
            It is made by libvips in the caged process and cached in ~/.cache/steward, at most 500 MB of them; the least \
            recently used are removed first.
            """)

    @OptionGroup var options: ComicsOptions

    @Argument(help: "The comic.", completion: .file())
    var file: PathArgument

    @Argument(help: "The page's number, from 1, or `cover`.")
    var page = "cover"

    @OptionGroup var target: PictureOptions

    @Option(name: .long, help: "The maximum size (default: 300x450 for a cover, 200x280 for a page).")
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
            let place = try target.place()
            let operations = try options.plainOperations()
            let picture = try await operations.exportThumbnail(
                file.located, choice, size: size.flatMap(Self.box), to: place
            ) { Output.complain("steward: the thumbnail is not cached: \(explain($0))") }
            try target.show(picture, options)
        }
    }
}
