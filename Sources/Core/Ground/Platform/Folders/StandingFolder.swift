import Glibc

/// A folder named in the configuration and kept open for long. Anything written through it must arrive in the folder
/// that has the name now, not in one that was moved away, replaced, or unmounted since.
///
/// Read through ``reading``. Write only through ``writing()``, which checks the name first.
package final class StandingFolder: Sendable {
    /// The ``Fault/code`` of a write that was refused because the name now belongs to another folder, or to none.
    package static let displaced = "displaced"

    package let path: BytePath
    /// The folder as opened, wherever it is now.
    package let reading: Descriptor
    private let identity: FileStatus

    /// - Parameter folder: opened for reading by its configured path. Blocks.
    package init(_ folder: Descriptor) throws {
        path = folder.path
        reading = folder
        identity = try folder.status()
    }

    /// The folder, for writing. Blocks.
    ///
    /// - Throws: as ``check()``.
    package func writing() throws -> Descriptor {
        try check()
        return reading
    }

    /// Whether the name still leads to the open folder. Blocks.
    ///
    /// - Throws: `Fault` if that cannot be determined.
    package func stands() throws -> Bool { try Self.stands(identity, at: path) }

    /// - Throws: `Fault(.transient)` with the code ``displaced`` if the name leads to another folder, or to none.
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
    /// Checks that its path still leads to it; see ``StandingFolder``. Blocks.
    ///
    /// - Throws: `Fault(.transient)` with the code ``StandingFolder/displaced`` if it does not.
    package func requireStanding() throws {
        if raw == AT_FDCWD { return }
        if try !StandingFolder.stands(status(), at: path) { throw StandingFolder.fault(path) }
    }
}
