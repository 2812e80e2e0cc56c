/// Whether the agent learns the names of an archive's entries and the contents of its metadata files.
package enum EntryNames: Sendable {
    case told
    /// The worker sends substitutes: names equivalent for ``EntryRole``, blanks for text, and messages that quote
    /// nothing. The verdict is the same; the page order (except in an EPUB) and all metadata of the comic are lost.
    case withheld

    /// For the worker's command line.
    package var words: [String] { self == .withheld ? ["nameless"] : [] }
}
