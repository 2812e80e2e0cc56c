import CLinux
import Glibc
import OwnFiles
import Platform

/// An output file that is invisible until complete, and leaves nothing behind if the command ends earlier. Until then
/// it is unnamed (O_TMPFILE); on file systems without that, it has a hidden name beside the target, which is removed if
/// a signal ends the command, except for SIGKILL. Only one at a time.
struct UnseenFile {
    /// Open for writing.
    let file: Descriptor
    private let folder: BytePath
    /// Its temporary name, if it needs one.
    private let hidden: BytePath?

    /// - Parameters:
    ///   - target: its final path.
    ///   - mayBeNameless: false forces a hidden name.
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

    /// - Returns: nil if the file system does not support unnamed files, or /proc is not available to name them.
    private static func nameless(in folder: BytePath, _ target: BytePath, _ mode: mode_t) -> Descriptor? {
        let raw = folder.withCString { open($0, O_WRONLY | O_CLOEXEC | temporaryFile, mode) }
        guard raw >= 0 else { return nil }
        let file = Descriptor(owning: raw, path: target)
        return access("/proc/self/fd/\(raw)", F_OK) == 0 ? file : nil
    }

    /// Gives the file its name, durably.
    ///
    /// - Parameter replaces: whether an existing file may be replaced.
    /// - Returns: false if the name is taken and must not be replaced; the caller must then discard the file.
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
            // Protects the moment between the two names.
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

    /// Removes the file unless it has become the target.
    func discard() throws {
        guard let hidden else { return }
        try Durable.remove(hidden)
        steward_keep_at_end()
    }
}

/// O_TMPFILE, which Glibc defines only for GNU sources; the value is the same on every architecture that Swift
/// supports.
private let temporaryFile: Int32 = 0o20_000_000 | O_DIRECTORY
