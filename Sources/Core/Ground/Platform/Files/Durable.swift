import CLinux
import Glibc

/// File system changes that are on disk when they return (write, fsync, rename, fsync of the folder: measurements
/// showed that all four are needed), on names in open folders. Every call blocks.
package enum Durable {
    /// Called with each temporary file while it is still empty, so that a crash leaves no unknown file; and with nil
    /// once it has been removed, since another file may then get its inode.
    package typealias Record = (BytePath, FileIdentity?) throws -> Void

    private static var temporaryPrefix: String { ".steward-\(hostName())-" }

    /// A name that is unique among the files of all agents on all hosts: `.steward-<host>-<16 hex>`.
    package static func temporaryName() -> String { "\(temporaryPrefix)\(randomHex(8))" }

    /// Whether this host's agent uses the name for temporary files.
    package static func isTemporary(_ name: some Collection<UInt8>) -> Bool {
        let prefix = temporaryPrefix.utf8
        return name.count == prefix.count + 16 && name.starts(with: prefix)
    }

    /// A temporary name that is always the same for one purpose: `.steward-<host>-<16 hex>`.
    package static func temporaryName(for purpose: ContentHash) -> String {
        "\(temporaryPrefix)\(purpose.description.prefix(16))"
    }

    /// Writes a new file next to `target`, synced, under a temporary name, and returns that name.
    ///
    /// - Parameter record: called with the file while it is still empty.
    package static func stage(
        _ bytes: some Collection<UInt8>, for target: DirectoryEntry, mode: mode_t = 0o644, record: Record = { _, _ in }
    ) throws -> DirectoryEntry {
        let temporary = target.sibling(temporaryName().utf8)
        let file = try newFile(temporary, mode: mode, record: record)
        do {
            try file.write(bytes, at: 0)
            try file.sync()
        } catch {
            try? discard(temporary, record: record)
            throw error
        }
        return temporary
    }

    /// The result of ``stageCopy(of:for:keepsOwner:record:)``.
    package struct Copy {
        package let entry: DirectoryEntry
        package let file: Descriptor
        /// The hash of the copied bytes.
        package let hash: ContentHash
        /// A description of the metadata that was lost.
        package let lost: [String]
        /// A description of the metadata removed because it would have granted privileges.
        package let dropped: [String]
    }

    /// Copies `source` next to `target` under a temporary name, synced, with its holes, mode, modification time and
    /// extended attributes, and its owner if permitted. Leaves out setuid, setgid and capabilities.
    ///
    /// - Parameter keepsOwner: whether the copy gets the source's owner, if the agent is permitted to set it.
    package static func stageCopy(
        of source: Descriptor, for target: DirectoryEntry, keepsOwner: Bool = true, record: Record = { _, _ in }
    ) throws -> Copy {
        let status = try source.status()
        let temporary = target.sibling(temporaryName().utf8)
        let file = try newFile(temporary, mode: 0o600, record: record)
        do {
            let hash = try SparseFile.copy(source, to: file)
            let given = try CopiedAttributes.give(of: source, status, to: file, keepsOwner: keepsOwner)
            try file.sync()
            return Copy(entry: temporary, file: file, hash: hash, lost: given.lost, dropped: given.dropped)
        } catch {
            try? discard(temporary, record: record)
            throw error
        }
    }

    /// Creates an empty file. If the file system supports it, the file gets its name only after it was recorded, so
    /// that a crash leaves no unknown file.
    static func newFile(_ entry: DirectoryEntry, mode: mode_t, record: Record) throws -> Descriptor {
        let nameless = makeNameless(for: entry, mode: mode)
        if let file = nameless {
            try record(entry.path, file.identity())
            FaultPoint.reach("recorded")
            if name(file, entry) { return file }
        }
        let file: Descriptor
        do {
            file = try entry.open(O_WRONLY | O_CREAT | O_EXCL, mode: mode)
        } catch {
            // The nameless file is gone.
            if nameless != nil { try? record(entry.path, nil) }
            throw error
        }
        do {
            try record(entry.path, file.identity())
        } catch {
            try? remove(entry)
            throw error
        }
        return file
    }

    /// An unnamed file in the folder of `entry`, which disappears when closed; nil if the file system does not support
    /// these.
    private static func makeNameless(for entry: DirectoryEntry, mode: mode_t) -> Descriptor? {
        let folder = entry.name.parent.isEmpty ? BytePath(".") : entry.name.parent
        let raw = folder.withCString { openat(entry.folder.raw, $0, O_WRONLY | O_CLOEXEC | temporaryFile, mode) }
        return raw >= 0 ? Descriptor(owning: raw, path: entry.path) : nil
    }

    /// Gives an unnamed file the name of `entry`.
    ///
    /// - Returns: false if the name is taken, or the file system does not support this.
    private static func name(_ file: Descriptor, _ entry: DirectoryEntry) -> Bool {
        let result = entry.name.withCString { target in
            linkat(AT_FDCWD, "/proc/self/fd/\(file.raw)", entry.folder.raw, target, AT_SYMLINK_FOLLOW)
        }
        guard result == 0 else { return false }
        FaultPoint.reach("named")
        return true
    }

    /// Renames without replacing, and syncs both folders.
    ///
    /// - Parameter check: called right after the rename, before anything slow.
    /// - Returns: false if `target` already exists.
    /// - Throws: `Fault`; errno EXDEV if the two are on different file systems.
    package static func renameNew(
        _ source: DirectoryEntry, to target: DirectoryEntry, check: () throws -> Void = {}
    ) throws -> Bool {
        Blocking.call()
        let result = source.name.withCString { from in
            target.name.withCString { to in
                steward_renameat2(source.folder.raw, from, target.folder.raw, to, STEWARD_RENAME_NOREPLACE)
            }
        }
        if result != 0 {
            if errno == EEXIST { return false }
            if errno == EINVAL {
                return try source.status()?.kind == .directory
                    ? renameFolderNew(source, to: target, check: check) : linkNew(source, to: target)
            }
            throw try fault("rename", source, target)
        }
        try check()
        FaultPoint.reach("renamed")
        try syncBoth(source, target)
        return true
    }

    /// Why a rename failed, from `errno`. Its path is the target's, or the source's if that is missing.
    private static func fault(_ doing: String, _ source: DirectoryEntry, _ target: DirectoryEntry) throws -> Fault {
        let fault = Fault.system("\(doing) \(source.path) to", target.path)
        guard fault.errno == ENOENT, try source.status() == nil else { return fault }
        return Fault(fault.kind, fault.message, path: source.path, errno: ENOENT)
    }

    /// For file systems without RENAME_NOREPLACE: link(2) also refuses an existing name.
    private static func linkNew(_ source: DirectoryEntry, to target: DirectoryEntry) throws -> Bool {
        Blocking.call()
        let result = source.name.withCString { from in
            target.name.withCString { to in linkat(source.folder.raw, from, target.folder.raw, to, 0) }
        }
        if result != 0 {
            if errno == EEXIST { return false }
            throw try fault("link", source, target)
        }
        FaultPoint.reach("linked")
        try remove(source)
        try syncBoth(source, target)
        return true
    }

    /// The same for a folder, which cannot be linked. If something takes the name between the check and the rename,
    /// rename(2) still refuses, except for an empty folder, which it replaces.
    private static func renameFolderNew(_ source: DirectoryEntry, to target: DirectoryEntry, check: () throws -> Void)
        throws -> Bool
    {
        if try target.status() != nil { return false }
        let result = source.name.withCString { from in
            target.name.withCString { to in renameat(source.folder.raw, from, target.folder.raw, to) }
        }
        if result != 0 {
            let fault = try fault("rename", source, target)
            if try target.status() != nil, fault.errno != EINVAL { return false }
            throw fault
        }
        try check()
        FaultPoint.reach("renamed")
        try syncBoth(source, target)
        return true
    }

    /// Swaps the two names atomically, and syncs the folders.
    package static func exchange(_ one: DirectoryEntry, _ other: DirectoryEntry) throws {
        Blocking.call()
        let result = one.name.withCString { from in
            other.name.withCString { to in
                steward_renameat2(one.folder.raw, from, other.folder.raw, to, STEWARD_RENAME_EXCHANGE)
            }
        }
        guard result == 0 else { throw Fault.system("exchange \(one.path) and", other.path) }
        FaultPoint.reach("exchanged")
        try syncBoth(one, other)
    }

    /// Unlinks a file; a no-op if it is already gone.
    package static func remove(_ entry: DirectoryEntry) throws {
        Blocking.call()
        guard entry.name.withCString({ unlinkat(entry.folder.raw, $0, 0) }) == 0 || errno == ENOENT else {
            throw Fault.system("remove", entry.path)
        }
        FaultPoint.reach("removed")
    }

    /// Removes a temporary file and its record, unless it already has its final name: then it is still the step's
    /// product.
    package static func discard(_ temporary: DirectoryEntry, record: Record) throws {
        guard let status = try temporary.status() else { return }
        try remove(temporary)
        if status.links <= 1 { try record(temporary.path, nil) }
    }

    /// Removes a folder.
    ///
    /// - Returns: false if it is not empty or does not exist.
    package static func removeFolder(_ entry: DirectoryEntry) throws -> Bool {
        Blocking.call()
        if entry.name.withCString({ unlinkat(entry.folder.raw, $0, AT_REMOVEDIR) }) == 0 { return true }
        if [ENOTEMPTY, EEXIST, ENOENT].contains(errno) { return false }
        throw Fault.system("remove the folder", entry.path)
    }

    /// Atomically replaces a file with a staged one, and syncs the folder.
    ///
    /// - Parameter record: the one it was staged with.
    package static func replace(_ target: DirectoryEntry, with staged: DirectoryEntry, record: Record = { _, _ in })
        throws
    {
        Blocking.call()
        let result = staged.name.withCString { from in
            target.name.withCString { to in renameat(staged.folder.raw, from, target.folder.raw, to) }
        }
        guard result == 0 else {
            let fault = Fault.system("replace", target.path)
            try? discard(staged, record: record)
            throw fault
        }
        FaultPoint.reach("replaced")
        try target.syncFolder()
    }

    /// Creates or replaces a file of the agent's own (never a user's): write, sync, name, sync of the folder. A new
    /// file has no temporary name, so a crash leaves nothing behind.
    package static func replaceOwn(_ entry: DirectoryEntry, with bytes: some Collection<UInt8>, mode: mode_t = 0o600)
        throws
    {
        Blocking.call()
        if try entry.status() == nil, let file = makeNameless(for: entry, mode: mode) {
            try file.write(bytes, at: 0)
            try file.sync()
            if name(file, entry) { return try entry.syncFolder() }
        }
        try replace(entry, with: stage(bytes, for: entry, mode: mode))
    }

    private static func syncBoth(_ one: DirectoryEntry, _ other: DirectoryEntry) throws {
        try other.syncFolder()
        if !one.isInSameFolder(as: other) { try one.syncFolder() }
    }
}

/// O_TMPFILE, which Glibc exposes only to GNU sources; the same on every architecture that Swift runs on.
private let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
