import Foundation
import Glibc
import Platform

/// Evidence that a file is open in an editor.
package enum UnsavedSign: Codable, Sendable, Equatable {
    /// A file left by an editor indicates unsaved changes, or may.
    case file(BytePath)
    /// A running editor that leaves no such file.
    case process(name: String, id: Int32)

    /// A clause for messages about the file at that path.
    package func tells(of path: BytePath) -> String {
        switch self {
        case .file(let sign):
            // A file elsewhere is shown with its full path.
            let name = sign.parent == path.parent ? sign.nameText : sign.text
            return "\(path) is open in an editor with changes that are not saved (\(name) says so)"
        case .process(let name, let id):
            return "\(path) is open in \(name) (process \(id)), which does not tell whether all is saved"
        }
    }

    /// Whether saving the file removes the sign, which triggers another look.
    package var endsWithASave: Bool {
        if case .file = self { true } else { false }
    }

    /// The editor's name and process id; nil if the sign does not tell, or the process has ended. Blocks.
    var editor: (name: String, id: Int32)? {
        switch self {
        case .process(let name, let id): return (name, id)
        case .file(let path):
            guard let id = Self.process(path), let name = RunningProcess.name(of: id) else { return nil }
            return (name, id)
        }
    }

    private static func process(_ lock: BytePath) -> Int32? {
        let files = HeldFiles(below: [lock.parent])
        do {
            guard let text = try files.entryIfAny(lock)?.linkText() else {
                return try EditorSwap.read(lock, files).map(\.process).flatMap { $0 > 0 ? $0 : nil }
            }
            // emacs: `user@host.4711:1764300000`.
            let owner = text.bytes.split(separator: UInt8(ascii: ":")).first
            let id = owner?.split(separator: UInt8(ascii: ".")).last
            return id.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
        } catch {
            // Not readable for this user: the sign counts, without a name.
            return nil
        }
    }

    /// When the sign will be gone, for messages.
    package var end: String {
        switch self {
        case .file: "once it is saved"
        case .process(let name, _): "once \(name) has ended"
        }
    }
}

/// Detects unsaved changes from what editors leave behind while a file is open.
package struct UnsavedChanges: Sendable {
    /// Where editors keep files that are not beside the edited one.
    private let homes: EditorHomes
    private let known: Int32?

    /// - Parameters:
    ///   - environment: locates the user's editors' folders.
    ///   - known: process id of an editor that tells by other means what it has open; nil for none.
    package init(
        environment: [String: String] = ProcessInfo.processInfo.environment, besides known: Int32? = nil
    ) {
        homes = EditorHomes(environment: environment)
        self.known = known
    }

    /// The first sign of unsaved changes: a file beside it, a file in a folder of the user's editors, or a running
    /// editor that leaves no files. Blocks.
    ///
    /// - Parameter written: hash of the file as the agent last wrote it; nil if it did not.
    package func sign(
        on path: BytePath, _ files: HeldFiles, written: ContentHash? = nil
    ) throws -> UnsavedSign? {
        if let beside = try Self.sign(beside: path, files, written: written) { return .file(beside) }
        guard let status = try files.status(path) else { return nil }
        let entry = try files.entry(path)
        let real = try entry.folder.currentPath().appending(name: path.name)
        for name in real == path ? [path] : [path, real] {
            if let elsewhere = try homes.sign(of: name) { return .file(elsewhere) }
        }
        return try EditorProcesses(of: [geteuid(), status.owner], besides: known).sign(on: entry, status, files)
    }

    /// The first file beside `path` that indicates unsaved changes, or may.
    ///
    /// vim's swap file and nano's lock have a flag in their 1,008th byte. nano sets it with the first change after a
    /// save, and leaves it when it saves: then the file is newer than the lock, and not as the agent wrote it. Those of emacs and kate exist only while
    /// there are unsaved changes. Locks of Word and LibreOffice do not say, and count as unsaved. Blocks.
    package static func sign(
        beside path: BytePath, _ files: HeldFiles, written: ContentHash? = nil
    ) throws -> BytePath? {
        for suffix in ["swp", "swo", "swn"] {
            let swap = neighbour(path, ".", ".\(suffix)")
            guard let status = try files.status(swap) else { continue }
            guard status.kind == .file else { return swap }
            guard let head = try EditorSwap.read(swap, files), head.isUnsaved else { continue }
            if try head.isOfNano && isSaved(path, after: status, files, written) { continue }
            return swap
        }
        for lock in [
            neighbour(path, ".#", ""), neighbour(path, "~$", ""), neighbour(path, ".~lock.", "#"),
            neighbour(path, ".", ".kate-swp"),
        ] where try files.status(lock) != nil {
            return lock
        }
        // emacs without locks: its auto-save file is removed on save, but stays after a crash.
        let saved = neighbour(path, "#", "#")
        if let own = try files.status(saved)?.fingerprint.modified,
            let file = try files.status(path)?.fingerprint.modified,
            own > file
        {
            return saved
        }
        return nil
    }

    /// Whether somebody else than the agent has saved the file since its lock was written.
    private static func isSaved(
        _ path: BytePath, after lock: FileStatus, _ files: HeldFiles, _ written: ContentHash?
    ) throws -> Bool {
        guard let file = try files.status(path), file.kind == .file,
            file.fingerprint.modified > lock.fingerprint.modified
        else { return false }
        return try written == nil || files.hash(path) != written
    }

    static func neighbour(_ path: BytePath, _ before: String, _ after: String) -> BytePath {
        path.parent.appending(name: Array(before.utf8) + path.name + Array(after.utf8))
    }
}

/// The head of a vim swap file, which nano's lock imitates.
struct EditorSwap: Sendable {
    let isUnsaved: Bool
    /// Whether it is a lock of nano's.
    let isOfNano: Bool
    /// Process id of the editor.
    let process: Int32
    /// Lower 32 bits of the file's inode; 0 if not recorded.
    let inode: UInt32
    /// The file's path, as the editor spells it.
    let file: BytePath

    /// Offset of the flag in both formats, and its value while there are unsaved changes.
    private static let flag = 1007
    private static let unsaved: UInt8 = 0x55

    /// nil if it is gone; an unreadable one counts as unsaved.
    static func read(_ path: BytePath, _ files: HeldFiles) throws -> EditorSwap? {
        do {
            return EditorSwap(try files.open(path).read(at: 0, count: flag + 1))
        } catch let fault as Fault where fault.errno == ENOENT {
            return nil
        } catch let fault as Fault where fault.errno == EACCES || fault.errno == ELOOP {
            return EditorSwap([])
        }
    }

    private init(_ head: [UInt8]) {
        guard head.count > Self.flag, head.starts(with: Array("b0".utf8)) else {
            (isUnsaved, isOfNano, process, inode, file) = (true, false, 0, 0, BytePath(""))
            return
        }
        func number(at offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(head[offset + $1]) << (8 * $1) } }
        isUnsaved = head[Self.flag] == Self.unsaved
        isOfNano = head[2...].starts(with: "nano".utf8)
        inode = number(at: 20)
        process = Int32(truncatingIfNeeded: number(at: 24))
        file = BytePath(bytes: head[108..<Self.flag])
    }

    /// Whether the swap file belongs to that file: by name, and by inode or path.
    ///
    /// - Parameter isHome: whether a folder is the editor's home, which it may abbreviate to `~`.
    func isOf(_ path: BytePath, _ status: FileStatus, isHome: (BytePath) -> Bool) -> Bool {
        guard file.name == path.name else { return false }
        if inode != 0, inode == UInt32(truncatingIfNeeded: status.inode) { return true }
        guard file.bytes.first == UInt8(ascii: "~") else {
            return path.bytes.suffix(file.bytes.count) == file.bytes[...]
        }
        // `~/drafts/essay.md`, or `~me/drafts/essay.md`.
        let way = file.bytes.drop { $0 != UInt8(ascii: "/") }
        return path.bytes.suffix(way.count) == way && isHome(BytePath(bytes: path.bytes.dropLast(way.count)))
    }
}
