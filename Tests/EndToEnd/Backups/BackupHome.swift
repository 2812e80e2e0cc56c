import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport

/// Operations on an agent's home for the tests of backups.
extension AgentFixture {
    static let capturing = """
        - rule: Captures
          in: dropbox
          settle: 50ms
          do:
            - index-capture
            - append-block: { heading: Captures, text: "got {{ capture.text }}" }
            - trash
        """

    /// A stopped agent, set up like the system service: its home is its state folder, `state`.
    static func service() async throws -> AgentFixture {
        let steward = try AgentFixture()
        let configuration: BytePath = ".config/steward/steward.yaml"
        let text = try steward.home.read(configuration)
        try steward.home.write(
            configuration, text.replacingOccurrences(of: "~/", with: steward.home.path.text + "/"))
        let state = steward.home.path.appending("state")
        steward.variables["HOME"] = state.text
        steward.variables["STATE_DIRECTORY"] = state.text
        steward.variables["CONFIGURATION_DIRECTORY"] = steward.home.path.appending(".config/steward").text
        try Durable.makeDirectory(state, mode: 0o700)
        try steward.rule(AgentFixture.capturing)
        try await steward.start()
        for number in 1...3 { try steward.drop(BytePath("dropbox/\(number).md"), "capture \(number)") }
        try steward.wait()
        try await steward.stop()
        try steward.home.write("state/.tk/secrets", "key")
        try steward.home.write("state/.tk/config.json", "{}")
        try steward.home.write("state/.local/share/Trash/files/mine", "mine")
        return steward
    }

    /// How many captures the service's store holds.
    func inServiceStore() throws -> String {
        let store = home.path.appending("state/captures/captures.sqlite").text
        return try shell(["sqlite3", store, "SELECT COUNT(*) FROM experience"]).check().output
    }

    var backups: BytePath { home.path.appending("backups") }

    /// The finished backups, oldest first.
    func finishedBackups() throws -> [BytePath] {
        guard try FileStatus.of(backups) != nil else { return [] }
        return try listDirectory(backups).filter { $0.name.first != UInt8(ascii: ".") }
            .map { backups.appending(name: $0.name) }.sorted()
    }

    @discardableResult
    func backUp(_ options: [String] = []) throws -> Answer { try json(["backup", backups.text] + options) }

    /// Restores into an empty home. The configuration goes first, because it says where vaults go.
    func restoreAll(_ backup: BytePath) throws {
        try run(["restore", backup.text, "--only", "configuration"]).check()
        try run(["restore", backup.text]).check()
    }

    /// Changes the manifest of a backup as anyone with write access to its disk can: all hashes are correct afterwards.
    func forge(_ backup: BytePath, _ old: String, _ new: String) throws {
        let manifest = try TemporaryFolder.text(backup.appending("manifest.json"))
        guard manifest.contains(old) else { throw TestFailure("the manifest holds no \(old): \(manifest)") }
        let changed = Array(manifest.replacingOccurrences(of: old, with: new).utf8)
        try Durable.replaceOwn(backup.appending("manifest.json"), with: changed)
        let hash = "\(ContentHash(of: changed))  manifest.json\n"
        try Durable.replaceOwn(backup.appending("manifest.sha256"), with: Array(hash.utf8))
    }

    /// Removes everything in the home except the backups, as on another machine.
    func emptyHome() throws {
        for entry in try listDirectory(home.path) where entry.name != Array("backups".utf8) {
            let path = home.path.appending(name: entry.name)
            if path.nameText.hasPrefix("saved") || path.nameText == "agent.log" { continue }
            try FileManager.default.removeItem(atPath: path.text)
        }
    }

    /// Copies the places and the trash with their times but new inodes, like `rsync -a`.
    func savePlaces(as name: String) throws {
        let saved = home.path.appending("saved-\(name)")
        try Durable.makeDirectory(saved)
        for place in places { try shell(["cp", "-a", path(BytePath(place)).text, saved.text]).check() }
        let trash = home.path.appending(".local/share/Trash")
        if try FileStatus.of(trash) != nil { try shell(["cp", "-a", trash.text, saved.text]).check() }
    }

    func bringPlaces(from name: String) throws {
        let saved = home.path.appending("saved-\(name)")
        try Durable.makeDirectory(path(""))
        for place in places {
            try shell(["cp", "-a", saved.appending(BytePath(place)).text, path("").text]).check()
        }
        try Durable.makeDirectory(home.path.appending(".local/share"))
        let trash = saved.appending("Trash")
        guard try FileStatus.of(trash) != nil else { return }
        try shell(["cp", "-a", trash.text, home.path.appending(".local/share").text]).check()
    }

    /// How often each text is in the notes, as it was dropped: without the backslashes that escape its punctuation.
    func inNotes() throws -> [String: Int] {
        Dictionary(
            try notes().replacing("\\", with: "").split(separator: "\n").filter { $0.hasPrefix("got ") }
                .map { (String($0.dropFirst(4)), 1) },
            uniquingKeysWith: +)
    }

    /// The texts in the dot store, which must be valid.
    func inStore() throws -> [String] {
        let store = home.path.appending(".local/share/steward/captures/captures.sqlite").text
        let query = "PRAGMA integrity_check; SELECT noteText FROM experience ORDER BY noteText;"
        let rows = try shell(["sqlite3", store, query]).check().output.split(separator: "\n").map(String.init)
        guard rows.first == "ok" else { throw TestFailure("the store is damaged: \(rows)") }
        return Array(rows.dropFirst())
    }

    /// All files below a folder of the home, by path, with their hashes; files private to SQLite and the agent are left
    /// out.
    func hashes(below folder: BytePath) throws -> [BytePath: ContentHash] {
        let root = home.path.appending(folder)
        let own: Set<String> = ["lock", "holder", "ledger.backup.sqlite", "last-backup.json", "backup.key"]
        var (found, folders) = ([BytePath: ContentHash](), [BytePath("")])
        while let next = folders.popLast() {
            for entry in try listDirectory(root.appending(next)) {
                let path = next.appending(name: entry.name)
                if entry.isDirectory == true {
                    folders.append(path)
                } else if !own.contains(path.nameText), !path.text.contains(".sqlite") {
                    found[path] = try ContentHash.ofFile(root.appending(path))
                }
            }
        }
        return found
    }
}
