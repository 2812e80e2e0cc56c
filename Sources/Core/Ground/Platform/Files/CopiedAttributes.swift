import Glibc

/// The metadata that a copy of a file keeps: owner, extended attributes, mode and modification time, but nothing that
/// grants privileges. Blocks.
enum CopiedAttributes {
    struct Given {
        /// Metadata that the copy's file system does not support or the agent may not set. Does not list owner and
        /// group, which only root may set, or attributes maintained by the system.
        var lost: [String] = []
        /// Metadata left out because it grants privileges.
        var dropped: [String] = []
    }

    private static let capabilities = "security.capability"

    /// Applies the metadata to `copy`.
    ///
    /// - Parameter keepsOwner: whether to apply the source's owner and group, too.
    /// - Throws: `Fault` if reading or applying fails, unless it is impossible in principle.
    static func give(
        of source: Descriptor, _ status: FileStatus, to copy: Descriptor, keepsOwner: Bool
    ) throws -> Given {
        // Changing the owner clears mode bits and attributes, and without write permission no attributes can be set.
        if keepsOwner, fchown(copy.raw, status.owner, status.group) != 0 {
            _ = fchown(copy.raw, uid_t.max, status.group)
        }
        var given = Given()
        for name in try ExtendedAttributes.names(of: source) {
            if name == capabilities {
                given.dropped.append("capabilities")
                continue
            }
            if !keepsOwner, name.hasPrefix("system.posix_acl_") {
                given.dropped.append("access list")
                continue
            }
            do {
                guard let value = try ExtendedAttributes.value(name, of: source) else { continue }
                try ExtendedAttributes.set(name, value, on: copy)
            } catch let fault as Fault where isRefusal(fault.errno, of: name) {
                if name.hasPrefix("user.") || name.hasPrefix("system.") {
                    given.lost.append("the attribute \(name)")
                }
            }
        }
        given.dropped += rights(in: status.mode)
        // On a copy that does not keep the owner, group and others lose write permission.
        let mode = status.mode & ~(S_ISUID | S_ISGID) & (keepsOwner ? 0o7777 : ~0o022)
        if fchmod(copy.raw, mode) != 0 {
            guard isRefusal(errno) else { throw Fault.system("set the mode of", copy.path) }
            given.lost.append("the mode \(String(status.mode, radix: 8))")
        }
        let stamp = timespec(
            tv_sec: Int(status.fingerprint.modified / 1_000_000_000),
            tv_nsec: Int(status.fingerprint.modified % 1_000_000_000))
        if futimens(copy.raw, [stamp, stamp]) != 0 {
            guard isRefusal(errno) else { throw Fault.system("set the time of", copy.path) }
            given.lost.append("the time of its last change")
        }
        return given
    }

    /// Removes setuid, setgid and capabilities from an open file.
    ///
    /// - Returns: a description of what was removed; nil if the agent is not permitted to.
    static func dropRights(of file: Descriptor) throws -> [String]? {
        let status = try file.status()
        var dropped = rights(in: status.mode)
        if !dropped.isEmpty, fchmod(file.raw, status.mode & ~(S_ISUID | S_ISGID)) != 0 {
            guard ReadAccess.isDenial(errno) else { throw Fault.system("take setuid and setgid from", file.path) }
            return nil
        }
        guard try ExtendedAttributes.names(of: file).contains(capabilities) else { return dropped }
        do {
            try ExtendedAttributes.set(capabilities, nil, on: file)
        } catch let fault as Fault where ReadAccess.isDenial(fault.errno) {
            return nil
        }
        dropped.append("capabilities")
        return dropped
    }

    private static func rights(in mode: mode_t) -> [String] {
        (mode & S_ISUID != 0 ? ["setuid"] : []) + (mode & S_ISGID != 0 ? ["setgid"] : [])
    }

    private static func isRefusal(_ code: Int32?) -> Bool {
        [ENOTSUP, EPERM, EACCES, EINVAL, ENOSYS].contains(code)
    }

    /// Attributes have limited space of their own; exhausting it does not mean that the disk is full.
    private static func isRefusal(_ code: Int32?, of attribute: String) -> Bool {
        isRefusal(code) || [E2BIG, ERANGE, ENOSPC, EDQUOT].contains(code)
    }
}
