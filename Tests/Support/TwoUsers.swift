import Foundation
import Glibc
import OwnFiles
import Platform

/// Two users of one machine: the victim runs the agent and has files that nobody else may read; the attacker may write
/// to the agent's places. Damage to the victim's files is found by inspecting everything.
package final class TwoUsers: @unchecked Sendable {  // belongs to its test's own task
    package let steward: AgentFixture
    /// Below the victim's home, inaccessible to others; holds a folder for each kind of attack.
    package let closed: BytePath
    private var secrets: [[UInt8]] = []
    private var before: [String: String] = [:]
    private var watching: SwapScript?

    /// World-writable places, besides those that `init` creates.
    package static let out = "out"

    package init(configuration: String = "run: { allow: true }", victim: TestUser = .victim) throws {
        steward = try AgentFixture(configuration: configuration, as: victim)
        closed = steward.home.path.appending("closed")
        try steward.addPlace(Self.out)
        for place in steward.places + [Self.out] {
            try TestUser.victim.own(steward.path(BytePath(place)))
            chmod(steward.path(BytePath(place)).text, 0o777)
        }
        chmod(steward.home.path.text, 0o711)
        try makeClosed("")
    }

    private func makeClosed(_ name: BytePath) throws {
        let folder = name.isEmpty ? closed : closed.appending(name)
        try Durable.makeDirectory(folder)
        try TestUser.victim.own(folder)
        chmod(folder.text, 0o700)
    }

    /// A secret word of the victim that occurs nowhere else.
    package func secret(_ purpose: String) -> String {
        let secret = "SECRET-\(purpose)-\(randomHex(8))"
        secrets.append(Array(secret.utf8))
        return secret
    }

    /// Puts a file that only the victim may read into `closed/FOLDER`; returns that folder.
    @discardableResult
    package func keep(_ name: String, _ bytes: [UInt8], in folder: BytePath) throws -> BytePath {
        try makeClosed(folder)
        let file = try steward.home.write(BytePath("closed").appending(folder).appending(BytePath(name)), bytes)
        try TestUser.victim.own(file)
        chmod(file.text, 0o600)
        return file.parent
    }

    // MARK: The attacker

    /// Runs a shell script as the attacker, in the folder of all places.
    @discardableResult
    package func attack(_ script: String, _ arguments: [String] = []) throws -> String {
        let command = ["/bin/sh", "-euc", "umask 0; cd \"$1\"; shift\n" + script, "sh", steward.path("").text]
        return try steward.shell(TestUser.attacker.command + command + arguments).check().output
    }

    /// Starts `swaps.py` as the attacker; returns when it is at work.
    package func swaps(_ arguments: [String]) throws -> SwapScript {
        try SwapScript(arguments, by: TestUser.attacker.command, in: steward.home)
    }

    // MARK: What became of the victim's files

    /// Records the state of the victim's files, and watches them from now on.
    package func guardVictim() throws {
        before = try state(closed, BytePath(""))
        watching = try SwapScript(["guard", closed.text], in: steward.home)
    }

    /// All damage to the victim's files: what was opened or changed, and where their words appear. Reported once.
    package func damage() throws -> [String] {
        guard let watching else { throw TestFailure("nobody has watched") }
        let events = try watching.finish().split(separator: "\n").dropFirst().map { shown(String($0)) }
        self.watching = nil
        let after = try state(closed, BytePath(""))
        let changes = Set(before.keys).union(after.keys).sorted().filter { before[$0] != after[$0] }.map { name in
            "\(name) was \(before[name] ?? "not there"), and is \(after[name] ?? "gone")"
        }
        return Array(Set(events)).sorted() + changes + (try leaks())
    }

    private func shown(_ text: String) -> String { text.replacingOccurrences(of: closed.text + "/", with: "") }

    /// Other files that contain one of the victim's words: notes, captures, ledger, trash, quarantine, logs, places.
    private func leaks() throws -> [String] {
        try Self.files(steward.home.path, but: closed).flatMap { file -> [String] in
            guard let bytes = try? Descriptor(file).readAll(limit: 1 << 30) else { return [] }
            let data = Data(bytes)
            return secrets.filter { data.range(of: Data($0)) != nil }.map {
                "\(String(decoding: $0, as: UTF8.self)) stands in \(file.relative(to: steward.home.path) ?? file)"
            }
        }
    }

    private static func files(_ folder: BytePath, but closed: BytePath) throws -> [BytePath] {
        try listDirectory(folder).flatMap { entry -> [BytePath] in
            let path = folder.appending(name: entry.name)
            switch try FileStatus.of(path)?.kind {
            case .directory: return path == closed ? [] : try files(path, but: closed)
            case .file: return [path]
            default: return []
            }
        }
    }

    /// Each file and folder with everything that reveals any use except reading: `changed` covers attributes and links
    /// too.
    private func state(_ folder: BytePath, _ name: BytePath) throws -> [String: String] {
        var all: [String: String] = [:]
        guard let status = try FileStatus.of(folder) else { return all }
        let print = status.fingerprint
        all[name.text] =
            "\(status.kind) \(String(status.mode, radix: 8)) of \(status.owner), \(status.links) links, inode "
            + "\(print.inode), \(print.size) bytes, modified \(print.modified), changed \(print.changed)"
        if status.kind == .file { all[name.text]? += ", \(try ContentHash.ofFile(folder))" }
        guard status.kind == .directory else { return all }
        for entry in try listDirectory(folder) {
            all.merge(try state(folder.appending(name: entry.name), name.appending(name: entry.name))) { $1 }
        }
        return all
    }
}
