import ArgumentParser
import Glibc
import OwnFiles
import Platform
import TKCore

/// A draft given to a command.
struct Draft: Sendable {
    /// For display.
    var name: String
    var bytes: [UInt8]
    var content: DraftText
    /// nil for `--text` and standard input.
    var path: BytePath?

    var text: String { content.string }
    /// The draft's syntax.
    var syntax: DraftSyntax { content.syntax }

    /// - Parameter place: the source, for messages.
    /// - Throws: `Fault` (`.refused`) if the bytes are not UTF-8.
    init(name: String, _ bytes: [UInt8], from place: String, path: BytePath? = nil) throws {
        (self.name, self.bytes, self.path) = (name, bytes, path)
        content = try DraftText(bytes, place, path: path)
    }
}

/// Finds the drafts of a command (docs/design/tk.md, "Drafts come in"): files, else `--text`, else standard input
/// unless it is a terminal. Everything here blocks.
enum Input {
    /// Size limit in bytes: no advisor reads longer drafts, and nobody writes them.
    static let limit: Int64 = 16 << 20

    /// The readable drafts, and a sentence for each unreadable one.
    static func drafts(files: [PathArgument], text: String?) throws -> (drafts: [Draft], problems: [String]) {
        if let text {
            guard files.isEmpty else { throw ValidationError("give either files or --text, not both") }
            return ([try Draft(name: "(text)", Array(text.utf8), from: "--text")], [])
        }
        if files.isEmpty {
            guard !Terminal.isTerminal(STDIN_FILENO) else {
                throw ValidationError("name a file, or give the text with --text or on standard input")
            }
            return ([try standardInput()], [])
        }
        guard files.filter(\.isStream).count <= 1 else {
            throw ValidationError("standard input (-) can only be read once")
        }
        var drafts: [Draft] = []
        var problems: [String] = []
        for file in files {
            do {
                drafts.append(file.isStream ? try standardInput() : try read(file.path, name: file.shown))
            } catch let fault as Fault {
                problems.append(fault.message)
            }
        }
        return (drafts, problems)
    }

    /// A single draft; throws if it cannot be read.
    static func draft(file: PathArgument?, text: String?) throws -> Draft {
        let found = try drafts(files: file.map { [$0] } ?? [], text: text)
        if let problem = found.problems.first { throw Fault(.refused, problem) }
        guard let draft = found.drafts.first else { throw ValidationError("name a file, or give the text with --text") }
        return draft
    }

    /// - Parameter name: for display.
    static func read(_ path: BytePath, name: String) throws -> Draft {
        guard !path.isEmpty else { throw Fault(.usage, "a file's name is empty") }
        let opened = try Descriptor(path, follow: true)
        let status = try opened.status()
        if status.kind == .directory { throw Fault(.usage, "\(path) is a folder; name the files in it", path: path) }
        let bytes = status.kind == .file ? try opened.readAll(limit: limit) : try gather(opened.raw, path.description)
        return try Draft(name: name, bytes, from: path.description, path: path)
    }

    private static func standardInput() throws -> Draft {
        try Draft(name: "(stdin)", try gather(STDIN_FILENO, "standard input"), from: "standard input")
    }

    static func gather(_ descriptor: Int32, _ name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                poll(&wait, 1, -1)
                continue
            }
            guard count >= 0 else {
                throw Fault(.failed, "\(name) cannot be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw Fault(.refused, "\(name) holds more than \(limit >> 20) MiB, more than is read as a draft")
            }
        }
    }
}
