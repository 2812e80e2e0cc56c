import ArgumentParser

/// Options for reading progress, for comics in the library and in a vault.
struct ReadingOptions: ParsableArguments {
    @Option(name: .long, help: "The page being read, from 1; the last one marks it as read.")
    var set: Int?

    @Flag(name: .long, help: "Mark it as read to the end.")
    var done = false

    @Flag(name: .long, help: "Forget how far it was read, and its bookmarks.")
    var reset = false

    func validate() throws {
        if [set != nil, done, reset].filter({ $0 }).count > 1 {
            throw ValidationError("--set, --done and --reset exclude each other")
        }
    }
}

/// A comic's bookmark; comes after the comic among the arguments.
struct BookmarkOptions: ParsableArguments {
    @Argument(help: "A page, from 1.")
    var page: Int?

    @Flag(name: .long, help: "Remove the bookmark, if there is one.")
    var remove = false

    func validate() throws {
        if remove && page == nil { throw ValidationError("say which page's bookmark to remove") }
    }
}
