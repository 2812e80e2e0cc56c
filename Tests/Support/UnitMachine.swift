import Foundation
import Glibc
import OwnFiles
import Platform

/// A machine of its own under a real systemd, with the units as `make install` installs them, and in it the programs that
/// were built beside the tests. The scripts in Tests/Machine boot it and leave nothing behind.
package final class UnitMachine: Sendable {
    /// Who asks in the machine.
    package enum User: Sendable {
        case root
        /// Who the system's unit runs as, with the variables that systemd gives it.
        case service
        /// A person with a service manager of their own.
        case anna
    }

    private static let scripts = BytePath(#filePath).parent.parent.appending("Machine")
    private static let settings = ["PATH": "/usr/bin:/usr/sbin:/bin:/sbin"]

    /// Why no machine can be booted here, in words; nil where one can.
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

    /// The machine's root folder, as this machine sees it.
    package var root: BytePath { folder.path.appending("root") }

    /// Boots it, and returns when all of it is up.
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
        // Where the programs look for them is part of /usr, which is this machine's own.
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

    /// Puts a file there as anna would, readable and writable for its group.
    package func put(_ bytes: [UInt8], at target: String) throws {
        let name = "tmp/\(randomHex(6))"
        let file = try folder.write(BytePath("root/\(name)"), bytes)
        try run(["sh", "-c", "umask 002; cat /\(name) > \"$0.part\" && mv \"$0.part\" \"$0\"", target], as: .anna)
            .check()
        try Durable.remove(file)
    }

    /// The texts of all files below a folder of the machine whose names end so.
    package func texts(_ folder: String, _ ending: String) throws -> String {
        try run(["find", folder, "-name", "*\(ending)", "-exec", "cat", "{}", "+"]).check().output
    }

    /// What was written to the journal, with its priorities.
    ///
    /// - Parameter matches: which of it; see journalctl(1).
    package func journal(_ matches: [String]) throws -> [(text: String, priority: String)] {
        try run(["journalctl", "--sync"]).check()
        return try run(["journalctl", "--no-pager", "-o", "json"] + matches).check().output.split(separator: "\n").map {
            let entry = try Answer(parsing: String($0))
            return (entry["MESSAGE"].text, entry["PRIORITY"].text)
        }
    }
}

/// The script that holds a machine, which ends with its standard input.
private final class MachineProcess: @unchecked Sendable {  // changed nowhere but in `init` and `end`
    private let process: Process
    private let input = Pipe()
    /// The machine's first process, by its number outside.
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
