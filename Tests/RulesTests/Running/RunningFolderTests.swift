import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Judging folders as a whole") struct RunningFolderTests {
    private let folder: TemporaryFolder
    private let script = Script()

    init() throws { folder = try TemporaryFolder() }

    private static let albums =
        "- { rule: Albums, in: inbox, match: folders, do: { probe: { name: a, text: \"{{ folder.count }}\" } } }"

    private func bench(_ rules: String = albums) throws -> Bench { try Bench(folder.path, script, rules: rules) }

    @discardableResult
    private func see(
        _ path: BytePath, _ bench: Bench, in place: String = "inbox", baseline: ChangeClassifier.Baseline = .normal,
        began: Timestamp? = nil
    ) async throws -> FolderJudge.Verdict {
        let judge = FolderJudge(planner: bench.planner, inWork: bench.inWork)
        let verdict = try await judge.judge(try bench.place(place), path, baseline: baseline, began: began)
        if case .news(let jobs) = verdict {
            await bench.runner.submit(jobs)
        }
        await bench.runner.idle()
        return verdict
    }

    private func forgetRules(_ bench: Bench) async throws {
        let set = bench.planner.ruleSet
        try await bench.ledger.write { try $0.registerRuleSet(set.id, rules: set.arrivalIdentities) }
    }

    @Test("A folder arrives once, and is known from then on, even after a restart") func once()
        async throws
    {
        let bench = try bench()
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try bench.write("inbox/Lisbon/2.jpg", "two")
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform a Lisbon 2"])
        #expect(try await see("Lisbon", bench) == .known)
        let next = try self.bench()
        #expect(try await see("Lisbon", next) == .known)
        #expect(try await next.onlyJob().state == .done)
    }

    @Test(
        "One that came under half a rule file arrives for the other half too, once; an earlier one does not")
    func passing() async throws {
        let half = "- { rule: Boxes, in: inbox, match: folders, do: { probe: { name: b } } }\n"
        let bench = try bench(half)
        try await forgetRules(bench)
        try bench.write("inbox/Met/1.jpg", "one")
        try await see("Met", bench)
        try bench.write("inbox/Old/1.jpg", "one")
        let passing = PassingRules(bench.planner.ruleSet, since: .now())
        // The file system's clock is coarse.
        try await waitUntil("time has passed there") {
            try bench.write("tick", "")
            let tick = try FileStatus.of(folder.path.appending("tick"))
            return tick.map { $0.fingerprint.changed > passing.since.nanoseconds } ?? false
        }
        // Its rules may be the first about folders.
        try await see("Old", bench, baseline: .silent)
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        let other = Self.albums.replacing("match", with: "existing: skip, match")
        try await bench.planner.putInForce(RuleSet(try bench.rules(half + other)), after: passing)
        for name in ["Met", "Old", "Lisbon", "Lisbon"] as [BytePath] { try await see(name, bench) }
        #expect(script.lines == ["perform b Met", "perform b Lisbon", "perform a Lisbon 1"])
    }

    @Test("Later additions are changes, not arrivals") func changes() async throws {
        let bench = try bench(
            Self.albums
                + "\n- { rule: Changes, in: inbox, match: folders, on: changed, do: { probe: { name: c } } }")
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform a Lisbon 1"])
        try bench.write("inbox/Lisbon/2.jpg", "two")
        try await see("Lisbon", bench)
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform a Lisbon 1", "perform c Lisbon"])
    }

    @Test("It arrives when it first meets the conditions") func later() async throws {
        let bench = try bench(
            "- { rule: Big, in: inbox, match: folders, where: { count: \">= 2\" }, do: { probe: { name: b } } }")
        try await forgetRules(bench)
        try bench.write("inbox/Lisbon/1.jpg", "one")
        #expect(try await see("Lisbon", bench) == .known)
        try bench.write("inbox/Lisbon/2.jpg", "two")
        try await see("Lisbon", bench)
        try bench.write("inbox/Lisbon/3.jpg", "three")
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform b Lisbon"])
    }

    @Test("A folder that goes and comes back has arrived again") func again() async throws {
        let bench = try bench()
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        #expect(try Durable.renameNew(bench.path("inbox/Lisbon"), to: bench.path("aside")))
        try await see("Lisbon", bench)
        #expect(try Durable.renameNew(bench.path("aside"), to: bench.path("inbox/Lisbon")))
        try await see("Lisbon", bench)
        #expect(script.lines.count == 2)
        #expect(Set(try await bench.jobs().map(\.id)).count == 2)
    }

    @Test("A folder renamed by a person is the same folder") func renamed() async throws {
        let bench = try bench()
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        #expect(try Durable.renameNew(bench.path("inbox/Lisbon"), to: bench.path("inbox/Porto")))
        try await see("Porto", bench)
        try await see("Lisbon", bench)
        #expect(script.lines.count == 1)
    }

    @Test(
        "Folders from before the rule follow `existing`",
        arguments: [("existing: skip", 0), ("existing: process", 1), ("settle: 1s", 1)])
    func existing(_ key: String, _ count: Int) async throws {
        let bench = try bench("- { rule: R, in: inbox, match: folders, \(key), do: { probe: { name: r } } }")
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench, baseline: .first)
        try await see("Lisbon", bench)
        #expect(script.lines.count == count)
    }

    @Test("A new rule follows `existing` for folders known to other rules", arguments: ["skip", "process"])
    func newRule(_ existing: String) async throws {
        let bench = try bench()
        try await forgetRules(bench)
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        try bench.setRules(
            Self.albums
                + "\n- { rule: New, in: inbox, match: folders, existing: \(existing), do: { probe: { name: n } } }")
        try await forgetRules(bench)
        try await see("Lisbon", bench)
        try await see("Lisbon", bench)
        #expect(script.lines.filter { $0.hasPrefix("perform n") }.count == (existing == "skip" ? 0 : 1))
    }

    @Test("It waits while a job on its contents is pending, or the agent works there") func waits()
        async throws
    {
        let bench = try bench(Self.albums + "\n- { rule: Files, in: inbox, do: { probe: { name: f } } }")
        try bench.write("inbox/Lisbon/1.jpg", "one")
        let file = try await bench.see("Lisbon/1.jpg")
        #expect(try await see("Lisbon", bench) == .waits)
        await bench.submit(file)
        await bench.runner.idle()
        bench.inWork.begin([bench.path("inbox/Lisbon/deep/2.jpg")])
        #expect(try await see("Lisbon", bench) == .again)
        bench.inWork.end([bench.path("inbox/Lisbon/deep/2.jpg")])
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform f 1.jpg", "perform a Lisbon 1"])
    }

    @Test("A job superseded by a change is done with the current contents") func overdue()
        async throws
    {
        let bench = try bench()
        try bench.write("inbox/Lisbon/1.jpg", "one")
        script.perform("a") { _, _ in throw Fault(.superseded, "it has changed") }
        try await see("Lisbon", bench)
        #expect(try await bench.onlyJob().state == .superseded)
        #expect(try await !bench.ledger.read { try $0.due("inbox", "Lisbon") }.isEmpty, "it is looked at again")
        script.perform("a") { _, _ in Receipt("did it") }
        try bench.write("inbox/Lisbon/2.jpg", "two")
        try await see("Lisbon", bench)
        #expect(try await bench.jobs().map(\.state) == [.superseded, .done])
    }

    /// Moves the folder to another place, as `move` does.
    private static func moving(_ bench: Bench, to place: BytePath) -> Script.Perform {
        { intent, _ in
            let target = bench.path(place).appending(name: intent.file.name)
            guard try Durable.renameNew(intent.file, to: target), let status = try FileStatus.of(target) else {
                throw TestFailure("\(target) is taken")
            }
            let contents = try FolderContents(Folder(try Descriptor(target))).digest
            return Receipt("moved it", effects: [.movedFolder(intent.file, to: target, status.fingerprint, contents)])
        }
    }

    @Test("Rules that feed each other end after one round, and no job is kept from being pruned")
    func circle() async throws {
        let bench = try bench(
            """
            - { rule: Out, in: inbox, match: folders, do: { probe: { name: out } } }
            - { rule: Back, in: out, match: folders, do: { probe: { name: back } } }
            """)
        script.perform("out", Self.moving(bench, to: "out"))
        script.perform("back", Self.moving(bench, to: "inbox"))
        try bench.write("inbox/Lisbon/1.jpg", "one")
        for place in ["inbox", "out", "inbox", "out"] { try await see("Lisbon", bench, in: place) }
        #expect(script.lines == ["perform out Lisbon", "perform back Lisbon"])
        #expect(try bench.read("inbox/Lisbon/1.jpg") == "one")
        #expect(try await bench.jobs().map(\.depth) == [0, 1])
        let pruned = try await bench.ledger.prune(before: Timestamp.now().adding(seconds: 60))
        #expect(pruned == 2)
    }

    @Test("A folder created by a rule in its own place does not start that rule")
    func shelf() async throws {
        let bench = try bench()
        let target = bench.path("inbox/Shelf/Lisbon")
        script.perform("a") { intent, _ in
            try Durable.makeDirectory(target.parent)
            guard try Durable.renameNew(intent.file, to: target), let status = try FileStatus.of(target) else {
                throw TestFailure("\(target) is taken")
            }
            let contents = try FolderContents(Folder(try Descriptor(target))).digest
            return Receipt("moved it", effects: [.movedFolder(intent.file, to: target, status.fingerprint, contents)])
        }
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        try await see("Shelf", bench)
        try await see("Shelf", bench, baseline: .first)
        #expect(script.lines == ["perform a Lisbon 1"])
    }

    @Test("File rules do not see folders, and vice versa") func apart() async throws {
        let bench = try bench("- { rule: Files, in: inbox, do: { probe: { name: f } } }")
        try bench.write("inbox/Lisbon/1.jpg", "one")
        try await see("Lisbon", bench)
        #expect(script.lines == [])
        try bench.setRules(Self.albums)
        try await bench.process("Lisbon/1.jpg")
        #expect(script.lines == [])
    }

    @Test("An age not yet reached is entered as due") func due() async throws {
        let bench = try bench(
            "- { rule: Old, in: inbox, match: folders, where: { age: \"> 30d\" }, do: { probe: { name: o } } }")
        try await bench.ledger.write { [set = bench.planner.ruleSet] in
            _ = try $0.registerTimed(set.timedIdentities)
        }
        try bench.write("inbox/Lisbon/1.jpg", "one")
        #expect(try await see("Lisbon", bench) == .known)
        #expect(try await bench.ledger.read { try $0.due("inbox", "Lisbon") }.count == 1)
    }

    @Test("Repositories, old versions and the like count as contents, though nobody watches them")
    func empty() async throws {
        let bench = try bench(
            "- { rule: Empty, in: inbox, match: folders, where: { empty: true }, do: { probe: { name: e } } }")
        for kept in [".git/HEAD", ".stversions/a.txt", ".steward-x", ".Trash-1000/a", ".obsidian/app.json"] {
            try bench.write(BytePath("inbox/with \(kept.prefix(4))/\(kept)"), "the only one")
            try await see(BytePath("with \(kept.prefix(4))"), bench)
        }
        #expect(script.lines.isEmpty)
        try bench.write("inbox/Lisbon/deep/.DS_Store", "junk")
        try await see("Lisbon", bench)
        #expect(script.lines == ["perform e Lisbon"])
    }

    @Test("A missing path, or one that is not a folder, is not judged") func missing() async throws {
        let bench = try bench()
        #expect(try await see("nowhere", bench) == .known)
        try bench.write("inbox/a", "a file")
        #expect(try await see("a", bench) == .known)
        #expect(try await bench.jobs().isEmpty)
    }
}
