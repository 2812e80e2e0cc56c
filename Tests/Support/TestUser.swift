import Glibc
import Platform

/// A user that needs no account: a number, taken on by `setpriv`. Only root can be one.
package struct TestUser: Sendable {
    package let id: uid_t

    /// Whose agent it is, and whose files nobody else may read.
    package static let victim = TestUser(id: 65_001)
    /// Who may write into the places, and nowhere else.
    package static let attacker = TestUser(id: 65_002)

    /// What stands before a program that this user runs.
    package var command: [String] {
        ["/usr/bin/setpriv", "--reuid=\(id)", "--regid=\(id)", "--clear-groups", "--"]
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

    /// Gives a file or folder to this user.
    package func own(_ path: BytePath) throws {
        guard lchown(path.text, id, id) == 0 else { throw Fault.system("give away", path) }
    }
}
