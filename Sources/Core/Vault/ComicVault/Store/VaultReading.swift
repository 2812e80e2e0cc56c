import Glibc
import OwnFiles
import Platform

extension SealedVault {
    /// Opens one of a comic's objects for random access.
    ///
    /// - Throws: ``VaultError/noSuchComic(_:)``, also if the comic has none of that kind.
    package func open(_ kind: ObjectKind, of id: ComicID) throws -> ObjectReader {
        let session = try unlocked()
        guard let reference = try comic(id).object(kind) else {
            throw VaultError.noSuchComic("\(id) with \(kind)")
        }
        return try objects.open(reference, session)
    }

    /// Writes a comic's archive out of the vault, in the clear; durable and verified when it returns.
    ///
    /// - Parameter target: if it exists already, the file is called `name (1).cbz` and so on.
    /// - Returns: the file's final location.
    package func extract(_ id: ComicID, to target: DirectoryEntry) throws -> DirectoryEntry {
        let reader = try open(.archive, of: id)
        let temporary = try Durable.stage([], for: target, mode: 0o600)
        do {
            let file = try temporary.open(O_WRONLY)
            var offset: Int64 = 0
            try reader.stream { part in
                try file.write(part, at: offset)
                offset += Int64(part.count)
            }
            try file.sync()
            for name in Mover.alternatives(target) where try Durable.renameNew(temporary, to: name) { return name }
            throw Fault(.failed, "no free name for \(target.path)", path: target.path)
        } catch {
            try? Durable.remove(temporary)
            throw error
        }
    }
}
