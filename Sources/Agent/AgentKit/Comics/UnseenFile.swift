import CLinux
import Glibc
import OwnFiles
import Platform

/// A file of a command that nobody sees before it is whole, and of which nothing stays behind when the command is ended
/// before. It has no name until then (O_TMPFILE); on file systems without such files it has a hidden one beside the
/// target, which goes when a signal ends the command, but not on SIGKILL. One at a time.
struct UnseenFile {
    /// Open for writing.
    let file: Descriptor
    private let folder: BytePath
    /// What it is called meanwhile, where it has to have a name.
    private let hidden: BytePath?

    /// - Parameters:
    ///   - target: what it is going to be called.
    ///   - mayBeNameless: false takes a hidden name wherever it lies.
    init(for target: BytePath, mode: mode_t, mayBeNameless: Bool = true) throws {
        folder = target.parent.isEmpty ? "." : target.parent
        if mayBeNameless, let nameless = Self.nameless(in: folder, target, mode) {
            (file, hidden) = (nameless, nil)
            return
        }
        let name = Durable.temporaryName(in: folder)
        guard name.withCString({ steward_remove_at_end($0) }) == 0 else { throw Fault.system("prepare", target) }
        do {
            file = try Descriptor(name, O_WRONLY | O_CREAT | O_EXCL, mode: mode)
            hidden = name
        } catch {
            steward_keep_at_end()
            throw error
        }
    }

    /// - Returns: nil where the file system has no such files, or /proc is not there to give it a name.
    private static func nameless(in folder: BytePath, _ target: BytePath, _ mode: mode_t) -> Descriptor? {
        let raw = folder.withCString { open($0, O_WRONLY | O_CLOEXEC | temporaryFile, mode) }
        guard raw >= 0 else { return nil }
        let file = Descriptor(owning: raw, path: target)
        return access("/proc/self/fd/\(raw)", F_OK) == 0 ? file : nil
    }

    /// Gives the file its name, durably.
    ///
    /// - Parameter replaces: a file that has the name already.
    /// - Returns: false where the name is taken, and not to be replaced; the file is for the caller to discard then.
    func become(_ target: BytePath, replaces: Bool) throws -> Bool {
        FaultPoint.reach("unseen")
        if let hidden, !replaces {
            guard try Durable.renameNew(hidden, to: target) else { return false }
            steward_keep_at_end()
            return true
        }
        guard replaces else {
            guard try link(to: target) else { return false }
            try Durable.syncDirectory(folder)
            return true
        }
        let temporary = hidden ?? Durable.temporaryName(in: folder)
        if hidden == nil {
            // For the moment between the two names.
            guard temporary.withCString({ steward_remove_at_end($0) }) == 0 else {
                throw Fault.system("prepare", target)
            }
            guard try link(to: temporary) else { throw Fault.system("name", target, errno: EEXIST) }
        }
        guard temporary.withCString({ from in target.withCString { rename(from, $0) } }) == 0 else {
            let fault = Fault.system("replace", target)
            if hidden == nil {
                try Durable.remove(temporary)
                steward_keep_at_end()
            }
            throw fault
        }
        steward_keep_at_end()
        try Durable.syncDirectory(folder)
        return true
    }

    private func link(to target: BytePath) throws -> Bool {
        let named = target.withCString {
            linkat(AT_FDCWD, "/proc/self/fd/\(file.raw)", AT_FDCWD, $0, AT_SYMLINK_FOLLOW)
        }
        if named == 0 { return true }
        if errno == EEXIST { return false }
        throw Fault.system("name", target)
    }

    /// Removes what has not become the target.
    func discard() throws {
        guard let hidden else { return }
        try Durable.remove(hidden)
        steward_keep_at_end()
    }
}

/// O_TMPFILE, which Glibc shows only to GNU sources; the same on every architecture that Swift runs on.
private let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
