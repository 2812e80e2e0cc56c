import ComicTestSupport
import Foundation
import Glibc
import Platform
import TestSupport
import Testing

/// The units as they are shipped, started by a real systemd.
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
        // Where files cannot be opened they are looked at again for ever.
        try machine.run(["timeout", "60", "steward", "wait"], as: user).check()
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

    /// All that the unit made is its own alone.
    private func expectPrivate(_ folders: [String], _ machine: UnitMachine) throws {
        // What anna has made keeps her mode.
        let hers = ["herons*", "plan.md", "*.cbz"].flatMap { ["!", "-name", $0] }
        let open = try machine.run(["find"] + folders + ["-type", "f", "-perm", "/077"] + hers).check()
        #expect(open.output == "")
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

    /// What it says of the agent beside what it says of whoever asks.
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

    @Test("The system's unit takes in a capture, a comic and a draft, and neither doctor nor journal complains")
    func system() async throws {
        let machine = try await systemMachine()
        let verified = try machine.run(
            ["systemd-analyze", "verify", "--man=no", "/etc/systemd/system/steward.service"])
        #expect(verified.status == 0 && !verified.errors.contains("steward"), "\(verified.errors)")
        try machine.run(["systemctl", "start", "steward"]).check()
        try put(into: "/srv/steward", of: machine)
        try expectAllDone("/srv/steward", machine, .service)
        try expectDoctor(machine, .service)
        try expectPrivate(["/srv/steward", "/var/lib/steward"], machine)
        try machine.run(["systemctl", "reload", "steward"]).check()
        try machine.run(["systemctl", "stop", "steward"]).check()
        expectWellSaid(try machine.journal(["_SYSTEMD_UNIT=steward.service", "_COMM=steward"]))
        let told = try machine.run(["systemctl", "show", "steward", "-P", "Result"]).check().output
        #expect(told == "success\n")
    }

    @Test("A user's unit takes in a capture, a comic and a draft, and neither doctor nor journal complains")
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

    @Test("What a unit withholds from the agent is found by doctor, which has the agent itself look")
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
