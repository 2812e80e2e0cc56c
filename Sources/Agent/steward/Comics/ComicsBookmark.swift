import AgentKit
import ArgumentParser
import ComicArchive
import Glibc
import Platform
import TKCommands

/// `steward comics bookmark`
struct ComicsBookmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bookmark", abstract: "Show a comic's bookmarks, or set and remove one.",
        discussion: "With a page: adds or removes its bookmark.")

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
        try await options.with { operations, _ in
            let page = bookmark.page
            let change: ComicOperations.BookmarkChange? = page.map { bookmark.remove ? .remove($0) : .toggle($0) }
            let (state, isSet) = try await operations.bookmark(file.located, change, options.meter)
            let list = state.bookmarks.map(String.init).joined(separator: ", ")
            let lines =
                (isSet.map { ["\($0 ? "bookmark on" : "no bookmark on") page \(page ?? 0)"] } ?? [])
                + [list.isEmpty ? "no bookmarks" : "bookmarks: \(list)"]
            try Output.show(
                Answer(file: state.file, bookmarks: state.bookmarks, page: page, isSet: isSet),
                lines: lines, json: options.json)
        }
    }
}
