import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Checks of start and doctor")
struct StartCheckTests {
    enum Trouble: CaseIterable {
        case remoteState, interruptedRestore, missingLedger, corruptLedger, clockBehind, watchLimit, openConfiguration
    }

    private struct Scene {
        var doctor: String
        /// The message of a running agent, in `status` and to doctor; nil if its start logs the same.
        var agent: String?
        var wrapper: [String] = []
        var disk: StoppingDisk?
    }

    private static let ledger: BytePath = ".local/state/steward/ledger.sqlite"

    private func removeLedger(_ steward: AgentFixture) throws {
        for end in ["", "-wal", "-shm"] {
            try Durable.remove(steward.home.path.appending(BytePath("\(Self.ledger)\(end)")))
        }
    }

    private func scene(_ trouble: Trouble, _ steward: AgentFixture) async throws -> Scene {
        switch trouble {
        case .remoteState:
            try steward.folder("fuse")
            let disk = try await StoppingDisk.mounted(steward, at: "fuse")
            steward.variables["STEWARD_STATE"] = steward.path("fuse/state").text
            return Scene(doctor: "is on FUSE, where a ledger is not safe", disk: disk)
        case .interruptedRestore:
            try steward.home.write(Self.ledger.parent.appending("restore.json"), "{}")
            return Scene(doctor: "was interrupted, and only part of it is there")
        case .missingLedger:
            try await steward.start()
            try await steward.stop()
            try removeLedger(steward)
            return Scene(doctor: "the ledger was lost: there was none in \(steward.home.path)")
        case .corruptLedger:
            try await steward.start()
            try await steward.stop()
            try removeLedger(steward)
            try steward.home.write(Self.ledger, String(repeating: "no database ", count: 1000))
            return Scene(doctor: "corrupt (file is not a database)")
        case .clockBehind:
            try await steward.start()
            try await steward.stop()
            _ = try steward.inLedger("UPDATE history SET time = time + 86400000000000")
            return Scene(doctor: "it is behind, or was ahead then")
        case .watchLimit:
            let wrapper = [
                "/usr/bin/unshare", "-Ur", "sh", "-c",
                "echo 25 > /proc/sys/user/max_inotify_watches && exec \"$@\"", "sh",
            ]
            guard Editor.has("unshare"), try steward.shell(wrapper + ["true"]).status == 0 else {
                try Test.cancel("user namespaces are not permitted here")
            }
            for number in 1...50 { try steward.folder(BytePath("dropbox/f\(number)")) }
            return Scene(
                doctor: "this user may watch 25", agent: "the kernel's limit of watches is reached", wrapper: wrapper)
        case .openConfiguration:
            chmod(steward.home.path.appending(".config/steward/steward.yaml").text, 0o666)
            return Scene(doctor: "steward.yaml can be changed by others")
        }
    }

    @Test("Start and doctor find the same, and report it in the same words", arguments: Trouble.allCases)
    func agreement(_ trouble: Trouble) async throws {
        let steward = try AgentFixture()
        let scene = try await scene(trouble, steward)
        let before = try steward.shell(scene.wrapper + [AgentFixture.binary, "doctor"])
        #expect(before.status == 2 && before.output.contains(scene.doctor), "\(before.output)")
        let process = try await steward.launch(wrapper: scene.wrapper)
        try await steward.until("the start says it") {
            guard let agent = scene.agent else { return try steward.log().contains(scene.doctor) }
            guard process.isRunning else { throw TestFailure("the agent ended:\n\(try steward.log())") }
            return try steward.run(["status"]).output.contains(agent)
        }
        if let agent = scene.agent {
            let doctor = try steward.run(["doctor"])
            #expect(doctor.status == 2 && doctor.output.contains("!    agent, watches: \(agent)"), "\(doctor.output)")
        }
        try await steward.stop()
        withExtendedLifetime(scene.disk) {}
    }
}
