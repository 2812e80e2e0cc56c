import FileActions
import Foundation
import Glibc
import OwnFiles
import Platform
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

    @Test("It is rejected when rules are loaded unless the configuration allows it") func refusedRulesLoaded() throws {
        var options = ActionWorld.Options()
        options.run = RunPolicy(isAllowed: false)
        let (rules, diagnostics) = try scene.open(options).load("run: { command: [true] }")
        #expect(rules.isEmpty)
        #expect(diagnostics.contains { $0.message.contains("steward.yaml") }, "\(diagnostics.map(\.description))")
    }

    @Test("Its output is a value for the next steps") func printsValueNext() async throws {
        #expect(try await output("[echo, \"{{ file.name }}\"]") == "a b.txt\n")
        #expect(try await output("[sh, -c, \"echo one; echo two >&2\"]") == "one\ntwo\n")
    }

    @Test("The output is complete however quickly the program ends") func outputCompleteHowever() async throws {
        for number in 0..<30 { #expect(try await output("[echo, \"\(number)\"]") == "\(number)\n") }
    }

    @Test("Output beyond four KiB is read and discarded") func moreFourKib() async throws {
        let text = try await output("[sh, -c, \"yes | head -c 1000000\"]")
        #expect(text.utf8.count == 4096)
    }

    @Test("Arguments are passed to the program unchanged, without a shell") func argumentsGoProgram() async throws {
        let text = try await world.run(
            "run: { command: [printf, \"%s|\", \"{{ front.v | default: none }}\", \"$HOME\", \"*\"] }", on: "a b.txt",
            adding: ["front.v": .text("; touch evil; $(touch evil) 'x")])
        #expect(text.receipt.values["run.output"] == .text("; touch evil; $(touch evil) 'x|$HOME|*|"))
        #expect(try !scene.exists("dropbox/evil"))
    }

    @Test("It runs in an empty folder that is removed afterwards, and knows its job and file") func runsApart()
        async throws
    {
        try scene.home.write("dropbox/json/tool.py", "print('taken over')\n")
        let text = try await output(
            "[sh, -c, \"pwd; ls -A; stat -c %a .; touch left; mkdir -p l/m; echo $STEWARD_JOB_ID; echo $STEWARD_FILE; echo $MINE\"]",
            more: ", environment: { MINE: \"{{ file.stem }}\", STEWARD_JOB_ID: forged }")
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.dropFirst() == ["700", "job.0", "\(scene.path("dropbox").text)/a b.txt", "a b"])
        #expect(try FileStatus.of(BytePath(lines.first ?? "")) == nil)
        #expect(try listDirectory(BytePath(lines.first ?? "/").parent).isEmpty)
    }

    @Test("Python does not import modules from the file's folder", arguments: ["private", "file"])
    func python(folder: String) async throws {
        guard access("/usr/bin/python3", X_OK) == 0 else { try Test.cancel("python3 is wanted") }
        try scene.home.write("dropbox/json/__init__.py", "")
        try scene.home.write("dropbox/json/tool.py", "print('taken over')\n")
        try scene.home.write("dropbox/a b.txt", "{}")
        let command = "[python3, -m, json.tool, /dev/fd/3]"
        #expect(try await output(command, more: ", in: \(folder)") == "{}\n")
    }

    @Test("With `in: file` it runs in the file's folder") func runsFileFolder() async throws {
        let text = try await output("[sh, -c, \"pwd; cat './a b.txt'\"]", more: ", in: file")
        #expect(text == "\(scene.path("dropbox").text)\ncontent")
    }

    @Test("It has no network, little memory, few files and few processes, unless the rule says otherwise") func limits()
        async throws
    {
        let limits = "[sh, -c, \"ulimit -d; ulimit -n; ulimit -Hn\"]"
        #expect(try await output(limits) == "2097152\n1024\n1024\n")
        #expect(try await output(limits, more: ", memory: 64 MiB, open-files: 32") == "65536\n32\n32\n")
        func processes(_ count: Int) async throws -> Int {
            let limits = "[sed, -n, \"s/^Max processes *//p\", /proc/self/limits]"
            let text = try await output(limits, more: ", processes: \(count)")
            return try #require(Int(text.prefix { $0.isNumber }), "\(text)")
        }
        let (few, more) = (try await processes(3), try await processes(2003))
        #expect(few > 3 && more > few + 1000)
        let filters = "[sh, -c, \"grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status | tr -d '\\t\\n'\"]"
        #expect(try await output(filters).contains("NoNewPrivs:1Seccomp:2"))
        guard access("/usr/bin/python3", X_OK) == 0 else { try Test.cancel("python3 is wanted") }
        let sockets = """
            [python3, -c, "import socket\\nfor f in ('AF_UNIX', 'AF_INET', 'AF_INET6', 'AF_NETLINK'):\\n  try: socket.socket(getattr(socket, f), socket.SOCK_DGRAM); print(f)\\n  except OSError as e: print(e.errno)"]
            """
        #expect(try await output(sockets) == "AF_UNIX\n13\n13\n13\n")
        #expect(try await output(sockets, more: ", network: yes") == "AF_UNIX\nAF_INET\nAF_INET6\nAF_NETLINK\n")
        await #expect(throws: Fault.self) {
            try await output("[python3, -c, \"bytes(1 << 28)\"]", more: ", memory: 128 MiB")
        }
    }

    @Test("The judged file is open for it from the beginning") func fileJudgedOpen() async throws {
        let content = try scene.home.read("dropbox/a b.txt")
        #expect(try await output("[sh, -c, \"cat <&3\"]") == content)
        let exchange = "[sh, -c, \"mv 'a b.txt' aside; ln -s /etc/passwd 'a b.txt'; cat /dev/fd/3\"]"
        #expect(try await output(exchange, more: ", in: file") == content)
    }

    @Test("Its input is empty") func inputEmpty() async throws {
        #expect(try await output("[sh, -c, \"cat; echo end\"]") == "end\n")
    }

    @Test("A program that fails parks the job with its output") func programFailsParks() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"echo no such luck; exit 3\"]") }
        #expect(fault?.kind == .failed)
        #expect(fault?.message.contains("ended with 3") == true && fault?.message.contains("no such luck") == true)
    }

    @Test("A program ended by a signal is reported as such") func programSignalEnded() async throws {
        let fault = await #expect(throws: Fault.self) { try await output("[sh, -c, \"kill -9 $$\"]") }
        #expect(fault?.message.contains("137") == true, "\(fault?.message ?? "")")
    }

    @Test("A program that takes too long is terminated") func programTakesToo() async throws {
        let fault = await #expect(throws: Fault.self) {
            try await output("[sleep, \"1000\"]", more: ", timeout: 200ms")
        }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test("A program that ignores the request to terminate is killed") func programIgnoresRequest() async throws {
        let script = "[sh, -c, \"trap '' TERM; while :; do sleep 0.1; done\"]"
        let fault = await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 200ms") }
        #expect(fault?.message.contains("was ended after 0.2 s") == true, "\(fault?.message ?? "")")
    }

    @Test("Child processes of a program that takes too long end with it") func programTakesTooLong() async throws {
        let script = "[sh, -c, \"sleep 1000 & echo $! > child; wait\"]"
        await #expect(throws: Fault.self) { try await output(script, more: ", timeout: 1s, in: file") }
        let child = try #require(Int32(try scene.home.read("dropbox/child").trimmingCharacters(in: .newlines)))
        try await waitUntil("it has ended") {
            // Its new parent may not have reaped it yet; a process that has ended has no memory any more.
            let status = try? String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
            return status?.contains("VmSize") != true
        }
    }

    @Test("Processes left behind by a program may continue printing", .timeLimit(.minutes(2)))
    func programLeavesBehind()
        async throws
    {
        let text = try await output("[sh, -c, \"yes & echo $! > child; exit 0\"]", more: ", in: file")
        #expect(text.hasPrefix("y\n") || text.isEmpty)
        // Nobody reads its output any more, and that ends it.
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
        // Signals from 32 on belong to the C library.
        for mask in masks { #expect(mask.map { $0 & 0x7FFF_FFFF } == 0, "\(status)") }
    }

    @Test("A program that cannot be started is reported") func programStartedTold() async throws {
        try scene.home.write("dropbox/script", "#!/no/such/interpreter\n")
        chmod(scene.path("dropbox/script").text, 0o755)
        let fault = await #expect(throws: Fault.self) {
            try await output("[\"\(scene.path("dropbox/script").text)\"]")
        }
        #expect(fault?.message.contains("cannot start") == true, "\(fault?.message ?? "")")
    }

    @Test("A missing program is reported before anything is done") func programNamedBefore() async throws {
        let action = try world.action("run: { command: [no-such-program-here] }")
        let fault = await #expect(throws: Fault.self) { try await action.decided(try world.input("a b.txt")) }
        #expect(fault?.message.contains("no-such-program-here") == true && fault?.kind == .failed)
    }
}
