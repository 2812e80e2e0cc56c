import Glibc
import Platform

/// A user without an account: a uid, adopted with `setpriv`, which only root can do.
package struct TestUser: Sendable {
    package let id: uid_t
    /// Supplementary groups, by gid.
    package var groups: [gid_t] = []
    /// Whether its programs see no users and groups but its own, as in a unit with `PrivateUsers=yes`.
    package var isPrivate = false

    /// Runs the agent, and has files that nobody else may read.
    package static let victim = TestUser(id: 65_001)
    /// May write to the places, and nowhere else.
    package static let attacker = TestUser(id: 65_002)

    /// The command prefix for a program run by this user.
    package var command: [String] {
        let others = groups.isEmpty ? "--clear-groups" : "--groups=" + groups.map(String.init).joined(separator: ",")
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", others, "--"]
            + (isPrivate ? ["/usr/bin/unshare", "--user", "--map-current-user", "--"] : [])
    }

    /// Whether this process can become both users; otherwise tests that need them are skipped.
    ///
    /// Besides root this takes programs everybody may run, so not a checkout in a private home.
    package static let areBothHere: Bool = {
        guard geteuid() == 0 else { return false }
        return [victim.command + [AgentFixture.binary, "--version"], attacker.command + ["/usr/bin/python3", "-V"]]
            .allSatisfy { (try? runProgram($0, in: "/"))?.status == 0 }
    }()

    package static let comment: String =
        "two users need root, setpriv, /usr/bin/python3, and a build folder that everybody may enter"

    /// Whether users may create user namespaces here.
    package static let mayBePrivate: Bool = {
        var user = victim
        user.isPrivate = true
        return areBothHere && (try? runProgram(user.command + ["/bin/true"], in: "/"))?.status == 0
    }()

    /// Gives a file or folder to this user, and to a group by gid; by default to the user's own group.
    package func own(_ path: BytePath, group: gid_t? = nil) throws {
        guard lchown(path.text, id, group ?? id) == 0 else { throw Fault.system("give away", path) }
    }
}
