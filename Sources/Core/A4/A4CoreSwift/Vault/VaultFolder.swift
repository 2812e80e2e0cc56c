import Glibc
import OwnFiles
import Platform

/// A vault's root, held open: all paths below it are opened relative to this descriptor and never leave it, even if
/// folders are swapped in the meantime (docs/design/a4.md).
///
/// The kernel refuses every absolute link, even one that leads back into the vault. Such a path is resolved, compared
/// with the root, and opened by its resolved name, again below this descriptor.
package struct VaultFolder {
    let root: Descriptor
    private let canonicalRoot: BytePath

    /// Opens the root. Blocks.
    package init(_ vault: Vault) throws {
        let path = try vault.root.bytePath()
        root = try Descriptor(path, O_RDONLY | O_DIRECTORY, follow: true)
        canonicalRoot = path.real ?? path
    }

    /// Opens an existing file; follows links that stay in the vault.
    ///
    /// - Throws: `Fault`; errno EXDEV if the path leads out.
    func open(_ relative: BytePath, _ flags: Int32) throws -> Descriptor {
        try staying(relative) { try SafePath.open($0, beneath: root, flags) }
    }

    /// Finds an existing file without opening it; follows links that stay in the vault.
    ///
    /// - Throws: `Fault`; errno EXDEV if the path leads out.
    func locate(_ relative: BytePath) throws -> Descriptor {
        try staying(relative) { try SafePath.locate($0, beneath: root) }
    }

    private func staying(_ relative: BytePath, _ open: (BytePath) throws -> Descriptor) throws -> Descriptor {
        var attempts = 0
        while true {
            do {
                return try open(relative)
            } catch let fault as Fault where fault.errno == EXDEV {
                guard let inside = resolved(relative), inside != relative else { throw fault }
                return try open(inside)
            } catch let fault as Fault where fault.errno == EAGAIN && attempts < 100 {
                // EAGAIN: something was renamed while the kernel resolved a `..` in a link.
                attempts += 1
            }
        }
    }

    /// The resolved location of an existing path below the root; nil if it is outside, or does not exist.
    func resolved(_ relative: BytePath) -> BytePath? {
        root.path.appending(relative).real?.relative(to: canonicalRoot)
    }

    /// Checks that the existing part of `relative` stays in the vault.
    ///
    /// - Throws: `Fault`; errno EXDEV if it leads out.
    func check(_ relative: BytePath) throws {
        var existing = relative
        while true {
            do {
                _ = try locate(existing)
                return
            } catch let fault as Fault where fault.errno == ENOENT && !existing.isEmpty {
                existing = existing.parent
            }
        }
    }

    /// Opens a folder, creating it and its parents if missing; each new name is synced.
    func makeFolder(_ relative: BytePath) throws -> Descriptor {
        do {
            return try open(relative, O_RDONLY | O_DIRECTORY)
        } catch let fault as Fault where fault.errno == ENOENT && !relative.isEmpty {
            let parent = try makeFolder(relative.parent)
            let made = BytePath(bytes: relative.name).withCString { mkdirat(parent.raw, $0, 0o777) }
            guard made == 0 || errno == EEXIST else {
                throw Fault.system("make the folder", parent.path.appending(name: relative.name))
            }
            try parent.sync()
            return try open(relative, O_RDONLY | O_DIRECTORY)
        }
    }
}
