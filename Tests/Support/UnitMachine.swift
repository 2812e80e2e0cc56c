import Foundation
import Glibc
import OwnFiles
import Platform

/// A separate machine under a real systemd, with the units as `make install` installs them and the programs built
/// beside the tests. The scripts in Tests/Machine boot it and leave nothing behind.
package final class UnitMachine: Sendable {
    /// Who runs a command in the machine.
    package enum User: Sendable {
        case root
        /// The user of the system's unit, with the variables that systemd sets.
        case service
        /// A person with their own service manager.
        case anna
    }

    private static let scripts = BytePath(#filePath).parent.parent.appending("Machine")
    private static let settings = ["PATH": "/usr/bin:/usr/sbin:/bin:/sbin"]

    /// Why no machine can be booted here; nil if one can.
    package static let obstacle: String? = {
        do {
            let boot = scripts.appending("boot.sh").text
            let found = try TemporaryFolder().run([boot, "check"], environment: settings)
            return found.status == 0 ? nil : "no unit is started: \(found.errors)"
        } catch {
            return "no unit is started: \(error)"
        }
    }()

    private let folder: TemporaryFolder
    private let systemd: MachineProcess

    /// The machine's root folder, as seen from outside.
    package var root: BytePath { folder.path.appending("root") }

    /// Boots it, and returns when everything is up.
    package init() async throws {
        await AgentSlots.shared.acquire()
        do {
            folder = try TemporaryFolder("steward-machine")
            let built = BytePath(AgentFixture.binary).parent.text
            try folder.run(
                [Self.scripts.appending("install.sh").text, built, folder.path.text], environment: Self.settings
            ).check()
            systemd = try MachineProcess([Self.scripts.appending("boot.sh").text, folder.path.text])
        } catch {
            AgentSlots.shared.give()
            throw error
        }
        try await waitUntil("the machine is up") {
            let state = try run(["systemctl", "is-system-running"]).output
            return state.hasPrefix("running") || state.hasPrefix("degraded")
        }
        // The search path of the programs is inside /usr, which belongs to this machine.
        try run(["mkdir", "-p", "/etc/steward"]).check()
        try run(["ln", "-s", "/opt/steward/share/steward/rules.d", "/etc/steward/rules.d"]).check()
    }

    deinit {
        systemd.end()
        AgentSlots.shared.give()
    }

    /// Runs a program in the machine to its end.
    @discardableResult
    package func run(_ command: [String], as user: User = .root) throws -> ProgramResult {
        let enter = ["nsenter", "-t", "\(systemd.first)", "-m", "-p", "-n", "-u", "-i", "-C", "--"]
        let path = "PATH=/opt/steward/bin:/usr/bin:/usr/sbin"
        let become =
            switch user {
            case .root: ["env", "-i", path, "HOME=/root"]
            case .service:
                ["setpriv", "--reuid=steward", "--regid=steward", "--init-groups", "env", "-i", path]
                    + ["HOME=/var/lib/steward", "STATE_DIRECTORY=/var/lib/steward", "RUNTIME_DIRECTORY=/run/steward"]
            case .anna:
                ["setpriv", "--reuid=anna", "--regid=anna", "--init-groups", "env", "-i", path]
                    + ["HOME=/home/anna", "XDG_RUNTIME_DIR=/run/user/1000"]
            }
        return try folder.run(enter + become + command, environment: Self.settings)
    }

    /// Writes a file as anna would, readable and writable for its group.
    package func put(_ bytes: [UInt8], at target: String) throws {
        let name = "tmp/\(randomHex(6))"
        let file = try folder.write(BytePath("root/\(name)"), bytes)
        try run(["sh", "-c", "umask 002; cat /\(name) > \"$0.part\" && mv \"$0.part\" \"$0\"", target], as: .anna)
            .check()
        try Durable.remove(file)
    }

    /// The texts of all files below a folder of the machine with this extension.
    package func texts(_ folder: String, _ ending: String) throws -> String {
        try run(["find", folder, "-name", "*\(ending)", "-exec", "cat", "{}", "+"]).check().output
    }

    /// The journal's entries, with their priorities.
    ///
    /// - Parameter matches: a filter; see journalctl(1).
    package func journal(_ matches: [String]) throws -> [(text: String, priority: String)] {
        try run(["journalctl", "--sync"]).check()
        return try run(["journalctl", "--no-pager", "-o", "json"] + matches).check().output.split(separator: "\n").map {
            let entry = try Answer(parsing: String($0))
            return (entry["MESSAGE"].text, entry["PRIORITY"].text)
        }
    }
}

/// The script that runs a machine and ends when its standard input closes.
private final class MachineProcess: @unchecked Sendable {  // changed nowhere but in `init` and `end`
    private let process: Process
    private let input = Pipe()
    /// The machine's first process, by its pid outside.
    let first: Int32

    init(_ command: [String]) throws {
        process = Process(command)
        process.standardInput = input
        do {
            first = Int32(try process.runUntilNumber())
        } catch {
            try? input.fileHandleForWriting.close()
            throw error
        }
    }

    func end() {
        // Not by a signal: Foundation starts it with all of them blocked.
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
