import Glibc
import Platform

/// A user that needs no account: a number, taken on by `setpriv`. Only root can be one.
package struct TestUser: Sendable {
    package let id: uid_t
    /// Those that it is in besides its own, by their numbers.
    package var groups: [gid_t] = []
    /// Whether its programs know no users and groups but its own, as in a unit with `PrivateUsers=yes`.
    package var isPrivate = false

    /// Whose agent it is, and whose files nobody else may read.
    package static let victim = TestUser(id: 65_001)
    /// Who may write into the places, and nowhere else.
    package static let attacker = TestUser(id: 65_002)

    /// What stands before a program that this user runs.
    package var command: [String] {
        let others = groups.isEmpty ? "--clear-groups" : "--groups=" + groups.map(String.init).joined(separator: ",")
        return ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", others, "--"]
            + (isPrivate ? ["/usr/bin/unshare", "--user", "--map-current-user", "--"] : [])
    }

    /// Whether this process can be both; the test that needs them is skipped otherwise.
    ///
    /// Besides root it takes programs that everybody may run: a checkout in somebody's closed home is none.
    package static let areBothHere: Bool = {
        guard geteuid() == 0 else { return false }
        return [victim.command + [AgentFixture.binary, "--version"], attacker.command + ["/usr/bin/python3", "-V"]]
            .allSatisfy { (try? runProgram($0, in: "/"))?.status == 0 }
    }()

    package static let comment: String =
        "two users need root, setpriv, /usr/bin/python3, and a build folder that everybody may enter"

    /// Whether users may have namespaces of their own here.
    package static let mayBePrivate: Bool = {
        var user = victim
        user.isPrivate = true
        return areBothHere && (try? runProgram(user.command + ["/bin/true"], in: "/"))?.status == 0
    }()

    /// Gives a file or folder to this user, and to a group, by its number; by default to its own.
    package func own(_ path: BytePath, group: gid_t? = nil) throws {
        guard lchown(path.text, id, group ?? id) == 0 else { throw Fault.system("give away", path) }
    }
}
