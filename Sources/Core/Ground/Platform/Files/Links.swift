import Glibc

/// Hard links and symbolic links. Every call blocks.
extension Durable {
    /// Adds a name (a hard link) to an open file, and syncs the folder.
    ///
    /// - Returns: false if the name is taken.
    /// - Throws: `Fault`; errno EXDEV if the name would be on another file system.
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

    /// Creates a symbolic link to `text`, and syncs the folder.
    ///
    /// - Returns: false if the name is taken.
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

    /// Removes a symbolic link to `text`. It is renamed to a hidden name and checked there, so that a file that has
    /// taken its place is not removed but moved back. After a crash, another call completes the removal.
    ///
    /// - Returns: whether the link existed.
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
    /// The target of the symbolic link of that name, byte for byte; nil if there is no such link.
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
