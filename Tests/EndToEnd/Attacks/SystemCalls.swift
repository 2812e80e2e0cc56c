import Foundation
import OwnFiles
import Platform
import TestSupport

/// The output of `strace -ff -y -ttt` on an agent: the calls that name a file, and those among them that access a
/// person's file by its path.
struct SystemCalls {
    struct Call {
        let time: Double
        let thread: Substring
        let name: Substring
        let line: Substring
        let arguments: [Substring]
        /// The path of the returned descriptor.
        let opened: String?
        /// Whether the thread reads events: its looks are hints.
        var isWatcher = false
    }

    let calls: [Call]

    /// The command prefix for `steward run`.
    ///
    /// The tracer is not the agent's parent (`-D`), so signals reach the agent.
    ///
    /// - Parameter traced: as in `strace -e trace=`.
    static func wrapper(_ folder: BytePath, _ traced: String = "%file,fchdir") -> [String] {
        [
            "/usr/bin/strace", "-D", "-ff", "-y", "-ttt", "-s", "4096", "-e", "trace=\(traced)", "-o",
            folder.appending("trace").text,
        ]
    }

    init(_ folder: BytePath) throws {
        var all: [Call] = []
        for file in try listDirectory(folder) {
            let text = try TemporaryFolder.text(folder.appending(name: file.name))
            let thread = Substring(String(decoding: file.name, as: UTF8.self))
            var own = text.split(separator: "\n").compactMap { Self.parse($0, thread) }
            // Calls of a program started by a rule are its own business.
            let ours = own.firstIndex { call in
                call.name == "execve" && call.line.hasSuffix(" = 0")
                    && !BytePath(call.arguments.first.map(Self.unquoted) ?? "").nameText.hasPrefix("steward")
            }
            if let ours { own = Array(own[...ours]) }
            let isWatcher = own.contains { $0.name == "inotify_add_watch" }
            all += own.map { call in
                var call = call
                call.isWatcher = isWatcher
                return call
            }
        }
        calls = all.sorted { $0.time < $1.time }
    }

    private static func parse(_ line: Substring, _ thread: Substring) -> Call? {
        guard let space = line.firstIndex(of: " "), let time = Double(line[..<space]) else { return nil }
        let rest = line[line.index(after: space)...]
        guard let open = rest.firstIndex(of: "("), let end = rest.range(of: ") = ", options: .backwards) else {
            return nil
        }
        let result = rest[end.upperBound...]
        let opened = result.firstIndex(of: "<").map { String(result[result.index(after: $0)...].dropLast()) }
        return Call(
            time: time, thread: thread, name: rest[..<open], line: rest,
            arguments: split(rest[rest.index(after: open)..<end.lowerBound]), opened: opened)
    }

    /// Splits arguments at commas outside quotes, braces and brackets.
    private static func split(_ text: Substring) -> [Substring] {
        var parts: [Substring] = []
        var (start, depth, isQuoted, isEscaped) = (text.startIndex, 0, false, false)
        for index in text.indices {
            let character = text[index]
            if isEscaped {
                isEscaped = false
            } else if isQuoted {
                if character == "\\" { isEscaped = true } else if character == "\"" { isQuoted = false }
            } else {
                switch character {
                case "\"": isQuoted = true
                case "{", "[", "<", "(": depth += 1
                case "}", "]", ">", ")": depth -= 1
                case "," where depth == 0:
                    parts.append(text[start..<index])
                    start = text.index(after: index)
                default: break
                }
            }
        }
        parts.append(text[start...])
        return parts.map { $0.drop { $0 == " " } }
    }

    private static func unquoted(_ text: Substring) -> String { String(text.drop { $0 == "\"" }.prefix { $0 != "\"" }) }

    // MARK: Paths

    /// A file named by a call.
    private struct Named {
        /// The path of the folder passed as a descriptor; nil if there was none.
        let folder: String?
        let text: String

        var absolute: String { text.hasPrefix("/") ? text : (folder ?? "") + "/" + text }
    }

    private static let pairs: [Substring: [Int]] = ["renameat": [0, 2], "renameat2": [0, 2], "linkat": [0, 2]]

    private static func named(_ call: Call) -> [Named] {
        let all = call.arguments
        func text(_ index: Int) -> String? {
            all.indices.contains(index) && all[index].hasPrefix("\"") ? unquoted(all[index]) : nil
        }
        func plain(_ indices: [Int]) -> [Named] { indices.compactMap { text($0).map { Named(folder: nil, text: $0) } } }
        func at(_ index: Int) -> Named? {
            guard let name = text(index + 1), let open = all[index].firstIndex(of: "<") else { return nil }
            let folder = String(all[index][all[index].index(after: open)...].dropLast())
            // The working folder is a path too: it does not show where the agent meant to be.
            return Named(folder: all[index].hasPrefix("AT_FDCWD") ? nil : folder, text: name)
        }
        switch call.name {
        case "inotify_add_watch": return plain([1])
        case "symlink": return plain([1])
        case "symlinkat": return [at(1)].compactMap { $0 }
        case "rename", "link": return plain([0, 1])
        default:
            if let pair = pairs[call.name] { return pair.compactMap(at) }
            if all.first?.contains("<") == true { return [at(0)].compactMap { $0 } }
            return plain([0])
        }
    }

    // MARK: Offences

    private static let looks: Set<Substring> = [
        "stat", "lstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "inotify_add_watch", "statfs",
    ]

    private static func isLook(_ call: Call) -> Bool {
        looks.contains(call.name)
            || call.name.hasPrefix("open") && (call.line.contains("O_PATH") || call.line.contains("O_DIRECTORY"))
    }

    /// Whether the name is resolved by path: all of it from the root, or several components at once, without a
    /// guarantee from the kernel that none of them is a link.
    private static func isByPath(_ call: Call, _ named: Named, below root: String) -> Bool {
        guard named.absolute.hasPrefix(root + "/"), !named.text.isEmpty else { return false }
        guard let folder = named.folder, !named.text.hasPrefix("/") else { return true }
        guard folder == root || folder.hasPrefix(root + "/") else { return true }
        if call.name == "openat2" {
            return !["RESOLVE_BENEATH", "RESOLVE_NO_SYMLINKS"].allSatisfy { call.line.contains($0) }
        }
        if named.text.contains("/") { return true }
        // A single name in an open folder is fine, but if it is a link it must not be followed.
        return call.name == "openat" && !call.line.contains("O_NOFOLLOW") && named.text != "."
    }

    /// The calls that open, read or change something below one of the places by its path, excluding looks.
    func uses(below places: [BytePath]) -> [String] {
        calls.filter { call in
            !Self.isLook(call)
                && Self.named(call).contains { named in
                    places.contains { Self.isByPath(call, named, below: $0.text) }
                }
        }.map { "\($0.thread) \($0.line)" }
    }

    /// The calls that look at one of these files by path after it was first opened, excluding the watcher's thread.
    func looks(at files: [BytePath], below places: [BytePath]) -> [String] {
        files.flatMap { file -> [String] in
            guard let first = calls.first(where: { $0.opened == file.text }) else { return [] }
            return calls.filter { call in
                call.time > first.time && !call.isWatcher && Self.isLook(call)
                    && Self.named(call).contains { named in
                        named.absolute == file.text
                            && places.contains { Self.isByPath(call, named, below: $0.text) }
                    }
            }.map { "\($0.thread) \($0.line)" }
        }
    }
}
