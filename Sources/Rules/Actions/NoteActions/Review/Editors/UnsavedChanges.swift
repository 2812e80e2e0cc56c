import Glibc
import Platform

/// How it is known that a file is open in an editor.
package enum UnsavedSign: Sendable, Equatable {
    /// What an editor has left there says that there are changes that are not saved, or may mean so.
    case file(BytePath)
    /// The editor leaves nothing that would say so, but runs.
    case process(name: String, id: Int32)

    /// What is the case with the file of that name, for a sentence that goes on.
    package func tells(of path: BytePath) -> String {
        switch self {
        case .file(let sign):
            // What lies elsewhere is named in full.
            let name = sign.parent == path.parent ? sign.nameText : sign.text
            return "\(path) is open in an editor with changes that are not saved (\(name) says so)"
        case .process(let name, let id):
            return "\(path) is open in \(name) (process \(id)), which does not tell whether all is saved"
        }
    }

    /// Whether a save of the file ends it, and so leads to another look by itself.
    package var endsWithASave: Bool {
        if case .file = self { true } else { false }
    }

    /// When that is over.
    package var end: String {
        switch self {
        case .file: "once it is saved"
        case .process(let name, _): "once \(name) has ended"
        }
    }
}

/// What editors leave of a file while it is open, and whether they say that it has changes that are not saved.
package struct UnsavedChanges: Sendable {
    /// Where editors keep what they do not keep beside the file.
    private let homes: EditorHomes

    package init(environment: [String: String]) { homes = EditorHomes(environment: environment) }

    /// The first sign that a file has changes which are not saved: beside it, where the editors of the agent's user keep
    /// such things, or that an editor runs on it which leaves none. Blocks.
    package func sign(on path: BytePath, _ files: HeldFiles) throws -> UnsavedSign? {
        if let beside = try Self.sign(beside: path, files) { return .file(beside) }
        guard let status = try files.status(path) else { return nil }
        let spot = try files.spot(path)
        let real = try spot.folder.currentPath().appending(name: path.name)
        for name in real == path ? [path] : [path, real] {
            if let elsewhere = try homes.sign(of: name) { return .file(elsewhere) }
        }
        return try EditorProcesses(of: [geteuid(), status.owner]).sign(on: spot, status, files)
    }

    /// The first file beside `path` by which an editor says so, or may mean so.
    ///
    /// vim's swap file and nano's lock tell it themselves, in their 1,008th byte; emacs' and kate's are there only as long
    /// as there are such changes; Word's and LibreOffice's locks do not tell, and count. Blocks.
    package static func sign(beside path: BytePath, _ files: HeldFiles) throws -> BytePath? {
        for suffix in ["swp", "swo", "swn"] {
            let swap = neighbour(path, ".", ".\(suffix)")
            guard let status = try files.status(swap) else { continue }
            if try status.kind != .file || EditorSwap.read(swap, files).map(\.isUnsaved) ?? false { return swap }
        }
        for lock in [
            neighbour(path, ".#", ""), neighbour(path, "~$", ""), neighbour(path, ".~lock.", "#"),
            neighbour(path, ".", ".kate-swp"),
        ] where try files.status(lock) != nil {
            return lock
        }
        // emacs without locks: what it saves by itself goes when the file is saved, but stays after a crash.
        let saved = neighbour(path, "#", "#")
        if let own = try files.status(saved)?.fingerprint.modified,
            let file = try files.status(path)?.fingerprint.modified,
            own > file
        {
            return saved
        }
        return nil
    }

    static func neighbour(_ path: BytePath, _ before: String, _ after: String) -> BytePath {
        path.parent.appending(name: Array(before.utf8) + path.name + Array(after.utf8))
    }
}

/// The head of a vim swap file, which nano's lock imitates.
struct EditorSwap: Sendable {
    let isUnsaved: Bool
    /// Of the editor.
    let process: Int32
    /// Of the file, its lower 32 bits; 0 where it is not told.
    let inode: UInt32
    /// Of the file, as the editor writes it.
    let file: BytePath

    /// Where both keep their flag, and what it is while there are changes.
    private static let flag = 1007
    private static let unsaved: UInt8 = 0x55

    /// Nil where there is none any more; one that cannot be read counts as unsaved.
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
            (isUnsaved, process, inode, file) = (true, 0, 0, BytePath(""))
            return
        }
        func number(at offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(head[offset + $1]) << (8 * $1) } }
        isUnsaved = head[Self.flag] == Self.unsaved
        inode = number(at: 20)
        process = Int32(truncatingIfNeeded: number(at: 24))
        file = BytePath(bytes: head[108..<Self.flag])
    }

    /// Whether it is of that file, wherever it lies: by the name, and by the inode or the way to it.
    ///
    /// - Parameter isHome: whether a folder is the editor's home, by which it may name the file.
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
