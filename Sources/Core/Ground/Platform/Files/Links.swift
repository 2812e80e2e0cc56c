import Glibc

/// Further names of files, and names that lead to others. Everything here blocks.
extension Durable {
    /// Gives an open file a further name (a hard link), and syncs the folder.
    ///
    /// - Returns: false where something has that name already.
    /// - Throws: `Fault`; its errno is EXDEV where the name would lie on another file system.
    package static func linkNew(_ file: Descriptor, at target: DirectoryEntry) throws -> Bool {
        Blocking.call()
        let result = target.name.withCString { name in
            linkat(AT_FDCWD, "/proc/self/fd/\(file.raw)", target.folder.raw, name, AT_SYMLINK_FOLLOW)
        }
        if result != 0 {
            if errno == EEXIST { return false }
            throw Fault.system("give \(file.path) the further name", target.path)
        }
        FaultPoint.reach("linked")
        try target.syncFolder()
        return true
    }

    /// Makes a symbolic link that says `text`, and syncs the folder.
    ///
    /// - Returns: false where something has that name already.
    package static func linkNew(saying text: BytePath, at target: DirectoryEntry) throws -> Bool {
        Blocking.call()
        let result = text.withCString { text in
            target.name.withCString { symlinkat(text, target.folder.raw, $0) }
        }
        if result != 0 {
            if errno == EEXIST { return false }
            throw Fault.system("make the symbolic link", target.path)
        }
        FaultPoint.reach("linked")
        try target.syncFolder()
        return true
    }

    /// Removes a symbolic link that says `text`: renamed out of everybody's sight first and looked at there, so that what
    /// has come in its place is not removed but goes back. Called again after a crash it finishes what was left.
    ///
    /// - Returns: whether it was there.
    package static func removeLink(_ link: DirectoryEntry, saying text: BytePath) throws -> Bool {
        let purpose = ContentHash(of: link.path.bytes + [0] + text.bytes)
        let aside = link.sibling(temporaryName(for: purpose).utf8)
        if try aside.linkText() == text { return try removeAside(aside) }
        do {
            guard try renameNew(link, to: aside) else { return false }
        } catch let fault as Fault where fault.errno == ENOENT {
            return false
        }
        if try aside.linkText() == text { return try removeAside(aside) }
        for name in Mover.alternatives(link) where try renameNew(aside, to: name) { break }
        return false
    }

    private static func removeAside(_ aside: DirectoryEntry) throws -> Bool {
        try remove(aside)
        try aside.syncFolder()
        return true
    }
}

extension DirectoryEntry {
    /// What a symbolic link of that name says, byte for byte; nil where there is none of that name.
    package func linkText() throws -> BytePath? {
        Blocking.call()
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = name.withCString { readlinkat(folder.raw, $0, &buffer, buffer.count) }
        if length < 0 {
            if [ENOENT, ENOTDIR, EINVAL].contains(errno) { return nil }
            throw Fault.system("read the symbolic link", path)
        }
        return BytePath(bytes: buffer.prefix(length).map { UInt8(bitPattern: $0) })
    }
}
