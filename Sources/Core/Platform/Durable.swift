import CLinux
import Glibc

/// Changes to the file system that are on the disk when they return (write, fsync, rename, fsync of the folder: each
/// of the four was measured to be needed). Everything here blocks.
package enum Durable {
    /// Makes the folder and those above it, with this mode where it has to make one; syncs each new name.
    ///
    /// - Parameter root: a folder that may be away and is never made: an unmounted disk, say.
    /// - Throws: `Fault`; transient where `root` is not there.
    package static func makeDirectory(_ path: BytePath, below root: BytePath? = nil, mode: mode_t = 0o755) throws {
        if path.isEmpty { return }
        if let found = try FileStatus.of(path) {
            if found.kind == .directory { return }
            // A symbolic link to a folder is the user's way of putting it elsewhere.
            var target = stat()
            if path.withCString({ stat($0, &target) }) == 0, target.st_mode & S_IFMT == S_IFDIR { return }
            throw Fault(.failed, "\(path) is in the way: a folder is needed there", path: path)
        }
        if path == root { throw Fault(.transient, "\(path) is not there, and is not made anew", path: path) }
        try makeDirectory(path.parent, below: root, mode: mode)
        guard path.withCString({ mkdir($0, mode) }) == 0 || errno == EEXIST else {
            throw Fault.system("make the folder", path)
        }
        FaultPoint.reach("folder made")
        try syncDirectory(path.parent)
    }

    package static func syncDirectory(_ path: BytePath) throws {
        try Descriptor(path.isEmpty ? "." : path, O_RDONLY | O_DIRECTORY, follow: true).sync()
    }

    /// A name that no other file of this or another host's agent has: `.steward-<host>-<16 hex>`.
    package static func temporaryName(in directory: BytePath) -> BytePath {
        directory.appending(".steward-\(hostName())-\(randomHex(8))")
    }

    /// A name that is the same whenever it is asked for: `.steward-<host>-<16 hex>`.
    package static func temporaryName(in directory: BytePath, for purpose: ContentHash) -> BytePath {
        directory.appending(".steward-\(hostName())-\(purpose.description.prefix(16))")
    }

    /// Writes a new file beside `target`, synced, under a temporary name, and returns that name.
    ///
    /// - Parameter record: called with the file while it is still empty.
    package static func stage(
        _ bytes: some Collection<UInt8>, for target: BytePath, mode: mode_t = 0o644, record: Mover.Record = { _, _ in }
    ) throws -> BytePath {
        let temporary = temporaryName(in: target.parent)
        let file = try newFile(temporary, mode: mode, record: record)
        do {
            try file.write(bytes, at: 0)
            try file.sync()
        } catch {
            try? remove(temporary)
            throw error
        }
        return temporary
    }

    /// Copies `source` beside `target` under a temporary name, synced, with its mode, modification time and extended
    /// attributes, and its owner where that is permitted.
    ///
    /// - Returns: the name, the hash of the bytes copied, and what could not be kept, in words.
    package static func stageCopy(
        of source: Descriptor, for target: BytePath, record: Mover.Record = { _, _ in }
    ) throws -> (path: BytePath, hash: ContentHash, lost: [String]) {
        let status = try source.status()
        let temporary = temporaryName(in: target.parent)
        let file = try newFile(temporary, mode: 0o600, record: record)
        do {
            var hasher = StreamingHash()
            var offset: Int64 = 0
            while true {
                let part = try source.read(at: offset, count: 262_144)
                if part.isEmpty { break }
                hasher.update(part)
                try file.write(part, at: offset)
                offset += Int64(part.count)
            }
            let lost = try CopiedAttributes.give(of: source, status, to: file)
            try file.sync()
            return (temporary, hasher.finish(), lost)
        } catch {
            try? remove(temporary)
            throw error
        }
    }

    /// Makes an empty file that nobody has. Where the file system can, it gets its name only when it has been
    /// recorded, so that no crash leaves one that nobody owns.
    private static func newFile(_ path: BytePath, mode: mode_t, record: Mover.Record) throws -> Descriptor {
        let folder = path.parent.isEmpty ? BytePath(".") : path.parent
        let nameless = folder.withCString { open($0, O_WRONLY | O_CLOEXEC | temporaryFile, mode) }
        if nameless >= 0 {
            let file = Descriptor(owning: nameless, path: path)
            try record(path, file.status())
            FaultPoint.reach("recorded")
            let named = path.withCString { target in
                linkat(AT_FDCWD, "/proc/self/fd/\(nameless)", AT_FDCWD, target, AT_SYMLINK_FOLLOW)
            }
            if named == 0 {
                FaultPoint.reach("named")
                return file
            }
        }
        let file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        do {
            try record(path, file.status())
        } catch {
            try? remove(path)
            throw error
        }
        return file
    }

    /// Renames without replacing, and syncs both folders.
    ///
    /// - Returns: false where `target` exists already.
    /// - Throws: `Fault`; its errno is EXDEV where the two lie on different file systems.
    package static func renameNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        let result = source.withCString { from in
            target.withCString { to in steward_renameat2(AT_FDCWD, from, AT_FDCWD, to, STEWARD_RENAME_NOREPLACE) }
        }
        if result != 0 {
            if errno == EEXIST { return false }
            if errno == EINVAL { return try linkNew(source, to: target) }
            throw Fault.system("rename \(source) to", target)
        }
        FaultPoint.reach("renamed")
        try syncBoth(source, target)
        return true
    }

    /// For file systems without RENAME_NOREPLACE: link(2) refuses an existing name as well.
    private static func linkNew(_ source: BytePath, to target: BytePath) throws -> Bool {
        let result = source.withCString { from in target.withCString { to in link(from, to) } }
        if result != 0 {
            if errno == EEXIST { return false }
            throw Fault.system("link \(source) to", target)
        }
        FaultPoint.reach("linked")
        try remove(source)
        try syncBoth(source, target)
        return true
    }

    /// Swaps the two names in one step, and syncs the folders.
    package static func exchange(_ one: BytePath, _ other: BytePath) throws {
        let result = one.withCString { from in
            other.withCString { to in steward_renameat2(AT_FDCWD, from, AT_FDCWD, to, STEWARD_RENAME_EXCHANGE) }
        }
        guard result == 0 else { throw Fault.system("exchange \(one) and", other) }
        FaultPoint.reach("exchanged")
        try syncBoth(one, other)
    }

    /// Unlinks a file; one that is already gone is fine.
    package static func remove(_ path: BytePath) throws {
        guard path.withCString({ unlink($0) }) == 0 || errno == ENOENT else { throw Fault.system("remove", path) }
        FaultPoint.reach("removed")
    }

    /// Replaces or makes a file of the agent's own (never a user's): stage, rename, sync.
    package static func replaceOwn(_ path: BytePath, with bytes: some Collection<UInt8>, mode: mode_t = 0o600) throws {
        let temporary = try stage(bytes, for: path, mode: mode)
        guard temporary.withCString({ from in path.withCString { to in rename(from, to) } }) == 0 else {
            let fault = Fault.system("replace", path)
            try? remove(temporary)
            throw fault
        }
        FaultPoint.reach("replaced")
        try syncDirectory(path.parent)
    }

    private static func syncBoth(_ one: BytePath, _ other: BytePath) throws {
        try syncDirectory(other.parent)
        if one.parent != other.parent { try syncDirectory(one.parent) }
    }
}

/// O_TMPFILE, which Glibc shows only to GNU sources; the same on every architecture that Swift runs on.
private let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY

/// This machine's name, cut to what an A4 anchor suffix and a file name can hold.
package func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: 256)
    gethostname(&buffer, 255)
    let name = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    let kept = String(decoding: name, as: UTF8.self).lowercased().unicodeScalars.filter {
        ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "-"
    }
    return kept.isEmpty ? "host" : String(String.UnicodeScalarView(kept.prefix(24)))
}

/// Random bytes from the kernel, as hexadecimal digits.
package func randomHex(_ count: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return hexadecimal((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
}
