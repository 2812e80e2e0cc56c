import Glibc
import Platform

/// A file in the vault's `tmp/`, locked while it is written; unlinked on release unless it was renamed into place.
final class VaultTemporary {
    let file: Descriptor
    private let folder: SealedVaultFolder
    private let name: BytePath
    private var isDone = false

    init(_ folder: SealedVaultFolder) throws {
        self.folder = folder
        name = VaultLayout.temporary.appending(randomHex(16))
        file = try folder.create(name)
        guard try FileLock.acquire(.exclusive, on: file) else {
            throw Fault(.transient, "\(file.path) is locked by another process; it is retried", path: file.path)
        }
        FaultPoint.reach("locked")
    }

    // Other references keep the file itself open, and its lock held.
    deinit { if !isDone { try? folder.withdraw(name) } }

    /// Renames to a free name, and syncs both folders.
    ///
    /// - Throws: `Fault`; also if the name is taken.
    func become(_ target: BytePath) throws {
        guard try folder.renameNew(name, to: target) else {
            throw Fault(
                .failed, "\(folder.full(target)) exists already, where a new file was expected; nothing was replaced",
                path: folder.full(target))
        }
        isDone = true
    }

    /// Renames over an existing file, and syncs both folders.
    func replace(_ target: BytePath) throws {
        try folder.replace(target, with: name)
        isDone = true
    }

    /// Removes leftovers of earlier processes: unlocked files in `tmp/`.
    ///
    /// - Returns: how many.
    @discardableResult
    static func sweep(_ folder: SealedVaultFolder) throws -> Int {
        var removed = 0
        for name in try folder.names(in: VaultLayout.temporary) {
            let path = VaultLayout.temporary.appending(name)
            // Only a regular file can be an unfinished one.
            guard try folder.status(path)?.kind == .file else { continue }
            do {
                let file = try folder.open(path)
                // Writers hold exclusive locks; a shared lock needs no write permission.
                guard try FileLock.acquire(.shared, on: file) else { continue }
                try folder.remove(path)
                removed += 1
            } catch let fault as Fault where fault.errno == ENOENT {
                continue
            }
        }
        if removed > 0 { try folder.sync(VaultLayout.temporary) }
        return removed
    }
}
