import Glibc

/// A folder that the configuration names and that is held open for long: what is written through it must lie in the folder
/// of that name, not in one that was moved away, replaced, or unmounted since.
///
/// Reading goes through ``reading``. Writing goes through ``writing()`` alone, which looks at the name first.
package final class StandingFolder: Sendable {
    /// The ``Fault/code`` of what was not written because another folder, or none, has the name now.
    package static let displaced = "displaced"

    package let path: BytePath
    /// The folder that was opened, wherever it lies by now.
    package let reading: Descriptor
    private let identity: FileStatus

    /// - Parameter folder: open for reading, by the path that the configuration names. Blocks.
    package init(_ folder: Descriptor) throws {
        path = folder.path
        reading = folder
        identity = try folder.status()
    }

    /// The folder to write through. Blocks.
    ///
    /// - Throws: as ``check()``.
    package func writing() throws -> Descriptor {
        try check()
        return reading
    }

    /// Whether the name still leads to the folder that is held. Blocks.
    ///
    /// - Throws: `Fault` where that cannot be told.
    package func stands() throws -> Bool { try Self.stands(identity, at: path) }

    /// - Throws: `Fault(.transient)` with the code ``displaced`` where the name leads to another folder, or to none.
    package func check() throws {
        if try !stands() { throw Self.fault(path) }
    }

    static func fault(_ path: BytePath) -> Fault {
        Fault(
            .transient,
            "\(path) is not the folder that was opened: it was moved, replaced, or its disk was unmounted; nothing more is "
                + "written there until it is back", path: path, code: displaced)
    }

    static func stands(_ identity: FileStatus, at path: BytePath) throws -> Bool {
        Blocking.call()
        var found = stat()
        if path.withCString({ stat($0, &found) }) == 0 { return FileStatus(found).isSameFile(as: identity) }
        switch errno {
        case ENOENT, ENOTDIR, ELOOP, ENOTCONN, ESTALE, ENODEV, ENXIO, EIO, EHOSTDOWN, EHOSTUNREACH: return false
        default: throw Fault.system("look at the folder", path)
        }
    }
}

extension Folder {
    /// Whether its path still leads to it; see ``StandingFolder``. Blocks.
    ///
    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` where it does not.
    package func requireStanding() throws {
        if raw == AT_FDCWD { return }
        if try !StandingFolder.stands(status(), at: path) { throw StandingFolder.fault(path) }
    }
}
