import Foundation
import Glibc
import Platform
import ProcessActions
import Rules
import TestSupport
import Testing

@Suite struct RunAction {
    private let scene: ActionScene
    private let world: ActionWorld

    init() throws {
        scene = try ActionScene()
        world = try scene.open()
        try scene.home.write("dropbox/a b.txt", "content")
    }

    private func output(_ command: String, more: String = "") async throws -> String {
        let deed = try await world.run("run: { command: \(command)\(more) }", on: "a b.txt")
        guard case .text(let text)? = deed.receipt.values["run.output"] else { throw TestFailure("no output") }
        return text
    }

    @Test func itIsRefusedWhenRulesAreLoadedUnlessTheConfigurationAllowsIt() throws {
        var options = ActionWorld.Options()
        options.run = RunPolicy(isAllowed: false)
        let (rules, diagnostics) = try scene.open(options).load("run: { command: [true] }")
        #expect(rules.isEmpty)
        #expect(diagnostics.contains { $0.message.contains("steward.yaml") }, "\(diagnostics.map(\.description))")
    }

    @Test func whatItPrintsIsAValueForTheNextSteps() async throws {
        #expect(try await output("[echo, \"{{ file.name }}\"]") == "a b.txt\n")
        #expect(try await output("[sh, -c, \"echo one; echo two >&2\"]") == "one\ntwo\n")
    }

    @Test func theOutputIsCompleteHoweverQuicklyTheProgramEnds() async throws {
        for number in 0..<30 { #expect(try await output("[echo, \"\(number)\"]") == "\(number)\n") }
    }

    @Test func moreThanFourKiBAreReadAndDropped() async throws {
        let text = try await output("[sh, -c, \"yes | head -c 1000000\"]")
        #expect(text.utf8.count == 4096)
    }

    @Test func argumentsGoToTheProgramAsTheyAreWithoutAShell() async throws {
        let text = try await world.run(
            "run: { command: [printf, \"%s|\", \"{{ front.v | default: none }}\", \"$HOME\", \"*\"] }", on: "a b.txt",
            adding: ["front.v": .text("; touch evil; $(touch evil) 'x")])
        #expect(text.receipt.values["run.output"] == .text("; touch evil; $(touch evil) 'x|$HOME|*|"))
        #expect(try !scene.exists("dropbox/evil"))
    }

    @Test func itRunsInTheFilesFolderAndKnowsItsJobAndFile() async throws {
        let text = try await output(
            "[sh, -c, \"pwd; echo $STEWARD_JOB_ID; echo $STEWARD_FILE; echo $MINE\"]",
            more: ", environment: { MINE: \"{{ file.stem }}\", STEWARD_JOB_ID: forged }")
        let folder = scene.path("dropbox").text
        #expect(text == "\(folder)\njob.0\n\(folder)/a b.txt\na b\n")
    }

    @Test func theFileThatWasJudgedIsOpenForItFromTheBeginning() async throws {
        let content = try scene.home.read("dropbox/a b.txt")
        #expect(try await output("[sh, -c, \"cat <&3\"]") == content)
        #expect(
            try await output("[sh, -c, \"mv 'a b.txt' aside; ln -s /etc/passwd 'a b.txt'; cat /dev/fd/3\"]") == content)
    }

    @Test func itsInputIsEmpty() async throws {
        #expect(try await output("[sh, -c, \"cat; echo end\"]") == "end\n")
    }

    @Test func aProgramThatFailsParksTheJobWithWhatItSaid() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"echo no such luck; exit 3\"]") }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("ended with 3") == true && fault?.message.contains("no such luck") == true)
    }

    @Test func aProgramThatASignalEndedIsSaidToHaveBeen() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"kill -9 $$\"]") }
        #expect(fault?.message.contains("137") == true, "\(fault?.message ?? "")")
    }

    @Test func aProgramThatTakesTooLongIsEnded() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await output("[sleep, \"1000\"]", more: ", timeout: 200ms")
        }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test func aProgramThatIgnoresTheRequestToEndIsKilled() async throws {
        let script = "[sh, -c, \"trap '' TERM; while :; do sleep 0.1; done\"]"
        let fault = await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 200ms") }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test func whatAProgramThatTakesTooLongHasStartedEndsWithIt() async throws {
        let script = "[sh, -c, \"sleep 1000 & echo $! > child; wait\"]"
        await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 1s") }
        let child = try #require(Int32(try scene.home.read("dropbox/child").trimmingCharacters(in: .newlines)))
        try await waitUntil("it has ended") {
            // Its new parent may not have waited for it yet; a process that has ended has no memory any more.
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
    }

    @Test(.timeLimit(.minutes(2))) func whatAProgramLeavesBehindMayGoOnPrinting() async throws {
        let text = try await output("[sh, -c, \"yes & echo $! > child; exit 0\"]")
        #expect(text.hasPrefix("y\n") || text.isEmpty)
        // Nobody reads what it prints any more, and that ends it.
        let child = try #require(Int32(try scene.home.read("dropbox/child").trimmingCharacters(in: .newlines)))
        try await waitUntil("it has ended") {
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
    }

    @Test func noSignalIsBlockedOrIgnoredInAProgram() async throws {
        let status = try await output("[grep, -E, \"^Sig(Blk|Ign)\", /proc/self/status]")
        let masks = status.split(separator: "\n").map { UInt64($0.suffix(16), radix: 16) }
        #expect(masks.count == 2)
        // Those from 32 on are the C library's own.
        for mask in masks { #expect(mask.map { $0 & 0x7FFF_FFFF } == 0, "\(status)") }
    }

    @Test func aProgramThatCannotBeStartedIsTold() async throws {
        try scene.home.write("dropbox/script", "#!/no/such/interpreter\n")
        chmod(scene.path("dropbox/script").text, 0o755)
        let fault = await #expect(throws: Fault.self) {
            try await output("[\"\(scene.path("dropbox/script").text)\"]")
        }
        #expect(fault?.message.contains("cannot start") == true, "\(fault?.message ?? "")")
    }

    @Test func aProgramThatIsNotThereIsNamedBeforeAnythingIsDone() async throws {
        let action = try world.action("run: { command: [no-such-program-here] }")
        let fault = await #expect(throws: Fault.self) { try await action.decided(try world.input("a b.txt")) }
        #expect(fault?.message.contains("no-such-program-here") == true && fault?.kind == .failed)
    }
}
