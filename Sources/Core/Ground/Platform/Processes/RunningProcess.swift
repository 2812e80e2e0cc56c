import Glibc

/// A process as shown by /proc, as far as readable; data of other users or ended processes is left out.
package struct RunningProcess: Sendable {
    package let id: Int32
    /// The kernel's name for it: at most 15 bytes, escaped if not text.
    package let name: String
    /// Without the program itself.
    package let arguments: [BytePath]

    /// The rest of a longer command line is not read.
    private static let longest = 65_536

    /// All processes of these users except this one. Blocks.
    package static func all(of users: Set<uid_t>) -> [RunningProcess] {
        Blocking.call()
        return (reading { try entries("/proc") } ?? []).compactMap { entry in
            guard let id = Int32(String(decoding: entry.name, as: UTF8.self)), id != getpid() else { return nil }
            return RunningProcess(id, of: users)
        }
    }

    /// The kernel's name for a process; nil if there is none of that id.
    package static func name(of id: Int32) -> String? {
        reading { try bytes(BytePath("/proc/\(id)/comm"), 64) }.map(shown)
    }

    private static func shown(_ comm: [UInt8]) -> String { BytePath.escape(comm.filter { $0 != UInt8(ascii: "\n") }) }

    private init?(_ id: Int32, of users: Set<uid_t>) {
        let folder = BytePath("/proc/\(id)")
        guard let owner = Self.reading({ try DirectoryEntry(.nowhere, folder).status()?.owner }) ?? nil,
            users.contains(owner),
            let name = Self.reading({ try Self.bytes(folder.appending("comm"), 64) }),
            let line = Self.reading({ try Self.bytes(folder.appending("cmdline"), Self.longest) })
        else { return nil }
        self.id = id
        self.name = Self.shown(name)
        arguments = line.split(separator: 0).dropFirst().map { BytePath(bytes: $0) }
    }

    /// Whether one of its arguments is this file: the same name, in the same folder.
    package func names(_ file: DirectoryEntry) -> Bool {
        let name = file.path.name
        return arguments.contains { $0.name == name && isFolder($0.parent, file.folder) }
    }

    /// Whether it was started on this folder and nothing else: the folder is its only argument besides options or, if it
    /// has none, its working directory.
    package func isAtRest(in folder: Folder) -> Bool {
        let files = arguments.filter { $0.bytes.first.map { !Self.options.contains($0) } ?? false }
        return (files.isEmpty ? [BytePath("")] : files).allSatisfy { isFolder($0, folder) }
    }

    private static let options = Set("-+".utf8)

    /// The names of its open files, according to the kernel.
    package var openFiles: [BytePath] {
        let folder = BytePath("/proc/\(id)/fd")
        return (Self.reading { try Self.entries(folder) } ?? []).compactMap {
            Self.target(folder.appending(name: $0.name))
        }
    }

    /// Whether its `HOME` is the folder; nil if that is unknown.
    package func hasHome(_ folder: BytePath) -> Bool? {
        let environment = Self.reading { try Self.bytes(BytePath("/proc/\(id)/environ"), Self.longest) } ?? []
        let variable = Array("HOME=/".utf8)
        guard let entry = environment.split(separator: 0).first(where: { $0.starts(with: variable) }) else {
            return nil
        }
        let home = BytePath(bytes: entry.dropFirst(variable.count - 1))
        guard let its = Self.identity("/proc/\(id)/root/", home), let wanted = Self.identity("", folder) else {
            return nil
        }
        return its == wanted
    }

    /// Whether a path, resolved as in this process, is the folder.
    private func isFolder(_ path: BytePath, _ folder: Folder) -> Bool {
        guard let found = Self.identity("/proc/\(id)/\(path.isAbsolute ? "root" : "cwd")/", path),
            let wanted = Self.reading({ try folder.status() })
        else { return false }
        return found == [wanted.device, wanted.inode]
    }

    /// Device and inode of a path's target; nil if there is none, or it is not readable.
    private static func identity(_ root: String, _ path: BytePath) -> [UInt64]? {
        var found = stat()
        guard BytePath(root).appending(path).withCString({ stat($0, &found) }) == 0 else { return nil }
        return [UInt64(found.st_dev), UInt64(found.st_ino)]
    }

    private static func target(_ link: BytePath) -> BytePath? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = link.withCString { readlink($0, &buffer, buffer.count) }
        guard length > 0, buffer[0] == CChar(bitPattern: UInt8(ascii: "/")) else { return nil }
        return BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) })
    }

    private static func entries(_ folder: BytePath) throws -> [ListedEntry] {
        try Folder(DirectoryEntry(.nowhere, folder).open(O_RDONLY | O_DIRECTORY)).entries()
    }

    private static func bytes(_ path: BytePath, _ count: Int) throws -> [UInt8] {
        try DirectoryEntry(.nowhere, path).open().read(at: 0, count: count)
    }

    /// nil if the data is unavailable: the process has ended, or belongs to another user.
    private static func reading<Value>(_ body: () throws -> Value) -> Value? { try? body() }
}
