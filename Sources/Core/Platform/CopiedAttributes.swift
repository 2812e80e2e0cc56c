import Glibc

/// What of a file goes with a copy beside its bytes: owner, extended attributes, mode and modification time. Blocks.
enum CopiedAttributes {
    /// Gives them to `copy`.
    ///
    /// - Returns: what the copy's file system does not take, or the agent may not give; owner and group, which only a
    ///   superuser may give away, and what the system itself keeps in attributes are not named.
    /// - Throws: `Fault` for everything else.
    static func give(of source: Descriptor, _ status: FileStatus, to copy: Descriptor) throws -> [String] {
        // A change of owner takes mode bits and attributes away, and without write permission none can be set.
        let isOwned = fchown(copy.raw, status.owner, status.group) == 0
        if !isOwned { _ = fchown(copy.raw, uid_t.max, status.group) }
        var lost: [String] = []
        for name in try ExtendedAttributes.names(of: source) {
            do {
                guard let value = try ExtendedAttributes.value(name, of: source) else { continue }
                try ExtendedAttributes.set(name, value, on: copy)
            } catch let fault as Fault where isRefusal(fault.errno, of: name) {
                if name.hasPrefix("user.") || name.hasPrefix("system.") { lost.append("the attribute \(name)") }
            }
        }
        // With another owner these would give somebody else's rights.
        let mode = isOwned ? status.mode : status.mode & ~(S_ISUID | S_ISGID)
        if fchmod(copy.raw, mode) != 0 {
            guard isRefusal(errno) else { throw Fault.system("set the mode of", copy.path) }
            lost.append("the mode \(String(status.mode, radix: 8))")
        }
        let stamp = timespec(
            tv_sec: Int(status.fingerprint.modified / 1_000_000_000),
            tv_nsec: Int(status.fingerprint.modified % 1_000_000_000))
        if futimens(copy.raw, [stamp, stamp]) != 0 {
            guard isRefusal(errno) else { throw Fault.system("set the time of", copy.path) }
            lost.append("the time of its last change")
        }
        return lost
    }

    private static func isRefusal(_ code: Int32?) -> Bool {
        [ENOTSUP, EPERM, EACCES, EINVAL, ENOSYS].contains(code)
    }

    /// Attributes have room of their own, so that a full one is no full disk.
    private static func isRefusal(_ code: Int32?, of attribute: String) -> Bool {
        isRefusal(code) || [E2BIG, ERANGE, ENOSPC, EDQUOT].contains(code)
    }
}
