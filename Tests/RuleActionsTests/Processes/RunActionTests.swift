import Foundation
import Glibc
import Platform
import ProcessActions
import Rules
import TestSupport
import Testing

@Suite("Running a program") struct RunActionTests {
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

    @Test("It is refused when rules are loaded unless the configuration allows it") func refusedRulesLoaded() throws {
        var options = ActionWorld.Options()
        options.run = RunPolicy(isAllowed: false)
        let (rules, diagnostics) = try scene.open(options).load("run: { command: [true] }")
        #expect(rules.isEmpty)
        #expect(diagnostics.contains { $0.message.contains("steward.yaml") }, "\(diagnostics.map(\.description))")
    }

    @Test("What it prints is a value for the next steps") func printsValueNext() async throws {
        #expect(try await output("[echo, \"{{ file.name }}\"]") == "a b.txt\n")
        #expect(try await output("[sh, -c, \"echo one; echo two >&2\"]") == "one\ntwo\n")
    }

    @Test("The output is complete however quickly the program ends") func outputCompleteHowever() async throws {
        for number in 0..<30 { #expect(try await output("[echo, \"\(number)\"]") == "\(number)\n") }
    }

    @Test("More than four KiB are read and dropped") func moreFourKib() async throws {
        let text = try await output("[sh, -c, \"yes | head -c 1000000\"]")
        #expect(text.utf8.count == 4096)
    }

    @Test("Arguments go to the program as they are without a shell") func argumentsGoProgram() async throws {
        let text = try await world.run(
            "run: { command: [printf, \"%s|\", \"{{ front.v | default: none }}\", \"$HOME\", \"*\"] }", on: "a b.txt",
            adding: ["front.v": .text("; touch evil; $(touch evil) 'x")])
        #expect(text.receipt.values["run.output"] == .text("; touch evil; $(touch evil) 'x|$HOME|*|"))
        #expect(try !scene.exists("dropbox/evil"))
    }

    @Test("It runs in the file's folder and knows its job and file") func runsFileFolder() async throws {
        let text = try await output(
            "[sh, -c, \"pwd; echo $STEWARD_JOB_ID; echo $STEWARD_FILE; echo $MINE\"]",
            more: ", environment: { MINE: \"{{ file.stem }}\", STEWARD_JOB_ID: forged }")
        let folder = scene.path("dropbox").text
        #expect(text == "\(folder)\njob.0\n\(folder)/a b.txt\na b\n")
    }

    @Test("The file that was judged is open for it from the beginning") func fileJudgedOpen() async throws {
        let content = try scene.home.read("dropbox/a b.txt")
        #expect(try await output("[sh, -c, \"cat <&3\"]") == content)
        #expect(
            try await output("[sh, -c, \"mv 'a b.txt' aside; ln -s /etc/passwd 'a b.txt'; cat /dev/fd/3\"]") == content)
    }

    @Test("Its input is empty") func inputEmpty() async throws {
        #expect(try await output("[sh, -c, \"cat; echo end\"]") == "end\n")
    }

    @Test("A program that fails parks the job with what it said") func programFailsParks() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"echo no such luck; exit 3\"]") }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("ended with 3") == true && fault?.message.contains("no such luck") == true)
    }

    @Test("A program that a signal ended is said to have been") func programSignalEnded() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"kill -9 $$\"]") }
        #expect(fault?.message.contains("137") == true, "\(fault?.message ?? "")")
    }

    @Test("A program that takes too long is ended") func programTakesToo() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await output("[sleep, \"1000\"]", more: ", timeout: 200ms")
        }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test("A program that ignores the request to end is killed") func programIgnoresRequest() async throws {
        let script = "[sh, -c, \"trap '' TERM; while :; do sleep 0.1; done\"]"
        let fault = await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 200ms") }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test("What a program that takes too long has started ends with it") func programTakesTooLong() async throws {
        let script = "[sh, -c, \"sleep 1000 & echo $! > child; wait\"]"
        await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 1s") }
        let child = try #require(Int32(try scene.home.read("dropbox/child").trimmingCharacters(in: .newlines)))
        try await waitUntil("it has ended") {
            // Its new parent may not have waited for it yet; a process that has ended has no memory any more.
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
    }

    @Test("What a program leaves behind may go on printing", .timeLimit(.minutes(2))) func programLeavesBehind()
        async throws
    {
        let text = try await output("[sh, -c, \"yes & echo $! > child; exit 0\"]")
        #expect(text.hasPrefix("y\n") || text.isEmpty)
        // Nobody reads what it prints any more, and that ends it.
        let child = try #require(Int32(try scene.home.read("dropbox/child").trimmingCharacters(in: .newlines)))
        try await waitUntil("it has ended") {
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
    }

    @Test("No signal is blocked or ignored in a program") func signalBlockedIgnored() async throws {
        let status = try await output("[grep, -E, \"^Sig(Blk|Ign)\", /proc/self/status]")
        let masks = status.split(separator: "\n").map { UInt64($0.suffix(16), radix: 16) }
        #expect(masks.count == 2)
        // Those from 32 on are the C library's own.
        for mask in masks { #expect(mask.map { $0 & 0x7FFF_FFFF } == 0, "\(status)") }
    }

    @Test("A program that cannot be started is told") func programStartedTold() async throws {
        try scene.home.write("dropbox/script", "#!/no/such/interpreter\n")
        chmod(scene.path("dropbox/script").text, 0o755)
        let fault = await #expect(throws: Fault.self) {
            try await output("[\"\(scene.path("dropbox/script").text)\"]")
        }
        #expect(fault?.message.contains("cannot start") == true, "\(fault?.message ?? "")")
    }

    @Test("A program that is not there is named before anything is done") func programNamedBefore() async throws {
        let action = try world.action("run: { command: [no-such-program-here] }")
        let fault = await #expect(throws: Fault.self) { try await action.decided(try world.input("a b.txt")) }
        #expect(fault?.message.contains("no-such-program-here") == true && fault?.kind == .failed)
    }
}
