import Platform

extension Array {
    /// The one of these that the beginning of an id means.
    ///
    /// - Parameters:
    ///   - kind: what they are, in one word or a few: `job`.
    ///   - text: the beginning that was given, safe to print.
    ///   - command: which command shows their ids.
    /// - Throws: `Fault(.usage)` where there is none, or more than one.
    package func only(_ kind: String, beginning text: String, shownBy command: String) throws -> Element {
        guard let first else {
            throw Fault(.usage, "no \(kind) has an id that begins with \(text); `\(command)` shows them")
        }
        guard count == 1 else {
            throw Fault(.usage, "more than one \(kind) has an id that begins with \(text); give more of it")
        }
        return first
    }
}
