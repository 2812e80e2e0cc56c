import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// The units as shipped, started by a real systemd.
@Suite(
    "The units under systemd", .serialized,
    .enabled(if: UnitMachine.obstacle == nil, Comment(rawValue: UnitMachine.obstacle ?? "")))
struct UnitTests {
    private func put(into base: String, of machine: UnitMachine) throws {
        try machine.put(Array("Herons at dawn.\n".utf8), at: "\(base)/dropbox/herons.txt")
        try machine.put(packed([Packed(name: "1.png", bytes: picture(1))]), at: "\(base)/comics/Saga 01.cbz")
        try machine.put(
            Array("# Plan\n\nIt was decided by the the committee.\n".utf8), at: "\(base)/drafts/plan.md")
    }

    private func expectAllDone(_ base: String, _ machine: UnitMachine, _ user: UnitMachine.User) throws {
        // If files cannot be opened, they are retried forever.
        try machine.run(["timeout", "300", "steward", "wait"], as: user).check()
        let status = try Answer(parsing: machine.run(["steward", "status", "--json"], as: user).check().output)
        #expect(status["parked"].items.map { $0["problem"].text } == [])
        #expect(status["settling"].items.count == 0)
        let notes = try machine.texts("\(base)/notes", ".md")
        #expect(notes.contains("Herons at dawn."))
        #expect(notes.contains("**Saga 1**, 1 pages"))
        #expect(try machine.run(["test", "-f", "\(base)/library/Saga/Saga 01.cbz"]).status == 0)
        let review = try machine.texts("\(base)/drafts", "plan.review.md")
        #expect(review.contains("the the"), "\(review)")
    }

    /// Everything that the unit created in `folders` is private to it, and in `shared` at most to its group.
    private func expectPrivate(_ folders: [String], shared: [String] = [], _ machine: UnitMachine) throws {
        // Files that anna created keep their mode.
        let hers = ["herons*", "plan.md", "*.cbz"].flatMap { ["!", "-name", $0] }
        for (places, bits) in [(folders, "/077"), (shared, "/007")] where !places.isEmpty {
            let open = try machine.run(["find"] + places + ["-type", "f", "-perm", bits] + hers).check()
            #expect(open.output == "")
        }
        let state = try machine.run(["find"] + folders + ["-name", "*.sqlite-wal"]).check().output
        #expect(state.contains("ledger.sqlite-wal") && state.contains("captures.sqlite-wal"))
    }

    private func expectWellSaid(_ entries: [(text: String, priority: String)]) {
        let said = entries.map { "\($0.priority) \($0.text)" }
        #expect(said.filter { $0.contains("thread priority") } == [])
        #expect(said.contains { $0.hasPrefix("5 notice: watching notes") }, "\(said)")
        #expect(said.contains { $0.hasPrefix("6 info: ") }, "\(said)")
        #expect(entries.filter { $0.text.hasPrefix("error") }.map(\.text) == [])
    }

    /// What it says about the agent, besides what it says about the caller.
    private func expectDoctor(_ machine: UnitMachine, _ user: UnitMachine.User) throws {
        let doctor = try machine.run(["steward", "doctor"], as: user)
        #expect(doctor.status == 0, "\(doctor.output)")
        for subject in ["state directory", "place notes", "Landlock", "seccomp", "comics", "thumbnails", "PDF"] {
            #expect(doctor.output.contains("ok   agent, \(subject): "), "\(doctor.output)")
        }
    }

    /// The steps of docs/configuration.md.
    private func systemMachine() async throws -> UnitMachine {
        let machine = try await UnitMachine()
        try machine.run(["steward", "init", "--config", "/etc/steward/steward.yaml", "--base", "/srv/steward"]).check()
        try machine.run(["chgrp", "steward", "/etc/steward/steward.yaml"]).check()
        try machine.run(["chmod", "640", "/etc/steward/steward.yaml"]).check()
        try machine.run(["usermod", "-aG", "steward", "anna"]).check()
        return machine
    }

    @Test("The system unit processes a capture, a comic and a draft without errors in doctor or journal")
    func system() async throws {
        let machine = try await systemMachine()
        let verified = try machine.run(
            ["systemd-analyze", "verify", "--man=no", "/etc/systemd/system/steward.service"])
        #expect(verified.status == 0 && !verified.errors.contains("steward"), "\(verified.errors)")
        try machine.run(["systemctl", "start", "steward"]).check()
        try put(into: "/srv/steward", of: machine)
        try expectAllDone("/srv/steward", machine, .service)
        try expectDoctor(machine, .service)
        // tmpfiles.d gives the group access to new files there.
        try expectPrivate(["/var/lib/steward"], shared: ["/srv/steward"], machine)
        try machine.run(["systemctl", "reload", "steward"]).check()
        try machine.run(["systemctl", "stop", "steward"]).check()
        expectWellSaid(try machine.journal(["_SYSTEMD_UNIT=steward.service", "_COMM=steward"]))
        let told = try machine.run(["systemctl", "show", "steward", "-P", "Result"]).check().output
        #expect(told == "success\n")
    }

    @Test("A user unit processes a capture, a comic and a draft without errors in doctor or journal")
    func user() async throws {
        let machine = try await UnitMachine()
        let verified = try machine.run(
            ["systemd-analyze", "verify", "--man=no", "--user", "/etc/systemd/user/steward.service"], as: .anna)
        #expect(verified.status == 0 && !verified.errors.contains("steward"), "\(verified.errors)")
        try machine.run(["steward", "init"], as: .anna).check()
        try machine.run(["systemctl", "--user", "start", "steward"], as: .anna).check()
        try put(into: "/home/anna/Steward", of: machine)
        try expectAllDone("/home/anna/Steward", machine, .anna)
        try expectDoctor(machine, .anna)
        try expectPrivate(["/home/anna/Steward", "/home/anna/.local"], machine)
        try machine.run(["systemctl", "--user", "stop", "steward"], as: .anna).check()
        expectWellSaid(try machine.journal(["_SYSTEMD_USER_UNIT=steward.service", "_COMM=steward"]))
    }

    @Test(
        "A disk at /srv/steward unmounted for a moment does not stop the agent, which continues when it is back")
    func unmounted() async throws {
        let machine = try await systemMachine()
        let mount = "[Mount]\nWhat=/var/disk\nWhere=/srv/steward\nType=none\nOptions=bind\n"
        try machine.run(["cp", "-a", "/srv/steward", "/var/disk"]).check()
        try machine.run(["sh", "-c", "printf '%s' \"$0\" > /etc/systemd/system/srv-steward.mount", mount]).check()
        try machine.run(["systemctl", "daemon-reload"]).check()
        // The mount is started before the agent.
        try machine.run(["systemctl", "start", "steward"]).check()
        #expect(try machine.run(["mountpoint", "-q", "/srv/steward"]).status == 0)
        let first = try shown("MainPID", machine)
        // The first one stops everything that requires the mount, and may then find it busy.
        try machine.run(["systemctl", "stop", "srv-steward.mount"])
        try machine.run(["umount", "--lazy", "/srv/steward"])
        #expect(try machine.run(["mountpoint", "-q", "/srv/steward"]).status != 0)
        #expect(try shown("ActiveState", machine) == "active")
        try machine.run(["systemctl", "start", "srv-steward.mount"]).check()
        try machine.put(Array("Herons at dawn.\n".utf8), at: "/srv/steward/dropbox/herons.txt")
        try await waitUntil("the capture is in a note", seconds: 120) {
            try machine.texts("/srv/steward/notes", ".md").contains("Herons at dawn.")
        }
        #expect(try shown("MainPID", machine) == first)
    }

    @Test("The nightly unit makes a backup alongside the agent, under the same locks")
    func backup() async throws {
        let machine = try await systemMachine()
        try machine.run(["systemctl", "start", "steward"]).check()
        try machine.put(Array("Herons at dawn.\n".utf8), at: "/srv/steward/dropbox/herons.txt")
        try expectWaited(machine)
        let unit = String(
            decoding: try Descriptor(Checkout.root.appending("packaging/systemd/steward-backup.service")).readAll(),
            as: UTF8.self
        ).replacingOccurrences(of: "/usr/bin/steward", with: "/opt/steward/bin/steward")
        try machine.run(["sh", "-c", "printf '%s' \"$0\" > /etc/systemd/system/steward-backup.service", unit]).check()
        try machine.run(["install", "-d", "-o", "steward", "-g", "steward", "-m", "700", "/var/backups/steward"])
            .check()
        try machine.run(["systemctl", "daemon-reload"]).check()
        let made = try machine.run(["systemctl", "start", "steward-backup"])
        let said = try machine.journal(["_SYSTEMD_UNIT=steward-backup.service"])
        #expect(made.status == 0, "\(said)")
        let backups = try machine.run(["find", "/var/backups/steward", "-name", "captures*.sqlite"]).check().output
        #expect(backups.contains("/captures"), "\(backups)")
        #expect(try shown("ActiveState", machine) == "active")
    }

    /// Additional options for the system's unit.
    private func dropIn(_ name: String, _ options: String, _ machine: UnitMachine) throws {
        try machine.run(["mkdir", "-p", "/etc/systemd/system/steward.service.d"]).check()
        let file = "/etc/systemd/system/steward.service.d/\(name).conf"
        try machine.run(["sh", "-c", "printf '[Service]\\n%s\\n' \"$0\" > \"$1\"", options, file]).check()
        try machine.run(["systemctl", "daemon-reload"]).check()
    }

    private func shown(_ property: String, _ machine: UnitMachine) throws -> String {
        let found = try machine.run(["systemctl", "show", "steward", "-P", property]).check().output
        return found.trimmingCharacters(in: .newlines)
    }

    @Test("The journal finds entries by job, rule and place, and the unit's status line counts")
    func fields() async throws {
        let machine = try await systemMachine()
        try machine.run(["systemctl", "start", "steward"]).check()
        try machine.put(Array("Herons at dawn.\n".utf8), at: "/srv/steward/dropbox/herons.txt")
        try expectWaited(machine)
        let log = try machine.run(["steward", "log", "--json"], as: .service).check().output.split(separator: "\n")
        let step = try #require(try log.map { try Answer(parsing: String($0)) }.first { $0["kind"].text == "step" })
        let job = String(step["job"].text.prefix(12))
        let found = try machine.journal(["_SYSTEMD_UNIT=steward.service", "STEWARD_JOB=\(job)"])
        #expect(found.contains { $0.text.hasPrefix("info: index-capture") && $0.priority == "6" }, "\(found)")
        #expect(try machine.journal(["STEWARD_RULE=Take in captures"]).map(\.text) == found.map(\.text))
        #expect(try machine.journal(["STEWARD_PLACE=dropbox", "STEWARD_PATH=herons.txt"]).count == found.count)
        #expect(try machine.journal(["STEWARD_PLACE=comics"]).isEmpty)
        try await waitUntil("the line of status counts") {
            try shown("StatusText", machine).hasPrefix("5 places, ")
        }
        let metrics = try machine.run(["steward", "metrics"], as: .service).check().output
        #expect(metrics.contains("\nsteward_steps_total{action=\"index-capture\",result=\"done\"} 1\n"))
        #expect(metrics.contains("\nprocess_open_fds "))
    }

    private func expectWaited(_ machine: UnitMachine) throws {
        try machine.run(["timeout", "300", "steward", "wait"], as: .service).check()
    }

    @Test("The watchdog restarts an agent whose work is stuck, and not one that is idle")
    func watchdog() async throws {
        let machine = try await systemMachine()
        try dropIn("watchdog", "WatchdogSec=15\nRestartSec=1\nTimeoutStopSec=5", machine)
        try machine.run(["systemctl", "start", "steward"]).check()
        let first = try shown("MainPID", machine)
        let begun = try shown("WatchdogTimestampMonotonic", machine)
        try await waitUntil("it has told of its work twice") {
            let last = try shown("WatchdogTimestampMonotonic", machine)
            return (Int(last) ?? 0) - (Int(begun) ?? 0) > 9_000_000
        }
        #expect(try shown("NRestarts", machine) == "0")
        try machine.run(["kill", "-STOP", first]).check()
        try await waitUntil("it is started anew", seconds: 120) { try shown("NRestarts", machine) == "1" }
        try await waitUntil("it answers") { try machine.run(["steward", "health"], as: .service).status == 0 }
        #expect(try shown("MainPID", machine) != first)
        try machine.put(Array("Herons at dawn.\n".utf8), at: "/srv/steward/dropbox/herons.txt")
        try expectWaited(machine)
        #expect(try machine.texts("/srv/steward/notes", ".md").contains("Herons at dawn."))
    }

    @Test("With the socket unit a command starts the agent, which leaves the socket when it ends")
    func socket() async throws {
        let machine = try await systemMachine()
        for (unit, more) in [("system/steward.socket", []), ("user/steward.socket", ["--user"])] {
            let verified = try machine.run(
                ["systemd-analyze", "verify", "--man=no"] + more + ["/etc/systemd/\(unit)"],
                as: more.isEmpty ? .root : .anna)
            #expect(verified.status == 0 && !verified.errors.contains("steward"), "\(verified.errors)")
        }
        try machine.run(["systemctl", "start", "steward.socket"]).check()
        for _ in 1...2 {
            #expect(try shown("ActiveState", machine) == "inactive")
            let status = try machine.run(["steward", "status", "--json"], as: .service).check()
            #expect(try Answer(parsing: status.output)["isRunning"].isTrue)
            #expect(try shown("ActiveState", machine) == "active")
            let socket = try machine.run(["stat", "-c", "%A %U", "/run/steward/control.sock"]).check().output
            #expect(socket == "srw------- steward\n")
            try machine.run(["systemctl", "stop", "steward"]).check()
            #expect(try shown("Result", machine) == "success")
        }
        try machine.run(["systemctl", "stop", "steward.socket"]).check()
        #expect(try machine.run(["steward", "health"], as: .service).status == 69)
        try machine.run(["systemctl", "start", "steward"]).check()
        #expect(try machine.run(["steward", "health"], as: .service).status == 0)
        try machine.run(["systemctl", "stop", "steward"]).check()
        // The same for a user's own unit.
        try machine.run(["steward", "init"], as: .anna).check()
        try machine.run(["systemctl", "--user", "start", "steward.socket"], as: .anna).check()
        #expect(try machine.run(["steward", "health"], as: .anna).output == "healthy\n")
    }

    @Test("With the shipped drop-in the system's agent serves its metrics; without it, it says what is missing")
    func scraped() async throws {
        let machine = try await systemMachine()
        try machine.run([
            "sh", "-c",
            "echo 'metrics: { listen: \"127.0.0.1:9464\" }' >> /etc/steward/steward.yaml; ip link set lo up",
        ])
        .check()
        try machine.run(["systemctl", "start", "steward"]).check()
        try await waitUntil("it says that it has no network") {
            try machine.journal(["_SYSTEMD_UNIT=steward.service", "PRIORITY=3"]).contains {
                $0.text.contains("metrics are not served at 127.0.0.1:9464") && $0.text.contains("drop-in")
            }
        }
        #expect(try shown("ActiveState", machine) == "active")
        let example = try String(
            decoding: Descriptor(Checkout.root.appending("packaging/systemd/metrics.conf.example")).readAll(),
            as: UTF8.self)
        let options = try #require(example.components(separatedBy: "[Service]\n").last)
        try dropIn("metrics", options, machine)
        try machine.run(["systemctl", "restart", "steward"]).check()
        let get = ["curl", "-s", "--noproxy", "*", "http://127.0.0.1:9464/metrics"]
        try await waitUntil("it is scraped") { try machine.run(get).output.contains("\nsteward_ledger_writable 1\n") }
    }

    @Test("Restrictions of the unit are found by doctor, which has the agent itself check")
    func withheld() async throws {
        let machine = try await systemMachine()
        try machine.run(["mkdir", "/etc/systemd/system/steward.service.d"]).check()
        let options = """
            [Service]
            RestrictSUIDSGID=yes
            SystemCallFilter=~landlock_create_ruleset seccomp fsetxattr
            """
        try machine.run(["sh", "-c", "echo \"$0\" > /etc/systemd/system/steward.service.d/narrow.conf", options])
            .check()
        try machine.run(["systemctl", "daemon-reload"]).check()
        try machine.run(["systemctl", "start", "steward"]).check()
        let doctor = try machine.run(["steward", "doctor", "--json"], as: .service)
        #expect(doctor.status == 2)
        let findings = try Answer(parsing: doctor.output).items
        let own = findings.filter { !$0["subject"].text.hasPrefix("agent, ") && !$0["isWell"].isTrue }
        #expect(own.map { $0["message"].text } == [], "whoever asks may do all of it")
        for subject in ["state directory", "place notes", "Landlock", "seccomp", "comics"] {
            let found = findings.first { $0["subject"].text == "agent, \(subject)" }
            #expect(found?["isWell"].isTrue == false, "\(subject): \(doctor.output)")
            #expect(found?["remedy"].text.isEmpty == false)
        }
        let place = findings.first { $0["subject"].text == "agent, place notes" }
        #expect(place?["message"].text.contains("openat2") == true)
        #expect(place?["remedy"].text.contains("RestrictSUIDSGID") == true)
    }
}
