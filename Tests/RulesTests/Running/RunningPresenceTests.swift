import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Unavailable places")
struct RunningPresenceTests {
    private static let rules = "- { rule: R, in: inbox, on: [arrived, changed, removed], do: { probe: {} } }"
    private let folder: TemporaryFolder
    private let bench: Bench

    init() async throws {
        folder = try TemporaryFolder()
        bench = try Bench(folder.path, rules: Self.rules)
        let places = bench.journal.places.places
        try await bench.ledger.write { transaction in
            for place in places { _ = try transaction.registerPlace(place.name, root: place.root) }
        }
        for name in ["a", "b"] {
            try bench.write(BytePath("inbox/\(name).txt"), name)
            try await bench.see(BytePath("\(name).txt"))
        }
    }

    private func rename(_ from: BytePath, _ to: BytePath) throws {
        guard Glibc.rename(bench.path(from).text, bench.path(to).text) == 0 else { throw Fault.system("rename") }
    }

    private func events() async throws -> [String] { try await bench.jobs().map { "\($0.event) \($0.path)" }.sorted() }

    private func look(anew: Bool = false) throws -> String {
        switch try bench.journal.presence.look(at: bench.place(), anew: anew) {
        case .here: "here"
        case .other: "other"
        case .inUse: "in use"
        case .missing: "missing"
        }
    }

    @Test("Nothing is concluded from a missing folder, nor from an empty one in its stead")
    func empty() async throws {
        #expect(try look() == "here")
        try rename("inbox", "away")
        #expect(try await bench.see("a.txt") == .known)
        #expect(try look() == "missing")
        try Durable.makeDirectory(bench.path("inbox"))
        #expect(try await bench.see("a.txt") == .known)
        #expect(try look() == "other")
        #expect(try look(anew: true) == "other")
        #expect(rmdir(bench.path("inbox").text) == 0)
        try rename("away", "inbox")
        #expect(try look() == "here")
        for name in ["a.txt", "b.txt"] as [BytePath] { #expect(try await bench.see(name) == .known) }
        #expect(try await events() == ["arrived a.txt", "arrived b.txt"])
    }

    @Test("Files removed from the place itself are gone, before and after it was away")
    func removal() async throws {
        try Durable.remove(bench.path("inbox/a.txt"))
        try await bench.see("a.txt")
        try rename("inbox", "away")
        try Durable.makeDirectory(bench.path("inbox"))
        try await bench.see("b.txt")
        try Durable.remove(bench.path("away/b.txt"))
        #expect(rmdir(bench.path("inbox").text) == 0)
        try rename("away", "inbox")
        try await bench.see("b.txt")
        #expect(try await events() == ["arrived a.txt", "arrived b.txt", "removed a.txt", "removed b.txt"])
    }

    @Test("A hidden file is not gone before its place has been searched for it", arguments: [true, false])
    func hidden(isThere: Bool) async throws {
        bench.hideNames()
        try bench.write("inbox/c.txt", "C")
        try await bench.see("c.txt")
        let token = try bench.ledger.names.stored("inbox", "c.txt")
        if !isThere { try Durable.remove(bench.path("inbox/c.txt")) }
        let next = try Bench(folder.path, rules: Self.rules)
        next.hideNames()
        let names = next.ledger.names
        names.expect(in: "inbox")
        #expect(try await next.see(token) == .known)
        if isThere { try names.learn("inbox", "c.txt") }
        names.setLearned("inbox")
        #expect(Bench.rules(try await next.see(token)) == (isThere ? [] : ["R"]))
        #expect(try await next.see("c.txt") == .known)
        let events = ["arrived", "arrived", "arrived"] + (isThere ? [] : ["removed"])
        #expect(try await next.jobs().map(\.event).sorted() == events)
    }

    @Test("A hidden file restored under its name by a job that knows its token is judged afterwards")
    func putBack() async throws {
        bench.hideNames()
        let token = try bench.ledger.names.stored("inbox", "c.txt")
        bench.inWork.begin([bench.path("inbox").appending(token)])
        try bench.write("inbox/c.txt", "C")
        #expect(try await bench.see("c.txt") == .again)
        bench.inWork.end([bench.path("inbox").appending(token)])
        #expect(Bench.rules(try await bench.see("c.txt")) == ["R"])
    }

    @Test("Files added to the stand-in folder are news, and gone when removed")
    func others() async throws {
        try rename("inbox", "away")
        try bench.write("inbox/c.txt", "C")
        try await bench.see("c.txt")
        #expect(try await bench.see("a.txt") == .known)
        #expect(try look(anew: true) == "other", "a file of its own does not make it the place")
        try Durable.remove(bench.path("inbox/c.txt"))
        try await bench.see("c.txt")
        #expect(try await events() == ["arrived a.txt", "arrived b.txt", "arrived c.txt", "removed c.txt"])
    }

    @Test("A folder with one of the files is the place itself, restored: missing files are gone")
    func restored() async throws {
        try rename("inbox", "away")
        try bench.write("inbox/b.txt", "b")
        try await bench.see("a.txt")
        #expect(try look() == "here")
        #expect(try await bench.see("b.txt") == .touched)
        #expect(try await events() == ["arrived a.txt", "arrived b.txt", "removed a.txt"])
    }

    @Test("So is one considered a stand-in, once a file of the place is in it")
    func restoredLater() async throws {
        try rename("inbox", "away")
        try Durable.makeDirectory(bench.path("inbox"))
        #expect(try await bench.see("a.txt") == .known)
        try bench.write("inbox/b.txt", "b")
        #expect(try look() == "other")
        #expect(try await bench.see("b.txt") == .touched)
        #expect(try look() == "here")
    }

    @Test("A file with the same name but different content does not make another folder the place")
    func sameName() async throws {
        try rename("inbox", "away")
        try bench.write("inbox/a.txt", "another")
        #expect(try await bench.see("b.txt") == .known)
        #expect(try look(anew: true) == "other")
    }

    @Test("A person can declare that it is another")
    func accepted() async throws {
        try rename("inbox", "away")
        try Durable.makeDirectory(bench.path("inbox"))
        #expect(try await bench.see("a.txt") == .known)
        try bench.journal.presence.accept(bench.place())
        #expect(try look() == "here")
        try await bench.see("a.txt")
        #expect(try await events() == ["arrived a.txt", "arrived b.txt", "removed a.txt"])
    }

    @Test("A start compares its findings with what the previous run knew")
    func nextLife() async throws {
        try rename("inbox", "away")
        try Durable.makeDirectory(bench.path("inbox"))
        let next = try Bench(folder.path, rules: "- { rule: R, in: inbox, on: [removed], do: { probe: {} } }")
        #expect(try await next.see("a.txt") == .known)
        #expect(rmdir(bench.path("inbox").text) == 0)
        try rename("away", "inbox")
        #expect(try await next.see("a.txt") == .known)
        #expect(try await next.jobs().map(\.event) == ["arrived", "arrived"])
    }

    @Test("An empty place is away only if its disk was mounted exactly there")
    func withoutFiles() throws {
        let out = try bench.place("out")
        #expect(try isHere(out))
        #expect(rmdir(out.root.text) == 0)
        try Durable.makeDirectory(out.root)
        #expect(try isHere(out))
        let mount = FolderIdentity(device: 1, inode: 2, fileSystem: 3, isMount: true)
        try bench.ledger.writeBlocking { try $0.setPlaceHere(out.name, mount) }
        #expect(try !isHere(out, PlacePresence.fresh(bench)))
    }

    private func isHere(_ place: PlaceInfo, _ presence: PlacePresence? = nil) throws -> Bool {
        try (presence ?? bench.journal.presence).isHere(place.root.appending("new"))
    }

    @Test("A job that does not find another place's folder waits for it as well")
    func waitingForAnother() async throws {
        let out = try bench.place("out")
        #expect(rmdir(out.root.text) == 0)
        bench.script.decide("p") { _ in _ = try Descriptor(out.root) }
        try bench.write("inbox/c.txt", "C")
        try await bench.process("c.txt")
        // It keeps looking.
        try await waitUntil("it waits for the place") {
            let job = try await bench.jobs().first { $0.path == "c.txt" }
            return job?.state == .waiting && job?.problem?.hasPrefix("the place out is away") == true
        }
    }

    @Test("A job whose file is not found waits while the place is away, and continues when it is back")
    func waiting() async throws {
        try bench.write("inbox/c.txt", "C")
        bench.script.perform("p") { intent, _ in
            guard try FileStatus.of(intent.file) != nil else { throw Fault(.superseded, "gone") }
            return Receipt("done")
        }
        let verdict = try await bench.see("c.txt")
        try rename("inbox", "away")
        await bench.submit(verdict)
        await bench.runner.idle()
        let job = try #require(try await bench.jobs().first { $0.path == "c.txt" })
        #expect(job.state == .waiting && job.problem?.hasPrefix("the place inbox is away") == true)
        try rename("away", "inbox")
        await bench.runner.submit([(job.id, job.place, job.path)])
        // It keeps looking: a try that began before the place was back comes first.
        try await waitUntil("it has gone on") { try await bench.jobs().first { $0.path == "c.txt" }?.state == .done }
    }
}

extension PlacePresence {
    /// The presence of the next run.
    fileprivate static func fresh(_ bench: Bench) -> PlacePresence {
        EffectJournal(ledger: bench.ledger, places: bench.journal.places).presence
    }
}
