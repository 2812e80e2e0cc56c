import ComicTestSupport
import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// After a day's use of a vault, no password, key or title is left on disk.
@Suite("Secrets at rest")
struct SecretsAtRestTests {
    private static let password = "quetzalcoatlus-Ünter-den-Linden-77"
    /// Words used in titles, names and folders of comics, and nowhere else.
    private static let words = ["Xylophagous", "Brontolith", "Zwielichtgasse", "Pterodaktylos", "Quixelbaum"]

    private func comic(_ number: Int, _ packing: Packing = .storedZip) throws -> [UInt8] {
        let information =
            "<ComicInfo><Title>\(Self.words[0]) \(number)</Title><Series>\(Self.words[1])</Series></ComicInfo>"
        return try packed(
            [
                Packed(name: "\(Self.words[2])/1.png", bytes: picture(number)),
                Packed(name: "ComicInfo.xml", bytes: Array(information.utf8)),
            ], packing)
    }

    @Test("After a day of imports, refusals, unlocks, a wrong password and a kill, nothing reveals the contents")
    func day() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        let temporary = steward.home.path.appending("temporary")
        try Durable.makeDirectory(temporary)
        steward.variables["TMPDIR"] = temporary.text
        let watch = ProcessWatch(words: Self.words + [Self.password])
        watch.start()
        try await steward.start()
        // Locked: two comics, one twice, and two that are refused.
        try steward.moveIn(BytePath("comics/\(Self.words[3]) 1.cbz"), try comic(1))
        try steward.moveIn(BytePath("comics/\(Self.words[4])/\(Self.words[3]) 2.cbt"), try comic(2, .tar))
        var damaged = try comic(3)
        damaged[600] ^= 1
        try steward.moveIn(BytePath("comics/\(Self.words[3]) damaged.cbz"), damaged)
        try steward.moveIn(BytePath("comics/\(Self.words[3]).cbz"), Array("no archive".utf8))
        try steward.wait()
        #expect(try steward.vault(["unlock"], password: "wrong").status == 77)
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(2)
        // Unlocked: another, and a duplicate.
        try steward.moveIn(BytePath("comics/\(Self.words[3]) 4.cb7"), try comic(4, .sevenZip))
        try steward.moveIn(BytePath("comics/\(Self.words[3]) again.cbz"), try comic(1))
        try steward.wait()
        #expect(try steward.comicsInVault().count == 3)
        try steward.vault(["lock"]).check()
        try steward.moveIn(BytePath("comics/\(Self.words[3]) 5.cbz"), try comic(5))
        try await steward.kill9()
        try await steward.start()
        try steward.wait()
        _ = try steward.run(["explain", steward.path(BytePath("comics/\(Self.words[3]) 1.cbz")).text])
        try steward.run(["status"]).check()
        try search(steward, "while it runs")
        try await steward.stop()
        watch.stop()
        #expect(watch.seen.isEmpty, "in the arguments of processes: \(watch.seen)")
        try search(steward, "after it stopped")
        #expect(try listDirectory(temporary).isEmpty)
    }

    @Test(
        "With hidden names, nothing the agent writes reveals which archive it was, while it runs and after a kill"
    )
    func archive() async throws {
        let steward = try AgentFixture.withVault(password: Self.password, rule: AgentFixture.sealing)
        try await steward.start()
        let archives = try [comic(1), comic(2)]
        try steward.moveIn(BytePath("comics/\(Self.words[3]) 1.cbz"), archives[0])
        try steward.wait()
        try steward.vault(["unlock"], password: Self.password).check()
        try await steward.waitForDeposits(1)
        try steward.moveIn(BytePath("comics/\(Self.words[3]) 2.cbz"), archives[1])
        try steward.wait()
        #expect(try steward.comicsInVault().count == 2)
        let hashes = archives.map { ContentHash(of: $0) }
        let traces = hashes.flatMap { [$0.bytes, Array($0.description.utf8)] }
        let sizes = archives.map { Array("\"size\":\($0.count),".utf8) }
        func found() throws -> [String] {
            try all(steward.home.path.appending(".local/state")).flatMap { file -> [String] in
                let bytes = try Descriptor(file).readAll()
                return (traces + sizes).filter { contains(bytes, $0) }.map { _ in file.nameText }
            }
        }
        // The log is checkpointed right after its contents were forgotten.
        try await steward.until("nothing tells which archives they were") { try found().isEmpty }
        try await steward.kill9()
        #expect(try found().isEmpty)
        let jobs = try steward.past(BytePath("comics/\(Self.words[3]) 2.cbz")).map { $0["job"].text }
        try await steward.start()
        try steward.vault(["unlock"], password: Self.password).check()
        try steward.run(["undo", try #require(jobs.first)]).check()
        #expect(try Descriptor(steward.path(BytePath("comics/\(Self.words[3]) 2.cbz"))).readAll() == archives[1])
    }

    @Test("A key file's bytes are in no other file; with `names: keep` the search does find its target")
    func keyFileAndControl() async throws {
        let steward = try AgentFixture(configuration: "log: { level: debug }")
        try steward.rule(AgentFixture.sealing.replacingOccurrences(of: "main }", with: "main, names: keep }"))
        var generator = SystemRandomNumberGenerator()
        let key = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
        let file = try steward.home.write("secret.key", key)
        try steward.run(["vault", "init", "--key-file", file.text]).check()
        try await steward.start()
        try steward.run(["vault", "unlock", "--key-file", file.text]).check()
        try steward.moveIn(BytePath("comics/\(Self.words[3]).cbz"), try comic(1))
        try steward.wait()
        try await steward.waitForDeposits(1)
        try await steward.stop()
        let forms = [key, Array(hexadecimal(key).utf8), Array(Data(key).base64EncodedString().utf8)]
        var named: [BytePath] = []
        for found in try all(steward.home.path) where found != file {
            let bytes = try Descriptor(found).readAll()
            for form in forms where contains(bytes, form) { Issue.record("the key stands in \(found)") }
            if contains(bytes, Array(Self.words[3].utf8)) { named.append(BytePath(bytes: found.name)) }
        }
        #expect(named.contains("ledger.sqlite") && named.contains("agent.log"), "\(named)")
    }

    /// Searches every file that the agent has written.
    private func search(_ steward: AgentFixture, _ when: Comment) throws {
        var secrets = (Self.words + [Self.password]).map { Array($0.utf8) }
        secrets.append(Array(Data(Self.password.utf8).base64EncodedString().utf8))
        secrets.append(Array(hexadecimal(Array(Self.password.utf8)).utf8))
        // Also in the normalised form, which nobody typed.
        secrets.append(Array(Self.password.decomposedStringWithCanonicalMapping.utf8))
        let held = Set(try steward.json(["quarantine"]).items.map { BytePath($0["stored"].text) })
        #expect(held.count == 2, when)
        for file in try all(steward.home.path) where !held.contains(file) {
            // Files written by the user, and files staged by the test.
            let name = file.nameText
            if name == "staged" || name.hasSuffix(".yaml") { continue }
            // Output of commands, shown to the person who asked for it.
            if name.hasPrefix("out-"), file.parent == steward.home.path { continue }
            let bytes = try Descriptor(file).readAll()
            for secret in secrets where contains(bytes, secret) {
                Issue.record("\(String(decoding: secret, as: UTF8.self)) stands in \(file) \(when)")
            }
            let path = file.relative(to: steward.home.path)?.text ?? ""
            for word in Self.words where path.contains(word) { Issue.record("the name \(file) \(when)") }
        }
    }

    private func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        Data(bytes).range(of: Data(part)) != nil
    }

    private func all(_ folder: BytePath) throws -> [BytePath] {
        try listDirectory(folder).flatMap { entry -> [BytePath] in
            let path = folder.appending(name: entry.name)
            switch try FileStatus.of(path)?.kind {
            case .directory: return try all(path)
            case .file: return [path]
            default: return []
            }
        }
    }

    /// The /proc files of a non-dumpable process belong to root. Root's own processes cannot show that.
    @Test(
        "Neither a core dump nor another process of the same user can read the agent's memory",
        .enabled(if: geteuid() != 0 || TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
    func memory() async throws {
        let user = geteuid() == 0 ? TestUser.victim : nil
        let steward = try AgentFixture(as: user)
        let initialised = (user?.command ?? []) + [AgentFixture.binary, "vault", "init", "--password-fd", "0"]
        try steward.shell(initialised, input: Self.password + "\n").check()
        try await steward.start()
        let process = try #require(steward.processID)
        #expect(try FileStatus.of(BytePath("/proc/\(process)/environ"))?.owner == 0)
        try await steward.stop()
    }
}

/// Watches the arguments of all processes while a test runs.
private final class ProcessWatch: Sendable {
    private let words: [String]
    private let state = Locked()

    init(words: [String]) { self.words = words }

    var seen: Set<String> { state.seen }

    func start() {
        let (words, state) = (words, state)
        Thread.detachNewThread {
            let own = getpid()
            while !state.isStopped {
                for entry in (try? listDirectory("/proc")) ?? [] {
                    guard let id = Int32(String(decoding: entry.name, as: UTF8.self)), id != own,
                        let bytes = try? Descriptor(BytePath("/proc/\(id)/cmdline")).readAll(limit: 65_536)
                    else { continue }
                    let text = String(decoding: bytes.map { $0 == 0 ? 32 : $0 }, as: UTF8.self)
                    // Words typed by a person, such as `explain FILE`, are allowed.
                    guard !text.contains(" explain ") else { continue }
                    for word in words where text.contains(word) { state.note(text) }
                }
                usleep(20_000)
            }
        }
    }

    func stop() { state.stop() }

    private final class Locked: @unchecked Sendable {  // under `lock`
        private let lock = NSLock()
        private var found: Set<String> = []
        private var stopped = false

        var seen: Set<String> { lock.withLock { found } }
        var isStopped: Bool { lock.withLock { stopped } }
        func note(_ text: String) { lock.withLock { _ = found.insert(text) } }
        func stop() { lock.withLock { stopped = true } }
    }
}
