import Glibc
import Platform
import Rules

/// Adds a hard link to a file.
enum HardLink {
    /// Blocks.
    static func make(to placement: FilePlacement, _ way: Placing.Way, _ files: HeldFiles) throws -> Mover.Placed {
        let source = placement.source
        let file = try placement.opened(files)
        for path in way.names {
            do {
                guard try link(file, at: files.entry(path), way) else { continue }
            } catch let fault as Fault where fault.errno == EXDEV {
                throw Fault(
                    .failed,
                    "\(source) and \(path.parent) are on different file systems, and a hard link cannot cross them; "
                        + "use `kind: symbolic`, or `copy` it", path: source, errno: EXDEV)
            }
            return Mover.Placed(path: path, fingerprint: try file.status().fingerprint, hash: placement.hash)
        }
        throw Fault.noFreeName(for: "a link to \(source)", path: source)
    }

    private static func link(_ file: Descriptor, at target: DirectoryEntry, _ way: Placing.Way) throws -> Bool {
        if try recorded(file, at: target, way, make: { try Durable.linkNew(file, at: target) }) { return true }
        guard let clear = way.clear else { return false }
        // The name is taken. Link under a temporary name first, so that nothing is cleared for a link that cannot be
        // made.
        let staged = target.sibling(Durable.temporaryName().utf8)
        return try recorded(file, at: staged, way) {
            do {
                guard try Durable.linkNew(file, at: staged) else { return false }
            } catch let fault as Fault {
                guard let errno = fault.errno else { throw fault }
                throw Fault.system("give \(file.path) the further name", target.path, errno: errno)
            }
            do {
                try clear()
                if try Durable.renameNew(staged, to: target) { return true }
            } catch {
                try? Durable.remove(staged)
                throw error
            }
            try Durable.remove(staged)
            return false
        }
    }

    /// Records the link in the journal under its new name while it may exist.
    private static func recorded(
        _ file: Descriptor, at name: DirectoryEntry, _ way: Placing.Way, make: () throws -> Bool
    ) throws -> Bool {
        try way.record(name.path, file.identity())
        do {
            if try make() { return true }
        } catch {
            // A name that shares the inode of a person's file must not be taken for one we made.
            if try name.status()?.isSameFile(as: file.status()) != true { try? way.record(name.path, nil) }
            throw error
        }
        try way.record(name.path, nil)
        return false
    }
}
