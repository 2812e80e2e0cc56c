import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Steps for each line or page", .timeLimit(.minutes(30)))
struct ForEachTests {
    private let folder: TemporaryFolder
    private let script = Script()

    init() throws { folder = try TemporaryFolder("for-each") }

    private static func rule(_ forEach: String, before: String = "", after: String = "", more: String = "") -> String {
        "- rule: R\n  in: inbox\n\(more)  do:\n\(before)    - for-each: { \(forEach) }\n\(after)"
    }

    private static let lines = rule(
        "of: lines, do: [{ probe: { name: a, text: \"{{ line.number }} {{ line }}\" } }, "
            + "{ probe: { name: b, text: \"{{ probe.out }}\" } }]",
        before: "    - probe: { name: first }\n", after: "    - probe: { name: last, text: \"{{ file.name }}\" }\n")

    @discardableResult
    private func process(_ rules: String, _ text: String, inspector: (any ContentInspector)? = nil) async throws
        -> Bench
    {
        let bench = try Bench(folder.path, script, rules: rules, inspector: inspector)
        try bench.write("inbox/x", text)
        try await bench.process("x")
        return bench
    }

    private func steps(_ bench: Bench) async throws -> [StepRecord] {
        let job = try await bench.onlyJob()
        return try await bench.ledger.read { try $0.steps(of: job.id) }
    }

    // MARK: - Accepted

    @Test("All steps run for the first line, then for the second, between the steps before and after")
    func order() async throws {
        let bench = try await process(Self.lines, "\u{FEFF}one\r\n\n  \nfour")
        #expect(
            script.lines == [
                "perform first x", "perform a x 1 one", "perform b x out of a", "perform a x 4 four",
                "perform b x out of a", "perform last x x",
            ])
        #expect(try await bench.onlyJob().state == .done)
        let steps = try await steps(bench)
        #expect(steps.map(\.number) == Array(0..<6))
        #expect(
            steps.allSatisfy { $0.state == .done && $0.item == nil }, "what a line held is forgotten once it is done")
    }

    @Test("For a file without lines nothing is repeated, and the other steps run") func none() async throws {
        let bench = try await process(Self.lines, "\n \n")
        #expect(script.lines == ["perform first x", "perform last x x"])
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("Lines are not read as templates, and initial lines can be skipped") func data() async throws {
        let rule = Self.rule("of: lines, skip: 1, do: { probe: { text: \"{{ line | upper }}\" } }")
        try await process(rule, "name\n{{ file.name }}\n")
        #expect(script.lines == ["perform p x {{ FILE.NAME }}"])
    }

    @Test("Of each line the ledger keeps what the step uses") func kept() async throws {
        let rule = Self.rule("of: lines, do: [{ probe: { text: \"{{ line.number }}\" } }, probe]")
        let bench = try Bench(folder.path, script, rules: rule)
        try bench.write("inbox/x", "secret\n")
        try await bench.see("x")
        #expect(try await steps(bench).map(\.item) == [#"{"line.number":1}"#, "{}"])
    }

    @Test("Steps for each page have its number and its text") func pages() async throws {
        let text = "Page 1\nPäge 2\n\n"
        let found = ContentFindings(text: text, pageEnds: [6, 14, 15])
        let rule = Self.rule("of: pages, do: { probe: { text: \"{{ page.number }}: {{ page.text }}\" } }")
        let bench = try await process(rule, "%PDF-1.7\n", inspector: KnownFindings(found))
        #expect(script.lines == ["perform p x 1: Page 1", "perform p x 2: Päge 2", "perform p x 3: "])
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("A table is consulted for each line") func lookups() async throws {
        let places = places(in: folder.path)
        try folder.write("rules/customers.csv", "id,mail\n17,a@x\n18,b@x\n")
        try folder.write(
            "rules/10-a.yaml",
            """
            - rule: R
              in: other
              values: customers.csv
              do:
                for-each:
                  of: lines
                  do: { append-block: { text: "{{ lookup:customers.mail[line] | default: nobody }}" } }

            """)
        let files = RuleFileReader(names: ConfigurationFiles.names) {
            try ConfigurationFiles.read($0, limit: RuleFileReader.limit)
        }
        let loaded = RuleDirectories.load(
            [folder.path.appending("rules")], files, registry: registry, places: places, timeZone: utc)
        #expect(loaded.diagnostics.isEmpty)
        try folder.write("other/x", "18\n19\n17\n")
        let file = try Descriptor(folder.path.appending("other/x"))
        let facts = FileFacts(
            place: places[4], path: "x", status: try file.status(), event: .arrived, now: .now(), content: .open(file))
        let planned = try #require(loaded.rules.first).plannedSteps(of: facts, knowing: [:])
        #expect(planned.map(\.itemName) == ["line 1", "line 2", "line 3"])
        let name = "lookup:customers.mail[line]"
        #expect(planned.map { $0.values(of: [:])[name] } == [.text("b@x"), nil, .text("a@x")])
    }

    // MARK: - Refused

    @Test(
        "A file with too many lines, or none that can be read, is refused before anything is done",
        arguments: [
            ("of: lines, most: 2, do: probe", "a\n\nb\nc\n", "has 3 lines, and `for-each` takes 2"),
            (
                "of: lines, do: probe", String(repeating: "a\n", count: 1001),
                "has 1001 lines, and `for-each` takes 1000"
            ),
            ("of: lines, do: probe", "\0\u{1}\0", "has no lines to go through"),
            ("of: pages, do: probe", "text\n", "has no pages to go through: it is no PDF"),
            ("of: lines, most: 10000, do: probe", String(repeating: "a", count: 1 << 20) + "\n", "1 MiB of text"),
        ])
    func refused(_ forEach: String, _ text: String, _ message: String) async throws {
        let rule = Self.rule(forEach, before: "    - probe: { name: first }\n")
        let bench = try await process(rule, text)
        #expect(script.lines.isEmpty)
        let job = try await bench.onlyJob()
        #expect(job.state == .refused)
        #expect(job.problem?.contains(message) == true, "\(job.problem ?? "")")
    }

    @Test("A document that cannot be read needs a person") func unreadable() async throws {
        let found = ContentFindings(trouble: "the PDF is damaged")
        let bench = try await process(
            Self.rule("of: pages, do: probe"), "%PDF-1.7\n", inspector: KnownFindings(found))
        let job = try await bench.onlyJob()
        #expect(job.state == .parked)
        #expect(job.problem?.contains("could not be read: the PDF is damaged") == true)
    }

    @Test(
        "Invalid keys are reported at their position",
        arguments: [
            ("{ for-each: { of: lines, do: trash } }", "4:36 `trash` is not allowed in `for-each`"),
            (
                "{ for-each: { of: lines, do: { for-each: { of: lines, do: trash } } } }",
                "4:38 `for-each` is not allowed in `for-each`"
            ),
            ("{ for-each: { of: words, do: { append-block: { text: x } } } }", "`of` must be one of `lines`, `pages`"),
            ("{ for-each: { of: lines } }", "`for-each` needs `do`"),
            ("{ for-each: { of: lines, do: [] } }", "`do` is an empty list"),
            ("{ for-each: { of: lines, most: 20000, do: { append-block: { text: x } } } }", "between 1 and 10000"),
            ("{ append-block: { text: \"{{ line }}\" } }", "unknown value `line`"),
            (
                "{ for-each: { of: lines, do: { append-block: { text: \"{{ page.text }}\" } } } }",
                "unknown value `page.text`"
            ),
            (
                "[{ for-each: { of: lines, do: { append-block: { text: x } } } }, { append-block: { text: \"{{ note.path }}\" } }]",
                "unknown value `note.path`"
            ),
        ])
    func complained(_ steps: String, _ message: String) {
        let found = complaints("- rule: R\n  in: other\n  where: { extension: txt }\n  do: \(steps)\n")
        #expect(found.contains { $0.contains(message) }, "\(found)")
    }

    @Test("Steps for each line are not allowed after a failure") func onFailure() {
        let found = complaints(
            "- rule: R\n  in: other\n  do: trash\n"
                + "  on-failure: { for-each: { of: lines, do: { append-block: { text: x } } } }\n")
        #expect(found.contains { $0.contains("is not allowed in `on-failure`") }, "\(found)")
    }

    // MARK: - Once

    @Test("If the step for one line fails, the earlier lines stay done and are not repeated") func failed()
        async throws
    {
        script.perform("b") { [script] intent, _ in
            if script.lines.count < 7 { throw Fault(.transient, "busy") }
            return Receipt("did b")
        }
        let rule = Self.rule(
            "of: lines, do: [{ probe: { name: a, text: \"{{ line }}\" } }, { probe: { name: b, text: \"{{ line }}\" } }]"
        )
        let bench = try await process(rule, "1\n2\n")
        let job = try await bench.onlyJob()
        while script.lines.count < 7 {
            await bench.runner.submit([(job.id, job.place, job.path)])
            await bench.runner.idle()
        }
        #expect(script.lines.count { $0 == "perform a x 1" } == 1)
        #expect(script.lines.last == "perform b x 2")
        #expect(try await bench.onlyJob().state == .done)
    }

    @Test("Undo reverses the steps, the last line first") func undone() async throws {
        let bench = try await process(Self.lines, "one\ntwo\n")
        script.forget()
        let lines = try await bench.executor.undo(try await bench.onlyJob().id)
        #expect(script.lines == ["undo last", "undo b", "undo a", "undo b", "undo a", "undo first"])
        #expect(lines.count == 6)
        #expect(try await bench.onlyJob().state == .undone)
    }

    /// Each line leaves one line in `effects`, and the process is killed at the third: before or after it.
    private static func bench(_ folder: BytePath, _ script: Script, killed: String) throws -> Bench {
        let effects = folder.appending("effects")
        script.perform("a") { intent, context in
            if killed == "before", intent.text == "three" { kill(getpid(), SIGKILL) }
            let log = try Descriptor(effects, O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
            try log.write(Array("\(context.stepID) \(intent.text)\n".utf8), at: 0)
            if killed == "after", intent.text == "three" { kill(getpid(), SIGKILL) }
            return Receipt("did it")
        }
        script.recover("a") { _, context in
            let done =
                try FileStatus.of(effects) == nil ? "" : String(decoding: Descriptor(effects).readAll(), as: UTF8.self)
            return done.contains("\(context.stepID) ") ? .done(Receipt("did it")) : .notDone
        }
        return try Bench(
            folder, script, rules: rule("of: lines, do: { probe: { name: a, text: \"{{ line }}\" } }"))
    }

    static func live(_ folder: String, killed: String) async throws {
        let bench = try bench(BytePath(folder), Script(), killed: killed)
        try bench.write("inbox/x", "one\ntwo\nthree\nfour\n")
        try await bench.process("x")
    }

    private func check() async throws {
        let bench = try Self.bench(folder.path, script, killed: "")
        try await bench.runner.start()
        await bench.runner.idle()
        let job = try await bench.onlyJob()
        #expect(job.state == .done)
        #expect(
            try folder.read("effects")
                == ["one", "two", "three", "four"].enumerated().map { "\(job.id).\($0.offset) \($0.element)\n" }
                .joined())
        #expect(try await bench.see("x") == .known)
    }

    @Test("Killed before the effect for one line: each line is processed once") func killedBefore() async throws {
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await ForEachTests.live(path, killed: "before")
        }
        try await check()
    }

    @Test("Killed after the effect for one line: each line is processed once") func killedAfter() async throws {
        let path: String = folder.path.text
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            try await ForEachTests.live(path, killed: "after")
        }
        try await check()
    }
}
