import Glibc

/// What of a file goes with a copy beside its bytes: owner, extended attributes, mode and modification time, but nothing
/// that gives rights. Blocks.
enum CopiedAttributes {
    struct Given {
        /// What the copy's file system does not take, or the agent may not give; owner and group, which only a superuser
        /// may give away, and what the system itself keeps in attributes are not named.
        var lost: [String] = []
        /// What gives rights, and was left out.
        var dropped: [String] = []
    }

    private static let capabilities = "security.capability"

    /// Gives them to `copy`.
    ///
    /// - Parameter keepsOwner: whether it gets the owner and group of the source as well.
    /// - Throws: `Fault` for what is neither taken nor given for another reason than that it cannot be.
    static func give(
        of source: Descriptor, _ status: FileStatus, to copy: Descriptor, keepsOwner: Bool
    ) throws -> Given {
        // A change of owner takes mode bits and attributes away, and without write permission none can be set.
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
        // What was somebody else's is nobody's to write any more.
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

    /// Takes from an open file what would give rights to whoever runs it.
    ///
    /// - Returns: what was taken, in words; nil where the agent may not take it.
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

    /// Attributes have room of their own, so that a full one is no full disk.
    private static func isRefusal(_ code: Int32?, of attribute: String) -> Bool {
        isRefusal(code) || [E2BIG, ERANGE, ENOSPC, EDQUOT].contains(code)
    }
}
