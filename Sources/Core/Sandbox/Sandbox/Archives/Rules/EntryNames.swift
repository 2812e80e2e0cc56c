/// Whether the agent is told what the entries of an archive are called and what its metadata files say.
package enum EntryNames: Sendable {
    case told
    /// The worker sends stand-ins: names that mean the same to ``EntryRole``, blanks for text, and messages that quote
    /// nothing. The verdict is the same; the pages' order, but in an EPUB, and all that is known of the comic are not.
    case withheld

    /// For the worker's command line.
    package var words: [String] { self == .withheld ? ["nameless"] : [] }
}
