import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// Owners of the files that root restores for a service: its state belongs to the service, and its configuration to
/// root, readable for its group.
@Suite("Owners of files restored by root")
struct RestoreOwnerTests {
    private struct Owned: Equatable {
        let owner: uid_t
        let group: gid_t
        let mode: mode_t
    }

    /// A service of the user daemon, with a configuration owned by several people.
    private struct Home {
        let steward: AgentFixture
        let state: BytePath
        let folder: BytePath
        let user: uid_t
        let group: gid_t

        init() async throws {
            if getuid() != 0 { try Test.cancel("only root may give files away") }
            guard let user = getpwnam("daemon"), let group = getgrnam("daemon") else {
                try Test.cancel("needs a user and a group `daemon`")
            }
            (self.user, self.group) = (user.pointee.pw_uid, group.pointee.gr_gid)
            steward = try await AgentFixture.service()
            (state, folder) = (steward.home.path.appending("state"), steward.home.path.appending(".config/steward"))
            try steward.home.write(".config/steward/rules.d/notes.txt", "mine")
            try steward.shell(["chown", "-R", "daemon:daemon", state.text]).check()
            try give(folder, to: 0, self.group, 0o750)
            try give(folder.appending("steward.yaml"), to: 0, self.group, 0o640)
            try give(folder.appending("rules.d/10-test.yaml"), to: self.user, self.group, 0o644)
            // A user id without a name.
            let strange = TestUser.victim.id
            try give(folder.appending("rules.d/notes.txt"), to: strange, strange, 0o640)
            try steward.backUp()
        }

        private func give(_ path: BytePath, to owner: uid_t, _ group: gid_t, _ mode: mode_t) throws {
            guard lchown(path.text, owner, group) == 0, chmod(path.text, mode) == 0 else {
                throw Fault.system("give away", path)
            }
        }

        /// Restores into an empty home.
        ///
        /// - Parameter isKilled: whether the first attempt is killed between two renames.
        func restore(isKilled: Bool = false) throws {
            for gone in [state, folder.parent] { try FileManager.default.removeItem(atPath: gone.text) }
            if isKilled {
                steward.variables["STEWARD_FAULT"] = "restore moved:2"
                #expect(try steward.run(["restore", steward.backups.text]).status == SIGKILL)
                steward.variables["STEWARD_FAULT"] = nil
            }
            try steward.run(["restore"] + (isKilled ? [] : [steward.backups.text])).check()
            #expect(try steward.inServiceStore() == "3\n")
        }

        /// The owners of the configuration folder, of its file, of a rule, and of a file with an unknown owner.
        func owners() throws -> [Owned?] {
            try ["", "steward.yaml", "rules.d/10-test.yaml", "rules.d/notes.txt"].map { name in
                try FileStatus.of(folder.appending(BytePath(name))).map {
                    Owned(owner: $0.owner, group: $0.group, mode: $0.mode)
                }
            }
        }

        /// Everything in the state folder that does not belong to the user.
        func notOf(_ name: String) throws -> String {
            let words = ["find", state.text, "(", "!", "-user", name, "-o", "!", "-group", name, ")"]
            return try steward.shell(words).check().output
        }
    }

    @Test("They keep their owners, by name, even if the restore was interrupted; files without an owner are root's")
    func names() async throws {
        let home = try await Home()
        let note = home.state.appending("last-backup.json")
        #expect(try FileStatus.of(note)?.owner == home.user, "the agent can read it")
        for isKilled in [false, true] {
            try home.restore(isKilled: isKilled)
            #expect(
                try home.owners() == [
                    Owned(owner: 0, group: home.group, mode: 0o750), Owned(owner: 0, group: home.group, mode: 0o640),
                    Owned(owner: home.user, group: home.group, mode: 0o644), Owned(owner: 0, group: 0, mode: 0o640),
                ], "killed: \(isKilled)")
            #expect(try home.notOf("daemon") == "", "killed: \(isKilled)")
        }
    }

    @Test("Nobody gets root's configured files by naming themselves as owner in a backup")
    func maker() async throws {
        let home = try await Home()
        try home.steward.shell(["chown", "-R", "\(TestUser.victim.id)", home.steward.backups.text]).check()
        try home.restore()
        #expect(
            try home.owners() == [
                Owned(owner: 0, group: home.group, mode: 0o750), Owned(owner: 0, group: home.group, mode: 0o640),
                Owned(owner: 0, group: home.group, mode: 0o644), Owned(owner: 0, group: 0, mode: 0o640),
            ])
        #expect(try home.notOf("daemon") == "")
    }

    @Test("An older backup without owners is restored as before")
    func before() async throws {
        let home = try await Home()
        let backup = try #require(try home.steward.finishedBackups().first)
        let script = try home.steward.home.write("forget.py", Self.forgetting)
        try home.steward.shell(["/usr/bin/python3", script.text, backup.text]).check()
        try home.restore()
        #expect(try home.owners().map { $0?.owner } == [0, 0, 0, 0])
        #expect(try home.owners().map { $0?.mode } == [0o750, 0o640, 0o644, 0o640])
        #expect(try home.notOf("root") == "")
    }

    /// Removes from a backup what earlier versions did not record.
    private static let forgetting = """
        import hashlib, json, os, sys
        def read(name): return open(os.path.join(sys.argv[1], name)).read()
        def write(name, text): open(os.path.join(sys.argv[1], name), "w").write(text)
        def without(entry): return {key: entry[key] for key in entry if key not in ("owner", "group")}
        files = [without(json.loads(line)) for line in read("files.jsonl").splitlines()]
        write("files.jsonl", "".join(json.dumps(file) + "\\n" for file in files))
        manifest = json.loads(read("manifest.json"))
        for store in manifest["stores"]:
            store["folders"] = [without(folder) for folder in store["folders"] if folder["mode"] & 0o077]
        manifest["listing"] = hashlib.sha256(read("files.jsonl").encode()).hexdigest()
        write("manifest.json", json.dumps(manifest))
        write("manifest.sha256", hashlib.sha256(read("manifest.json").encode()).hexdigest() + "  manifest.json\\n")
        """
}
