import ArgumentParser
import OwnFiles
import Platform

/// A path on the command line, in the bytes in which it was given: the only type in which a command takes one. A `String`
/// cannot hold every name that a file may have.
package struct PathArgument: ExpressibleByArgument, Hashable, Sendable {
    private let bytes: [UInt8]

    /// What the parser has of it.
    package init?(argument: String) {
        GivenWords.noteTaken(asPath: argument)
        bytes = GivenWords.bytes(of: argument)
    }

    /// For what stands where nothing was given.
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// As it was given.
    package var path: BytePath { BytePath(bytes: bytes) }

    /// `-`: standard input or output.
    package var isStream: Bool { bytes == [UInt8(ascii: "-")] }

    /// Whether it ends with a slash: a folder is meant, also where there is none yet.
    package var isFolder: Bool { bytes.last == UInt8(ascii: "/") }

    /// Below the working directory where it is not absolute; otherwise as it was given.
    package var absolute: BytePath { path.isAbsolute ? path : BytePath.workingFolder.appending(path) }

    /// The same without `.` and `..`, as far as its text alone tells what they mean.
    package var standardized: BytePath {
        var parts: [ArraySlice<UInt8>] = []
        for part in absolute.components where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.isEmpty ? "/" : BytePath(bytes: parts.reduce(into: []) { $0 += [UInt8(ascii: "/")] + $1 })
    }

    /// As it was given, where that is UTF-8; nil otherwise.
    package var text: String? { String(validating: bytes, as: UTF8.self) }

    /// As it was given, or with `\xHH` where that is no UTF-8.
    package var shown: String { text ?? BytePath.escape(bytes) }

    package var defaultValueDescription: String { shown }

    package static var defaultCompletionKind: CompletionKind { .file() }
}
