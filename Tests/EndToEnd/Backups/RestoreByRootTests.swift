import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What root refuses to do for the owner of the folders it restores into, or of the backup.
@Suite("Restoring as root", .enabled(if: TestUser.areBothHere, Comment(rawValue: TestUser.comment)))
struct RestoreByRootTests {
    private let state: BytePath = ".local/state/steward"

    /// A person's home with a backup, and a folder that only root can access.
    private func home(_ prepare: (AgentFixture) throws -> Void = { _ in }) async throws -> (
        AgentFixture, TemporaryFolder
    ) {
        let steward = try AgentFixture(as: .victim)
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        try steward.drop("dropbox/1.md", "capture")
        try steward.wait()
        try await steward.stop()
        try prepare(steward)
        try steward.run(["backup", steward.backups.text]).check()
        let closed = try TemporaryFolder("closed")
        chmod(closed.path.text, 0o755)
        return (steward, closed)
    }

    private func asRoot(_ steward: AgentFixture, _ arguments: [String]) throws -> ProgramResult {
        try runProgram(
            [AgentFixture.binary] + arguments, in: steward.home.path, environment: steward.environment)
    }

    private func inState(_ steward: AgentFixture, _ name: String) -> BytePath {
        steward.home.path.appending(state).appending(name)
    }

    @Test("A user's link leads root to nothing that the user could not write")
    func link() async throws {
        let (steward, closed) = try await home()
        let captures = steward.home.path.appending(".local/share/steward/captures")
        #expect(rename(captures.text, captures.text + ".away") == 0)
        #expect(symlink(closed.path.text, captures.text) == 0)
        try TestUser.victim.own(captures)
        let refused = try asRoot(steward, ["restore", steward.backups.text, "--replace"])
        #expect(refused.status == 1, "\(refused.errors)")
        #expect(try listDirectory(closed.path).isEmpty)
        #expect(try FileStatus.of(inState(steward, "restore.json")) == nil)
    }

    @Test("Files restored into a user's home belong to that user, whatever the backup says, by the user and by root")
    func names() async throws {
        let file: BytePath = ".config/steward/steward.yaml"
        let (steward, _) = try await home { steward in
            let path = steward.home.path.appending(file)
            guard lchown(path.text, 0, 0) == 0, chmod(path.text, 0o644) == 0 else {
                throw Fault.system("give away", path)
            }
        }
        let backup = try #require(try steward.finishedBackups().first)
        let listing = try TemporaryFolder.text(backup.appending("files.jsonl"))
        #expect(listing.contains(#""group":"root""#) && listing.contains(#""owner":"root""#))
        for isRoot in [false, true] {
            try steward.emptyHome()
            let words = ["restore", steward.backups.text]
            try (isRoot ? asRoot(steward, words) : steward.run(words)).check()
            let status = try #require(try FileStatus.of(steward.home.path.appending(file)))
            #expect(status.owner == TestUser.victim.id && status.group == TestUser.victim.id, "by root: \(isRoot)")
            #expect(status.mode == 0o644)
        }
    }

    @Test("A folder swapped for a link during a copy gives nobody a file of root's")
    func exchanged() async throws {
        let (steward, closed) = try await home { steward in
            let large = try steward.home.write(
                BytePath(".local/state/steward/quarantine/large"), [UInt8](repeating: 7, count: 96 << 20))
            try TestUser.victim.own(large.parent)
            try TestUser.victim.own(large)
        }
        let secret = try closed.write("large", "root's")
        chmod(secret.text, 0o600)
        let script = try steward.home.write(
            "swap.py",
            """
            import os, sys
            folder, target, done = sys.argv[1:]
            while True:
                try:
                    if os.stat(folder + "/large").st_size:
                        break
                except OSError:
                    pass
            os.rename(folder, folder + ".away")
            os.symlink(target, folder)
            open(done, "w").close()
            """)
        let (done, staged) = (
            steward.home.path.appending("done"), inState(steward, ".steward-restore/quarantine")
        )
        let attack = Process(
            TestUser.victim.command + ["/usr/bin/python3", script.text, staged.text, closed.path.text, done.text])
        try attack.run()
        defer { if attack.isRunning { kill(attack.processIdentifier, SIGKILL) } }
        _ = try asRoot(steward, ["restore", steward.backups.text, "--replace"])
        try #require(try FileStatus.of(done) != nil, "it was exchanged")
        #expect(try FileStatus.of(secret)?.owner == 0)
        #expect(try closed.read("large") == "root's")
    }

    @Test("A forged restore journal makes root rename nothing that its author could not")
    func forged() async throws {
        let (steward, closed) = try await home()
        let secret = try closed.write("secret", "root's")
        let target = steward.home.path.appending("secret")
        let journal = try steward.home.write(
            state.appending("restore.json"),
            #"{"backup": "/none", "emptied": [], "moves": [{"from": "\#(secret)", "to": "\#(target)"}]}"#)
        try TestUser.victim.own(journal)
        #expect(try asRoot(steward, ["restore"]).status == 1)
        #expect(try closed.read("secret") == "root's")
        #expect(try FileStatus.of(target) == nil)
    }

    @Test("Root completes what root began, and everything belongs to the user then")
    func cutOff() async throws {
        let (steward, _) = try await home()
        let before = try steward.hashes(below: state)
        steward.variables["STEWARD_FAULT"] = "restore moved:5"
        let killed = try asRoot(steward, ["restore", steward.backups.text, "--replace"])
        steward.variables["STEWARD_FAULT"] = nil
        #expect(killed.status == SIGKILL, "\(killed.errors)")
        let refused = try steward.run(["restore"])
        #expect(refused.status == 64 && refused.errors.contains("as root"), "\(refused.errors)")
        try asRoot(steward, ["restore"]).check()
        #expect(try steward.hashes(below: state) == before)
        let own = [state, ".local/share/steward"].map { steward.home.path.appending($0).text }
        let all = try steward.shell(["find"] + own + ["!", "-user", "\(TestUser.victim.id)"]).check()
        #expect(all.output == "")
        try await steward.start()
        try steward.wait()
        #expect(try steward.inNotes() == ["capture": 1])
        try await steward.stop()
    }

    @Test("A store located only by the backup is not restored, even if root names it")
    func strangeFolder() async throws {
        let (steward, closed) = try await home()
        let backup = try #require(try steward.finishedBackups().first)
        let (target, script) = (closed.path.appending("target"), try closed.write("rename.py", Self.renaming))
        try steward.shell(["/usr/bin/python3", script.text, backup.text, target.text]).check()
        try steward.emptyHome()
        for words in [[], ["--only", "state", "vaults/x"]] {
            let refused = try asRoot(steward, ["restore", backup.text] + words)
            #expect(refused.status == 64 && refused.errors.contains("names no folder"), "\(refused.errors)")
        }
        #expect(try FileStatus.of(target) == nil)
        #expect(try FileStatus.of(inState(steward, "ledger.sqlite")) == nil)
        try asRoot(steward, ["restore", backup.text, "--only", "state"]).check()
    }

    /// Turns the captures in a backup into a vault in a separate folder, with correct hashes.
    private static let renaming = """
        import hashlib, json, os, sys
        backup, target = sys.argv[1:]
        def path(name): return os.path.join(backup, name)
        def read(name): return open(path(name)).read()
        def write(name, text): open(path(name), "w").write(text)
        os.makedirs(path("vaults"), exist_ok=True)
        os.rename(path("captures"), path("vaults/x"))
        files = [json.loads(line) for line in read("files.jsonl").splitlines()]
        for file in files:
            if file["path"].startswith("captures/"):
                file["path"] = "vaults/x/" + file["path"][9:]
        write("files.jsonl", "".join(json.dumps(file) + "\\n" for file in files))
        manifest = json.loads(read("manifest.json"))
        for store in manifest["stores"]:
            if store["name"] == "captures":
                store["name"], store["root"] = "vaults/x", target
        manifest["listing"] = hashlib.sha256(read("files.jsonl").encode()).hexdigest()
        write("manifest.json", json.dumps(manifest))
        write("manifest.sha256", hashlib.sha256(read("manifest.json").encode()).hexdigest() + "  manifest.json\\n")
        """
}
