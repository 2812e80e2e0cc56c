import Glibc
import Platform

/// A file as the command line names it. The parser has it as text, in which bytes that are no UTF-8 were replaced.
enum FileArgument {
    /// The file's name in the bytes in which it was given, alone (`draft.md`) or behind `=` (`--output=draft.md`).
    static func path(_ text: String) -> BytePath {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return BytePath(text) }
        for bytes in given where String(decoding: bytes, as: UTF8.self) == text { return BytePath(bytes: bytes) }
        return BytePath(text)
    }

    private static var given: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0] }.flatMap { pointer in
            let bytes = [UInt8](UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
            let value = bytes.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            return [bytes, Array(value)]
        }
    }
}
