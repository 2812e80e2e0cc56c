import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Attributes as news") struct AttributeNewsTests {
    private let folder: TemporaryFolder
    private let bench: Bench

    private static let rules = """
        - rule: marked
          in: inbox
          where: { xattr: { user.xdg.tags: "*later*" } }
          do: { probe: { name: marked, text: "{{ event }}" } }
        - rule: retagged
          in: inbox
          on: changed
          where: { xattr: { user.xdg.tags: present } }
          do: { probe: { name: retagged, text: "{{ event }}" } }
        - rule: executable
          in: inbox
          on: [arrived, changed]
          where: { mode: executable }
          do: { probe: { name: executable, text: "{{ event }}" } }
        - { rule: any, in: inbox, on: changed, do: { probe: { name: any } } }
        """

    init() throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: Self.rules)
    }

    private func tag(_ value: String?, _ attribute: String = "user.xdg.tags", of path: BytePath = "inbox/a.txt") throws
    {
        try ExtendedAttributes.set(attribute, value.map { Array($0.utf8) }, on: Descriptor(bench.path(path)))
    }

    /// The actions on the file in its current state; another look must cause none.
    private func process(_ bench: Bench? = nil) async throws -> [String] {
        let bench = bench ?? self.bench
        bench.script.forget()
        try await bench.process("a.txt")
        let lines = bench.script.lines
        #expect(try await bench.process("a.txt") == .known)
        return lines.sorted()
    }

    @Test("A tag set later is an arrival for rules that test it, once") func tagSetLater() async throws {
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        try tag("read later")
        #expect(try await process() == ["perform marked a.txt arrived", "perform retagged a.txt changed"])
        try tag("later still")
        #expect(try await process() == ["perform retagged a.txt changed"], "it arrives once, and changes each time")
        try tag(nil)
        #expect(try await process() == [])
        try tag("later again")
        #expect(try await process() == ["perform retagged a.txt changed"])
        #expect(try await bench.jobs().count == Set(bench.jobs().map(\.id)).count)
    }

    @Test("Attributes that a rule does not test are not news for it") func othersAttributes() async throws {
        try bench.write("inbox/a.txt", "A")
        try tag("later")
        #expect(try await process() == ["perform marked a.txt arrived"])
        try tag("x", "user.other")
        #expect(try await process() == [])
        #expect(chmod(bench.path("inbox/a.txt").text, 0o600) == 0)
        #expect(try await process() == [])
        #expect(chmod(bench.path("inbox/a.txt").text, 0o700) == 0)
        #expect(try await process() == ["perform executable a.txt changed"])
        #expect(utimensat(AT_FDCWD, bench.path("inbox/a.txt").text, nil, 0) == 0)
        #expect(try await process() == [], "a time is no attribute")
        #expect(chmod(bench.path("inbox/a.txt").text, 0o711) == 0)
        #expect(try await process() == ["perform executable a.txt changed"])
    }

    @Test("Content and tag changed together are one change") func contentToo() async throws {
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        try folder.write("inbox/a.txt", "B")
        try tag("later")
        #expect(
            try await process() == [
                "perform any a.txt", "perform marked a.txt arrived", "perform retagged a.txt changed",
            ])
    }

    @Test("Changes made while the agent was off are found once, at the next start") func restart() async throws {
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        try bench.ledger.close()
        try tag("later")
        let next = try Bench(folder.path, rules: Self.rules)
        #expect(try await process(next) == ["perform marked a.txt arrived", "perform retagged a.txt changed"])
        try next.ledger.close()
        #expect(try await process(Bench(folder.path, rules: Self.rules)) == [])
    }

    @Test("Files present before the place was watched count from then on") func baseline() async throws {
        try bench.write("inbox/a.txt", "A")
        try bench.write("inbox/b.txt", "B")
        try tag("later", of: "inbox/b.txt")
        for path in ["a.txt", "b.txt"] {
            #expect(Bench.rules(try await bench.see(BytePath(path), baseline: .silent)).isEmpty)
        }
        try tag("later")
        #expect(try await process() == ["perform marked a.txt arrived", "perform retagged a.txt changed"])
        try tag("later", "user.other", of: "inbox/b.txt")
        #expect(Bench.rules(try await bench.see("b.txt")).isEmpty)
    }

    @Test("A new rule has nothing to compare with, so the first touch counts as a change") func newRule()
        async throws
    {
        try bench.setRules("- { rule: any, in: inbox, on: changed, do: { probe: { name: any } } }")
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        try bench.setRules(Self.rules)
        try tag("later")
        #expect(try await process() == ["perform retagged a.txt changed"], "`marked` has found it there")
        #expect(chmod(bench.path("inbox/a.txt").text, 0o600) == 0)
        #expect(try await process() == [])
    }

    /// A step that sets tags itself, like the action `tag`.
    private func setsOwnTag(_ value: String, _ name: String, saysWhich: Bool = true) {
        bench.script.perform(name) { intent, context in
            let file = try context.files.present(intent.file)
            try ExtendedAttributes.set("user.xdg.tags", Array(value.utf8), on: file)
            let hash = try #require(intent.hash)
            let touched = FileEffect.touched(intent.file, try file.status().fingerprint, hash)
            let own = FileEffect.attributed(
                intent.file, FileAttribute.digests(["user.xdg.tags": Array(value.utf8)]))
            return Receipt("tagged", effects: saysWhich ? [touched, own] : [touched])
        }
    }

    @Test("Attributes set by the agent start no rule, neither at once nor later", arguments: [true, false])
    func ownTag(_ saysWhich: Bool) async throws {
        setsOwnTag("later, by the agent", "executable", saysWhich: saysWhich)
        try bench.write("inbox/a.txt", "A")
        #expect(chmod(bench.path("inbox/a.txt").text, 0o700) == 0)
        #expect(try await process() == ["perform executable a.txt arrived"])
        #expect(try await process() == [])
        try tag("later, by a person")
        #expect(try await process() == ["perform retagged a.txt changed"])
    }

    @Test("A rule that sets the tag it tests does not start itself") func noCircle() async throws {
        setsOwnTag("seen", "retagged")
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        for value in ["x", "y"] {
            try tag(value)
            #expect(try await process() == ["perform retagged a.txt changed"])
        }
    }

    @Test("Attributes set by a person at the same time are news, even if the agent wrote last") func besideTheAgent()
        async throws
    {
        setsOwnTag("by the agent", "executable")
        try bench.write("inbox/a.txt", "A")
        #expect(try await process() == [])
        #expect(chmod(bench.path("inbox/a.txt").text, 0o700) == 0)
        let verdict = try await bench.see("a.txt")
        // Before the step runs.
        #expect(chmod(bench.path("inbox/a.txt").text, 0o711) == 0)
        await bench.submit(verdict)
        await bench.runner.idle()
        bench.script.forget()
        #expect(try await process() == ["perform executable a.txt changed"])
    }
}
