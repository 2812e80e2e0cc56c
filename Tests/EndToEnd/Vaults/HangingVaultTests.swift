import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Vaults whose file system does not respond")
struct HangingVaultTests {
    private static let password = "korrekte Pferde-Batterie"
    private static let captures = """

        - rule: Captures
          in: dropbox
          settle: 100ms
          do: [{ append-block: { heading: Captures, anchor: cap, text: "<{{ file.name }}>" } }]
        """

    /// A home with a vault on a separate disk.
    private func scene(_ configuration: String = "") async throws -> (AgentFixture, StoppingDisk) {
        let steward = try AgentFixture(configuration: configuration)
        try steward.rule(AgentFixture.sealing)
        let file: BytePath = ".config/steward/steward.yaml"
        let text = try steward.home.read(file)
        try steward.home.write(file, text.replacingOccurrences(of: "/vault, lock", with: "/disk/vault, lock"))
        // bindfs does not support a rename that replaces nothing, which creating a vault needs.
        let (place, served) = (steward.path("disk"), steward.home.path.appending("served"))
        try Durable.makeDirectory(place)
        try steward.vault(["init"], password: Self.password).check()
        guard rename(place.text, served.text) == 0 else { throw Fault.system("rename", place) }
        try Durable.makeDirectory(place)
        return (steward, try await StoppingDisk.mounted(steward, at: "disk"))
    }

    /// Runs a command, and kills it if it does not exit.
    private func ask(_ steward: AgentFixture, _ words: [String]) throws -> ProgramResult {
        try steward.shell(["/usr/bin/timeout", "120", AgentFixture.binary] + words)
    }

    @Test("Block neither health, status nor scrapers, are reported, and do not keep the agent from ending")
    func whileItRuns() async throws {
        let port = try freePort()
        let (steward, disk) = try await scene("metrics: { listen: \"127.0.0.1:\(port)\" }")
        defer { disk.answer() }
        try await steward.start()
        try await steward.until("it listens") { try steward.log().contains("serving metrics at") }
        try await steward.until("it is well") { try ask(steward, ["health"]).output == "healthy\n" }
        disk.stopAnswering()
        let silent = "no response at \(steward.path("disk/vault"))"
        // Another disk that has to spin up also takes a while.
        let told = try ask(steward, ["vault", "status"]).output
        #expect(told.contains("its disk has not responded yet") || told.contains(silent), "\(told)")
        #expect(!told.contains("there is no vault yet"))
        try await steward.until("it is taken for silent") {
            try ask(steward, ["vault", "status"]).output.contains(silent)
        }
        #expect(try ask(steward, ["health"]).status == 2)
        try await steward.until("it shows") {
            try ask(steward, ["status"]).output.contains("the vault main: a file system does not respond")
        }
        // Reported once, by the line that includes the time.
        #expect(try ask(steward, ["health"]).output.occurrences(of: "the vault main") == 1)
        #expect(try ask(steward, ["metrics"]).output.contains("\nsteward_hanging_calls 1\n"))
        let scraped = try steward.shell([
            "/usr/bin/curl", "-s", "-m", "120", "--noproxy", "*", "-w", "%{http_code}",
            "http://127.0.0.1:\(port)/health",
        ])
        #expect(scraped.output == "hanging 1\n503")
        #expect(try await steward.stop() == 0)
        disk.answer()
        try await steward.start()
        try await steward.until("it is well again") { try ask(steward, ["health"]).output == "healthy\n" }
        try await steward.stop()
    }

    @Test("Nor when they are unlocked")
    func unlocked() async throws {
        let (steward, disk) = try await scene()
        defer { disk.answer() }
        try await steward.start()
        try steward.vault(["unlock"], password: Self.password).check()
        disk.stopAnswering()
        try await steward.until("it is taken for silent") {
            let told = try ask(steward, ["vault", "status"]).output
            #expect(told.contains("unlocked since"), "\(told)")
            return told.contains("no response at")
        }
        #expect(try ask(steward, ["health"]).status == 2)
        disk.answer()
        try await steward.until("it is well again") { try ask(steward, ["health"]).status == 0 }
        try await steward.stop()
    }

    @Test("Do not keep an agent with their credential from starting and ending, and are unlocked when they respond")
    func whenItStarts() async throws {
        let (steward, disk) = try await scene()
        defer { disk.answer() }
        try steward.home.write("credentials/steward-vault-main", Self.password + "\n")
        steward.variables["CREDENTIALS_DIRECTORY"] = steward.home.path.appending("credentials").text
        disk.stopAnswering()
        try await steward.start()
        #expect(try steward.log().contains("the vault main is not unlocked yet"))
        #expect(try await steward.stop() == 0)
        try await steward.start()
        disk.answer()
        try await steward.until("it is unlocked") {
            try ask(steward, ["vault", "status"]).output.contains("unlocked since")
        }
        #expect(try await steward.stop() == 0)
    }

    @Test("A place with hidden names that does not respond does not block the start, and its jobs wait")
    func hiddenNames() async throws {
        let steward = try AgentFixture.withVault(
            password: Self.password, rule: AgentFixture.sealing + Self.captures, configuration: "poll: 1s")
        let disk = try await StoppingDisk.mounted(steward, at: "comics")
        defer { disk.answer() }
        try await steward.start()
        try steward.wait()
        try steward.run(["pause"]).check()
        try steward.home.write("served/Coelacanthus.cbz", packed([Packed(name: "1.png", bytes: picture(1))]))
        try await steward.until("its job is planned") { try steward.json(["status"])["jobs"]["ready"].number == 1 }
        try await steward.kill9()
        disk.stopAnswering()
        try await steward.start()
        #expect(try steward.log().contains("the place comics: no response at \(steward.path("comics"))"))
        try steward.drop("dropbox/a.txt", "a")
        try steward.run(["resume"]).check()
        try await steward.until("captures are taken") { try steward.notes().contains("<a.txt>") }
        try await steward.until("the comic waits for its name") {
            try steward.status().waiting.contains { $0.problem.contains("the names of hidden files in comics") }
        }
        disk.answer()
        try await steward.until("it is in the vault") { try steward.numberOfDrops() == 1 }
        try steward.wait()
        #expect(try steward.json(["status"])["jobs"]["done"].number == 2)
        #expect(try steward.json(["status"])["jobs"].keys.sorted() == ["done"])
        #expect(try steward.files("comics").isEmpty)
        #expect(try !steward.log().contains("Coelacanthus"))
        try await steward.stop()
    }
}
