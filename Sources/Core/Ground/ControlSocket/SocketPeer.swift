import Glibc
import OwnFiles
import Platform

/// The peer of a Unix socket as the kernel identifies it: for a client the process that called connect(2), for a
/// listener the one that called listen(2).
package struct SocketPeer: Sendable, Equatable {
    package let user: uid_t
    package let group: gid_t
    /// Its supplementary groups.
    package let groups: [gid_t]

    package init(user: uid_t, group: gid_t, groups: [gid_t] = []) {
        (self.user, self.group, self.groups) = (user, group, groups)
    }

    /// - Throws: `Fault` if the kernel does not provide the credentials.
    package init(of descriptor: Int32) throws {
        // A `struct ucred`: process, user, group.
        var found: (pid_t, uid_t, gid_t) = (0, 0, 0)
        var size = socklen_t(MemoryLayout.size(ofValue: found))
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &found, &size) == 0 else {
            throw Fault.system("identify the control socket's peer")
        }
        self.init(user: found.1, group: found.2, groups: try Self.groups(of: descriptor))
    }

    private static func groups(of descriptor: Int32) throws -> [gid_t] {
        var groups = [gid_t](repeating: 0, count: 64)
        while true {
            var size = socklen_t(groups.count * MemoryLayout<gid_t>.stride)
            let result = getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &size)
            let count = Int(size) / MemoryLayout<gid_t>.stride
            if result == 0 { return Array(groups.prefix(count)) }
            guard errno == ERANGE, count > groups.count else {
                throw Fault.system("get the groups of the control socket's peer")
            }
            groups = [gid_t](repeating: 0, count: count)
        }
    }

    /// Whether an agent of `user` answers this peer: the same user, root, or a member of the configured group.
    package func mayCommand(agentOf user: uid_t = geteuid(), group: gid_t?) -> Bool {
        if self.user == user || self.user == 0 { return true }
        guard let group else { return false }
        return self.group == group || groups.contains(group)
    }
}

/// Listeners that a command trusts: an agent of its own user; root, as which systemd listens; and a user who was given
/// the socket's folder by root or by the command's user, as systemd gives /run/steward to the service's user.
package enum TrustedListener {
    /// - Parameters:
    ///   - user: the listener's user.
    ///   - own: the command's user.
    /// - Throws: `Fault` naming the listener if it is not trusted. Blocks.
    package static func check(_ user: uid_t, at socket: BytePath, own: uid_t = geteuid()) throws {
        if user == own || user == 0 { return }
        guard try !isGiven(socket.parent, to: user, own: own) else { return }
        throw Fault(
            .failed,
            "user \(user) listens at \(socket), without permission from root or you: nothing was sent. If it is the "
                + "agent you mean, run the command as that user, or as root; otherwise find out what is listening there, or use "
                + "another folder (STEWARD_RUNTIME)", path: socket)
    }

    /// Whether root or the command's user has given a folder to `user`: on the way down to that user's folder, all
    /// folders belong to root or to the command's user, and nobody else may write in them.
    private static func isGiven(_ folder: BytePath, to user: uid_t, own: uid_t) throws -> Bool {
        guard let real = folder.real else { return false }
        var path: BytePath = "/"
        var isTheirs = false
        for name in [[UInt8]()] + real.components.map(Array.init) {
            if !name.isEmpty { path = path.appending(name: name) }
            guard let status = try FileStatus.of(path), status.kind == .directory else { return false }
            if status.owner == user {
                isTheirs = true
            } else {
                // Anyone who can write there can create a folder of their own, even with the sticky bit set.
                guard !isTheirs, status.owner == 0 || status.owner == own, status.mode & 0o022 == 0 else {
                    return false
                }
            }
        }
        return isTheirs
    }
}
