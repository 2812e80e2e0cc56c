import ControlSocket
import Glibc
import Platform
import TestSupport
import Testing

@testable import AgentKit

@Suite("The peer of the control socket")
struct SocketPeerTests {
    @Test("The kernel reports who connects and who listens, with all groups")
    func known() throws {
        let folder = try TemporaryFolder("peer", beneath: "/tmp")
        let path = folder.path.appending("s")
        let listener = try BareListener(path)
        let connection = try #require(try ControlConnection.connect(path))
        let peer = try connection.peer()
        #expect(peer.user == geteuid())
        #expect(peer.group == getegid())
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(groups.count), &groups)
        #expect(Set(peer.groups) == Set(groups.prefix(Int(count))))
        withExtendedLifetime(listener) {}
    }

    @Test(
        "An agent answers its own user, root, and the members of the given group",
        arguments: [
            (SocketPeer(user: 1_000, group: 5), nil, true), (SocketPeer(user: 0, group: 0), nil, true),
            (SocketPeer(user: 1_001, group: 1_000), nil, false),
            (SocketPeer(user: 1_001, group: 7, groups: [8, 9]), 9, true),
            (SocketPeer(user: 1_001, group: 9), 9, true),
            (SocketPeer(user: 1_001, group: 7, groups: [8]), 9, false),
        ] as [(SocketPeer, gid_t?, Bool)])
    func callers(_ peer: SocketPeer, _ group: gid_t?, _ isAnswered: Bool) {
        #expect(peer.mayCommand(agentOf: 1_000, group: group) == isAnswered)
    }

    @Test(
        "A command trusts its own user, root, and root's delegate, but nobody in a folder open to all")
    func listeners() throws {
        let folder = try TemporaryFolder("peer", beneath: "/tmp")
        let socket = folder.path.appending("control.sock")
        let me = geteuid()
        try TrustedListener.check(me, at: socket, own: me)
        try TrustedListener.check(0, at: socket, own: me + 1)
        // Anybody may create such a folder in /tmp, and it belongs to its creator.
        if me != 0 { #expect(throws: Fault.self) { try TrustedListener.check(me, at: socket, own: 4_242) } }
        let error = #expect(throws: Fault.self) { try TrustedListener.check(4_242, at: socket, own: me) }
        #expect(error?.message.contains("user 4242 listens at") == true)
        #expect(throws: Fault.self) {
            try TrustedListener.check(4_242, at: folder.path.appending("gone/control.sock"), own: me)
        }
        // Owned by root and writable for nobody else, but not assigned to anybody either.
        #expect(throws: Fault.self) { try TrustedListener.check(4_242, at: "/usr/control.sock", own: me) }
    }
}
