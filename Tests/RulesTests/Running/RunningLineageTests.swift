import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Descendants of a file")
struct RunningLineageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A bench whose action `copy` copies the file into `to`, as `NAME+`.
    private func bench(_ yaml: String, to: @escaping @Sendable (BytePath) -> BytePath) throws -> Bench {
        let script = Script()
        let bench = try Bench(folder.path, script, rules: yaml)
        script.perform("copy") { intent, _ in
            let target = to(intent.file)
            let bytes = try Descriptor(intent.file).readAll()
            let placed = try Mover.create(bytes, at: [target]) { _, _ in }
            return Receipt("copied", effects: [.created(placed.path, placed.fingerprint, placed.hash)])
        }
        return bench
    }

    @Test("A rule runs at most once in a lineage, so a cycle of rules ends")
    func circle() async throws {
        let bench = try bench(
            """
            - { rule: there, in: inbox, do: { probe: { name: copy } } }
            - { rule: back, in: out, do: { probe: { name: copy } } }
            """
        ) { file in
            let place = file.parent.nameText == "inbox" ? "out" : "inbox"
            return file.parent.parent.appending(place).appending(name: file.name + Array("+".utf8))
        }
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        try await bench.process("a+", in: "out")
        let verdict = try await bench.process("a++")
        #expect(verdict == .news(.arrived, jobs: []))
        let jobs = try await bench.jobs()
        #expect(jobs.map(\.rule) == ["there", "back"])
        #expect(jobs.map(\.depth) == [0, 1])
        #expect(Set(jobs.map(\.firstJob)).count == 1)
        #expect(try await bench.ledger.read { try $0.history(limit: 100).contains { $0.kind == "skipped" } })
    }

    @Test("A file put there by a person instead is not of the lineage")
    func otherContent() async throws {
        let bench = try bench(
            """
            - { rule: there, in: inbox, do: { probe: { name: copy } } }
            - { rule: back, in: out, on: [arrived, changed], do: { probe: {} } }
            """
        ) { $0.parent.parent.appending("out/product") }
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        try bench.write("out/product", "typed by hand")
        try await bench.process("product", in: "out")
        let jobs = try await bench.jobs()
        #expect(jobs.map(\.depth) == [0, 0])
        #expect(jobs[0].firstJob != jobs[1].firstJob)
    }

    @Test("Eight generations may start rules, the ninth may not")
    func depth() async throws {
        let bench = try Bench(folder.path, rules: "- { rule: any, in: inbox, do: { probe: {} } }")
        for depth in [8, 9] {
            let name = "p\(depth)"
            try bench.write(BytePath("inbox/\(name)"), name)
            let product = ProductRecord(
                path: bench.path(BytePath("inbox/\(name)")), hash: ContentHash(of: Array(name.utf8)), firstJob: name,
                depth: depth, job: "j")
            try await bench.ledger.write { try $0.addProduct(product) }
            #expect(Bench.rules(try await bench.see(BytePath(name))) == (depth == 8 ? ["any"] : []))
        }
    }

    @Test("A product judged in its place is forgotten, so that its jobs can be pruned too")
    func judged() async throws {
        let bench = try bench("- { rule: there, in: inbox, do: { probe: { name: copy } } }") {
            $0.parent.parent.appending("out/product")
        }
        let product = bench.path("out/product")
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        #expect(try await bench.ledger.read { try $0.product(product) } != nil)
        let before = Timestamp.now().adding(seconds: 60)
        #expect(try await bench.ledger.prune(before: before) == 0)
        try await bench.process("product", in: "out")
        #expect(try await bench.ledger.read { try $0.product(product) } == nil)
        #expect(try await bench.ledger.prune(before: before) == 1)
    }

    @Test("A step's product in its own place counts as judged")
    func ownPlace() async throws {
        let bench = try bench("- { rule: any, in: inbox, do: { probe: { name: copy } } }") {
            $0.parent.appending("product")
        }
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        #expect(try await bench.see("product") == .known)
        #expect(try await bench.jobs().count == 1)
    }

    @Test("A move within the place leaves no news at either name, and later steps find the file")
    func move() async throws {
        let script = Script()
        let bench = try Bench(
            folder.path, script,
            rules: """
                - { rule: one, in: inbox, do: [ { probe: { name: move } }, { probe: { name: after } } ] }
                - { rule: two, in: inbox, do: { probe: { name: other } } }
                """)
        script.perform("move") { intent, _ in
            let placed = try Mover.move(
                intent.file, expecting: try #require(intent.hash), to: [intent.file.parent.appending("moved")]
            ) { _, _ in }
            return Receipt("moved", effects: [.moved(intent.file, to: placed.path, placed.fingerprint, placed.hash)])
        }
        try bench.write("inbox/a", "A")
        try await bench.process("a")
        #expect(script.lines == ["perform move a", "perform after moved", "perform other moved"])
        #expect(try await bench.see("a") == .known)
        #expect(try await bench.see("moved") == .known)
        #expect(try await bench.jobs().map(\.state) == [.done, .done])
    }

    @Test("Our write advances the judged version only if nobody else wrote before it")
    func ownWrites() async throws {
        let bench = try Bench(folder.path, rules: "- { rule: any, in: notes, on: changed, do: { probe: {} } }")
        let note = bench.path("notes/n.md")
        func write(_ text: String, after base: String) async throws {
            try folder.write("notes/n.md", text)
            let status = try #require(try FileStatus.of(note))
            let journal = bench.journal
            try await bench.ledger.write {
                try journal.wrote(
                    note, base: ContentHash(of: Array(base.utf8)), status.fingerprint,
                    ContentHash(of: Array(text.utf8)),
                    blocks: ["todo-0930"], in: $0)
            }
        }
        try bench.write("notes/n.md", "A")
        try await bench.see("n.md", in: "notes")
        try await write("A ours", after: "A")
        #expect(try await bench.see("n.md", in: "notes") == .known)
        try await write("A ours, theirs, ours", after: "A ours, theirs")
        #expect(Bench.rules(try await bench.see("n.md", in: "notes")) == ["any"])
    }
}
