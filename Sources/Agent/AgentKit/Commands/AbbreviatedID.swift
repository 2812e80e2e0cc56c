import Platform

extension Array {
    /// The only element whose id begins with the given text.
    ///
    /// - Parameters:
    ///   - kind: what the elements are, for messages: `job`.
    ///   - text: the beginning of the id, safe to print.
    ///   - command: the command that lists the ids.
    /// - Throws: `Fault(.usage)` if there is none, or more than one.
    package func only(_ kind: String, beginning text: String, shownBy command: String) throws -> Element {
        guard let first else {
            throw Fault(.usage, "no \(kind) has an id that begins with \(text); `\(command)` shows them")
        }
        guard count == 1 else {
            throw Fault(.usage, "more than one \(kind) has an id that begins with \(text); give more of its characters")
        }
        return first
    }
}
