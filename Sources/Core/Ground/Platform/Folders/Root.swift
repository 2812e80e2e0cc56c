import Glibc

/// A folder that was looked up by path once and then kept open. Everything below is opened through it, and the kernel
/// ensures that no step of the path leaves it (openat2, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS).
package struct Root: Sendable {
    /// How to treat symbolic links on the way.
    package enum Links: String, Sendable, Codable, CaseIterable {
        /// Not followed: a link is a file of its own kind (RESOLVE_NO_SYMLINKS).
        case never
        /// Followed as long as the path stays below the root.
        case inside
    }

    package let folder: Folder
    package let links: Links
    private let held: Descriptor

    /// - Parameter held: the open folder; a path descriptor (O_PATH) is enough.
    package init(_ held: Descriptor, links: Links = .never) {
        self.held = held
        folder = Folder(held)
        self.links = links
    }

    /// Opens the file at `relative`.
    ///
    /// - Throws: `Fault`: with the code ``Fault/link`` if a link is in the way (ELOOP) or the path would leave the root
    ///   (EXDEV); otherwise with the errno of openat2(2).
    package func open(_ relative: BytePath, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600) throws -> Descriptor {
        try explaining(relative) {
            links == .never
                ? try SafePath.openExactly(relative, beneath: held, flags, mode: mode)
                : try SafePath.open(relative, beneath: held, flags, mode: mode)
        }
    }

    private func explaining(_ relative: BytePath, _ open: () throws -> Descriptor) throws -> Descriptor {
        let full = folder.path.appending(relative)
        do {
            return try open()
        } catch let fault as Fault where fault.errno == ELOOP {
            throw Fault.behindLink(full)
        } catch let fault as Fault where fault.errno == EXDEV {
            throw Fault(
                .failed, "\(relative) leads out of \(folder.path); nothing was opened", path: full, errno: EXDEV,
                code: Fault.link)
        } catch let fault as Fault where fault.errno == ENOSYS {
            throw Fault(
                .failed,
                "neither the kernel nor the unit's cage lets the agent open files below a folder (openat2); "
                    + "`steward doctor` says what is in the way",
                path: full, errno: ENOSYS)
        }
    }

    /// Finds whatever is at `relative`, without opening it for reading or writing.
    package func locate(_ relative: BytePath) throws -> Descriptor {
        try explaining(relative) {
            links == .never
                ? try SafePath.locateExactly(relative, beneath: held)
                : try SafePath.locate(relative, beneath: held)
        }
    }

    /// Opens the folder at `relative` as a base for names, which needs no read permission.
    package func folder(_ relative: BytePath) throws -> Folder {
        if relative.isEmpty { return folder }
        return Folder(
            try explaining(relative) {
                links == .never
                    ? try SafePath.locateExactly(relative, beneath: held, O_DIRECTORY)
                    : try SafePath.locate(relative, beneath: held, O_DIRECTORY)
            })
    }

    /// The name at `relative`, in its open folder.
    ///
    /// - Throws: as ``open(_:_:mode:)``; ENOENT if the folder does not exist.
    package func entry(_ relative: BytePath) throws -> DirectoryEntry {
        guard !relative.isEmpty, relative.components.allSatisfy(Self.isName) else {
            throw Fault(.refused, "\(relative) is no name below \(folder.path)", path: folder.path, errno: EXDEV)
        }
        return DirectoryEntry(try folder(relative.parent), BytePath(bytes: relative.name))
    }

    /// Creates the folder `relative` and any missing parents, and opens it; syncs each new name. Never creates the
    /// root.
    package func makeFolder(_ relative: BytePath, mode: mode_t = 0o755) throws -> Folder {
        do {
            return try folder(relative)
        } catch let fault as Fault where fault.errno == ENOENT {
            let above = try makeFolder(relative.parent, mode: mode)
            let entry = above[relative.name]
            if try entry.makeDirectory(mode: mode) { try above.sync() }
        } catch let fault as Fault where fault.errno == ENOTDIR {
            throw Fault(
                .failed, "\(folder.path.appending(relative)) is in the way: a folder is needed there",
                path: folder.path.appending(relative), errno: ENOTDIR)
        }
        return try folder(relative)
    }

    private static func isName(_ component: ArraySlice<UInt8>) -> Bool {
        component != ArraySlice("..".utf8) && component != ArraySlice(".".utf8)
    }
}

extension Fault {
    /// The ``code`` of a refusal because of a symbolic link in the way.
    package static let link = "link"

    static func behindLink(_ path: BytePath) -> Fault {
        Fault(
            .failed,
            "\(path) is, or is behind, a symbolic link, and none is followed there; nothing was opened (`follow-links: "
                + "inside` at the place allows those that stay within it)",
            path: path, errno: ELOOP, code: link)
    }
}
