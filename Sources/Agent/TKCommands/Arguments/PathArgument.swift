import ArgumentParser
import OwnFiles
import Platform

/// A path on the command line, as raw bytes: the only type in which commands take paths. A `String` cannot hold every
/// file name.
package struct PathArgument: ExpressibleByArgument, Hashable, Sendable {
    private let bytes: [UInt8]

    /// From the parser's text.
    package init?(argument: String) {
        GivenWords.noteTaken(asPath: argument)
        bytes = GivenWords.bytes(of: argument)
    }

    /// For default values.
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The path as given.
    package var path: BytePath { BytePath(bytes: bytes) }

    /// `-`: standard input or output.
    package var isStream: Bool { bytes == [UInt8(ascii: "-")] }

    /// Whether it ends with a slash: it means a folder, even if that does not exist yet.
    package var isFolder: Bool { bytes.last == UInt8(ascii: "/") }

    /// Relative to the working directory if not absolute; otherwise as given.
    package var absolute: BytePath { path.isAbsolute ? path : BytePath.workingFolder.appending(path) }

    /// The same without `.` and `..`, resolved purely by text.
    package var standardized: BytePath {
        var parts: [ArraySlice<UInt8>] = []
        for part in absolute.components where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.isEmpty ? "/" : BytePath(bytes: parts.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 })
    }

    /// As given, if it is UTF-8; otherwise nil.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// As given, or with `\xHH` escapes if it is not UTF-8.
    package var shown: String { text ?? BytePath.escape(bytes) }

    package var defaultValueDescription: String { shown }

    package static var defaultCompletionKind: CompletionKind { .file() }
}
