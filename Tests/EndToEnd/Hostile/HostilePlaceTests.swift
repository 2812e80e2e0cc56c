import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

@Suite("Hostile files and places")
struct HostilePlaceTests {
    private static let rule = """
        - rule: Captures
          in: dropbox
          on: [arrived]
          settle: 100ms
          do:
            - index-capture
            - append-block: { heading: Captures, anchor: cap, text: "<{{ capture.text }}>" }
            - trash
        - rule: Losses
          in: dropbox
          on: [removed]
          settle: 100ms
          do:
            - append-block: { note: losses, heading: Losses, anchor: loss, text: "{{ file.name }}" }
        """

    private func agent(_ configuration: String = "") throws -> AgentFixture {
        let steward = try AgentFixture(configuration: configuration)
        try steward.rule("10-captures.yaml", Self.rule)
        return steward
    }

    /// Waits until each of the captures is in the notes, and expects each exactly once.
    private func expect(_ names: [String], _ steward: AgentFixture, seconds: Double = 60) async throws {
        try await steward.until("all blocks are in the notes", seconds: seconds) {
            let notes = try steward.notes()
            return names.allSatisfy { notes.contains("<\($0)>") }
        }
        try steward.wait()
        let notes = try steward.notes()
        for name in names { #expect(notes.occurrences(of: "<\(name)>") == 1, "\(name)") }
    }

    @Test("A file of two gibibytes is quarantined without being read into memory")
    func huge() async throws {
        let steward = try agent()
        try await steward.start()
        let staged = try steward.home.write("staged", "")
        truncate(staged.text, 2 << 30)
        rename(staged.text, steward.path("dropbox/huge.txt").text)
        try await steward.until("it is in quarantine", seconds: 240) { try steward.status().quarantined == 1 }
        #expect(try steward.files("dropbox").isEmpty)
        #expect(try steward.run(["quarantine", "list"]).output.contains("2147483648 bytes"))
        let process = try #require(steward.processID)
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }.flatMap { line in
            Int(line.filter(\.isNumber))
        }
        #expect(try #require(peak) < 200 << 10, "kB")
        try await steward.stop()
    }

    @Test("Pipes, sockets, devices and links in a place are ignored and block nothing")
    func special() async throws {
        let steward = try agent()
        try await steward.start()
        let folder = steward.path("dropbox")
        let outside = try steward.home.write("outside.txt", "outside")
        mkfifo(folder.appending("pipe.txt").text, 0o644)
        symlink(outside.text, folder.appending("link.txt").text)
        symlink("loop.txt", folder.appending("loop.txt").text)
        symlink("/nowhere", folder.appending("dangling.txt").text)
        symlink(steward.home.path.text, folder.appending("folder").text)
        try steward.shell([
            "perl", "-MIO::Socket::UNIX", "-e", "IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1)",
            "Steward/dropbox/socket.txt",
        ])
        .check()
        if getuid() == 0 { mknod(folder.appending("null.txt").text, S_IFCHR | 0o666, 0x103) }
        let special = Set(try AgentFixture.names(in: folder).map(\.name))
        #expect(special.count >= 6)
        try steward.drop("dropbox/plain.txt", "plain")
        try await expect(["plain"], steward)
        #expect(Set(try AgentFixture.names(in: folder).map(\.name)) == special)
        #expect(try steward.loggedLines().filter { $0.kind == "planned" }.map(\.path) == ["plain.txt"])
        #expect(try steward.home.read("outside.txt") == "outside")
        try await steward.stop()
    }

    @Test("An unreadable file blocks nothing, is reported everywhere, and is processed once readable")
    func unreadable() async throws {
        // Without these, root cannot read everything either.
        let lower = getuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
        let steward = try agent("log: { format: json }")
        try await steward.start(wrapper: lower)
        let staged = try steward.home.write("staged", "secret")
        chmod(staged.text, 0)
        let secret = steward.path("dropbox/secret.txt")
        rename(staged.text, secret.text)
        try steward.drop("dropbox/plain.txt", "plain")
        try await steward.until("the other is taken") { try steward.notes().contains("<plain>") }
        try await steward.until("it is passed over") {
            try steward.status().places.contains { $0.name == "dropbox" && $0.unreadable == ["secret.txt"] }
        }
        try steward.wait()
        #expect(try steward.status().settling.isEmpty)
        let told = try steward.logged("secret.txt in dropbox may not be read (Permission denied)")
        #expect(told.map { [$0["place"].text, $0["path"].text] } == [["dropbox", "secret.txt"]])
        #expect(try steward.run(["status"]).check().output.contains("unreadable: secret.txt"))

        let explained = try steward.shell(lower + [AgentFixture.binary, "explain", secret.text]).check().output
        #expect(explained.contains("! this user cannot read it"))
        #expect(explained.contains("Captures: matches"))
        #expect(explained.contains("1. index-capture, once the file is readable"))
        let doctor = try steward.shell(lower + [AgentFixture.binary, "doctor"])
        #expect(doctor.status == 2)
        #expect(doctor.output.contains("place dropbox: this user may not read secret.txt\n"))

        chmod(secret.text, 0o600)
        try await expect(["plain", "secret"], steward)
        #expect(try steward.status().places.allSatisfy(\.unreadable.isEmpty))

        // A folder that has gone is no longer named.
        try steward.drop("dropbox/deep/hidden.txt", "hidden")
        let folder = steward.path("dropbox/deep")
        let hidden = folder.appending("hidden.txt")
        try await expect(["hidden"], steward)
        try steward.home.write("staged", "again")
        chmod(staged.text, 0)
        rename(staged.text, hidden.text)
        try await steward.until("it is passed over") { try !steward.status().places.allSatisfy(\.unreadable.isEmpty) }
        rename(folder.text, steward.home.path.appending("elsewhere").text)
        try await steward.until("it is gone") { try steward.status().places.allSatisfy(\.unreadable.isEmpty) }
        try await steward.stop()
    }

    @Test("A new rule starts despite a matching file that is unreadable")
    func unreadableAtStart() async throws {
        let lower = getuid() == 0 ? ["/usr/bin/setpriv", "--bounding-set=-dac_override,-dac_read_search"] : []
        let steward = try AgentFixture()
        try steward.drop("dropbox/plain.txt", "plain")
        let secret = try steward.drop("dropbox/secret.txt", "secret")
        chmod(secret.text, 0)
        try await steward.start(wrapper: lower)
        // No rule can want them, so they are recorded without being read.
        try steward.wait()
        try await steward.stop()
        try steward.rule(
            "10-captures.yaml",
            Self.rule.replacingOccurrences(of: "  on: [arrived]\n", with: "  on: [arrived]\n  existing: process\n"))
        try await steward.start(wrapper: lower)
        try await expect(["plain"], steward)
        #expect(try steward.status().places.contains { $0.unreadable == ["secret.txt"] })
        chmod(secret.text, 0o600)
        try await expect(["plain", "secret"], steward)
        try await steward.stop()
    }

    @Test("A place that goes away loses no file, and files added meanwhile are processed when it is back")
    func vanishing() async throws {
        let steward = try agent()
        try steward.rule(
            "05-keep.yaml",
            "- rule: Keep\n  in: dropbox\n  where: { name: \"keep*\" }\n  do: [{ tag: { add: [kept] } }]\n  then: stop\n"
        )
        try await steward.start()
        try steward.drop("dropbox/keep.txt", "keep")
        try await steward.until("it is known") { try steward.loggedLines().contains { $0.kind == "step" } }
        let (here, away) = (steward.path("dropbox").text, steward.path("away").text)
        #expect(rename(here, away) == 0)
        try await steward.until("its absence shows") {
            try steward.status().places.contains { $0.name == "dropbox" && !$0.isPresent }
        }
        try steward.drop("away/meanwhile.txt", "meanwhile")
        #expect(rename(away, here) == 0)
        try await expect(["meanwhile"], steward)
        #expect(try steward.read("dropbox/keep.txt") == "keep")
        #expect(try !steward.exists("notes/losses.md"))
        #expect(try steward.status().places.allSatisfy(\.isPresent))

        // A different folder in its place is recognised: its files are news.
        #expect(rename(here, away) == 0)
        try steward.drop("dropbox/other.txt", "other")
        try await expect(["meanwhile", "other"], steward)
        try steward.drop("dropbox/later.txt", "later")
        try await expect(["meanwhile", "other", "later"], steward)
        try await steward.stop()
    }

    @Test("A place may be a link to a folder")
    func linked() async throws {
        let steward = try agent()
        let real = steward.home.path.appending("elsewhere")
        #expect(rename(steward.path("dropbox").text, real.text) == 0)
        symlink(real.text, steward.path("dropbox").text)
        try await steward.start()
        try steward.home.write("elsewhere/one.txt", "one")
        try steward.drop("dropbox/two/three.txt", "three")
        try await expect(["one", "three"], steward)
        try await steward.stop()
    }

    @Test("A nested place has its files to itself")
    func nested() async throws {
        let steward = try agent()
        let file: BytePath = ".config/steward/steward.yaml"
        let inner = "  inner: { kind: folder, path: \(steward.path("dropbox/inner").text) }\n"
        try steward.home.write(
            file, steward.home.read(file).replacingOccurrences(of: "  # archive:", with: inner + "  # archive:"))
        try steward.rule(
            "20-inner.yaml",
            "- rule: Inner\n  in: inner\n  settle: 100ms\n  existing: process\n  do: [{ append-block: { text: \"[inner {{ file.name }}]\" } }]\n"
        )
        try await steward.start()
        try steward.drop("dropbox/inner/a.txt", "a")
        try steward.drop("dropbox/innermost/b.txt", "b")
        try steward.drop("dropbox/c.txt", "c")
        try await expect(["b", "c"], steward)
        try await steward.until("the inner place has it") { try steward.notes().contains("[inner a.txt]") }
        try steward.wait()
        #expect(try steward.notes().occurrences(of: "a.txt") == 1)
        #expect(try steward.read("dropbox/inner/a.txt") == "a")
        try await steward.stop()
    }

    @Test("Beyond the kernel's limit of watches, folders are polled, and status says so")
    func watchLimit() async throws {
        let steward = try agent("poll: 1s")
        let lower = [
            "/usr/bin/unshare", "-Ur", "sh", "-c", "echo 25 > /proc/sys/user/max_inotify_watches && exec \"$@\"", "sh",
        ]
        guard Editor.has("unshare"), try steward.shell(lower + ["true"]).status == 0 else {
            try Test.cancel("user namespaces are not permitted here")
        }
        try steward.rule(
            "10-captures.yaml",
            Self.rule.replacingOccurrences(of: "  on: [arrived]\n", with: "  on: [arrived]\n  existing: process\n"))
        for number in 1...50 { try steward.folder(BytePath("dropbox/f\(number)")) }
        try await steward.start(wrapper: lower)
        try await steward.until("the limit shows") { try steward.status().watchLimitHit }
        #expect(try steward.status().warnings.contains { $0.contains("fs.inotify.max_user_watches") })
        var names: [String] = []
        for number in 1...50 {
            try steward.drop(BytePath("dropbox/f\(number)/n.txt"), "deep \(number)")
            names.append("deep \(number)")
        }
        try steward.drop("dropbox/new/newer/n.txt", "deep new")
        try await expect(names + ["deep new"], steward, seconds: 120)
        let agent = try #require(steward.processID)
        try steward.home.run(
            [
                "nsenter", "--target", "\(agent)", "--user", "--preserve-credentials", "--",
                "sh", "-c", "echo 10000 > /proc/sys/user/max_inotify_watches",
            ], environment: steward.environment
        ).check()
        try await steward.until("watches are taken when they are granted") { try !steward.status().watchLimitHit }
        try await steward.stop()
    }

    @Test("If watching cannot be restarted, folders are polled until it can, and status says so")
    func blind() async throws {
        let steward = try agent("poll: 1s")
        // In a separate user namespace, so that no other users' are affected.
        let apart = ["/usr/bin/unshare", "-Ur", "env"]
        guard Editor.has("unshare"), try steward.shell(apart + ["true"]).status == 0 else {
            try Test.cancel("user namespaces are not permitted here")
        }
        try await steward.start(wrapper: apart)
        let agent = try #require(steward.processID)
        func grant(_ instances: Int) throws {
            try steward.home.run(
                [
                    "nsenter", "--target", "\(agent)", "--user", "--preserve-credentials", "--",
                    "sh", "-c", "echo \(instances) > /proc/sys/user/max_inotify_instances",
                ], environment: steward.environment
            ).check()
        }
        try grant(0)
        // The library keeps an entry for each removed folder, and is restarted after some thousands.
        let folders = steward.path("dropbox/many").text
        func isBlind() throws -> Bool { try steward.status().warnings.contains { $0.contains("inotify instance") } }
        for _ in 0..<20 where try !isBlind() {
            try steward.shell(["sh", "-c", "mkdir -p \"$0\" && cd \"$0\" && seq 1000 | xargs mkdir", folders]).check()
            try await steward.until("they are watched") {
                try isBlind() || steward.status().places.contains { $0.watches > 1000 }
            }
            try steward.shell(["rm", "-r", folders]).check()
            try await steward.until("they are not") {
                try isBlind() || steward.status().places.allSatisfy { $0.watches < 1000 }
            }
        }
        #expect(try isBlind())
        try steward.drop("dropbox/deep/er/n.txt", "polled")
        try await expect(["polled"], steward)
        #expect(try steward.status().places.allSatisfy { $0.mode != "inotify" })
        try grant(100)
        try await steward.until("the places are watched again") {
            try steward.status().places.allSatisfy { $0.mode == "inotify" } && !isBlind()
        }
        try steward.drop("dropbox/deeper/still/n.txt", "heard again")
        try await expect(["heard again"], steward)
        try await steward.stop()
    }

    @Test("If the kernel's event queue overflows, everything is scanned and nothing is lost")
    func overflow() async throws {
        let steward = try agent()
        try await steward.start()
        let queue = "/proc/sys/fs/inotify/max_queued_events"
        let length = try #require(
            Int(try String(contentsOfFile: queue, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)))
        guard length <= 100_000 else { try Test.cancel("this kernel keeps \(length) events") }
        let agent = try #require(steward.processID)
        kill(agent, SIGSTOP)
        let noise = steward.path("dropbox/.noise").text
        // Up to three events each: created, closed, removed; events already read free space.
        for _ in 0...length {
            close(open(noise, O_WRONLY | O_CREAT, 0o600))
            unlink(noise)
        }
        var names: [String] = []
        for number in 1...20 {
            try steward.drop(BytePath("dropbox/d\(number)/e/n.txt"), "unheard \(number)")
            names.append("unheard \(number)")
        }
        kill(agent, SIGCONT)
        try await expect(names, steward)
        #expect(try steward.status().overflows > 0)
        try steward.drop("dropbox/d7/e/after.txt", "heard")
        try await expect(["heard"], steward)
        try await steward.stop()
    }
}
