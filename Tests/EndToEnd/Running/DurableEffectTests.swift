import Foundation
import Glibc
import OwnFiles
import Platform
import TestSupport
import Testing

/// What is on the disk before a receipt says so, as the kernel sees it: `strace` of one job of each action.
///
/// A test cannot cut the power, but missing sync calls show what would be lost. Each thread of the agent syncs its own
/// writes before it does anything else.
@Suite("Durability of effects, by system calls")
struct DurableEffectTests {
    @Test(
        "Content is synced before it gets its name, a name before the next step, and so is the ledger",
        .enabled(if: geteuid() == 0, "an agent with a vault lets no user look at its open files"))
    func each() async throws {
        let steward = try AgentFixture(configuration: AttackedAction.configuration)
        let folder = steward.home.path.appending("calls")
        try Durable.makeDirectory(folder)
        guard Editor.has("strace"), try steward.shell(["strace", "-o", "/dev/null", "true"]).status == 0 else {
            try Test.cancel("strace is not here, or not permitted")
        }
        try steward.addPlace("out")
        // A program's own calls do not count.
        let actions = AttackedAction.all.filter { !["run", "convert"].contains($0.name) }
        for action in actions {
            try steward.rule("50-\(action.name).yaml", action.rule(settle: "100ms"))
            try steward.folder(BytePath("dropbox/\(action.name)/x"))
        }
        try steward.drop("notes/shared/inbox.md", "Mine.\n")
        try await steward.start(wrapper: SystemCalls.wrapper(folder, Syncs.traced))
        try steward.wait()
        for action in actions {
            let file = BytePath("dropbox/\(action.name)/x/\(action.file)")
            try steward.moveIn(file, try action.content("A file for \(action)."))
            // One after the other, so that findings belong to that action.
            try steward.wait()
            let states = try steward.past(file).map { $0["state"].text }
            #expect(states == [action.outcome], "\(action)")
        }
        // For a database the number counts: each commit is synced, not only the last.
        for number in 1...5 {
            try steward.drop(BytePath("dropbox/index-capture/x/\(number).md"), "Capture \(number).")
            try steward.wait()
        }
        try await steward.stop()

        let home = steward.home.path
        let roots = ["Steward", ".local/share", ".local/state/steward/quarantine"].map { home.appending($0) }
        let syncs = Syncs(try SystemCalls(folder), below: roots)
        #expect(syncs.offences.isEmpty, "\(syncs.offences.joined(separator: "\n"))")
        let captures = home.appending(".local/share/steward/captures/captures.sqlite-wal").text
        #expect(syncs.count[captures, default: 0] >= 5, "\(syncs.count)")
        for path: BytePath in ["notes/shared/inbox.md", "out/moved", "out/copied", "out/written", "out/comics"] {
            #expect(syncs.count[steward.path(path).text, default: 0] > 0, "the trace shows that \(path) was synced")
        }
    }

    @Test("Before a file is touched, everything written to the ledger is synced")
    func ledgerFirst() async throws {
        let steward = try AgentFixture()
        try steward.giveUpVaults()
        let folder = steward.home.path.appending("calls")
        try Durable.makeDirectory(folder)
        guard Editor.has("strace"), try steward.shell(["strace", "-o", "/dev/null", "true"]).status == 0 else {
            try Test.cancel("strace is not here, or not permitted")
        }
        try steward.rule(
            "10-test.yaml",
            "- rule: Away\n  in: dropbox\n  settle: 100ms\n  where: { extension: txt }\n  do: [trash]\n")
        try await steward.start(wrapper: SystemCalls.wrapper(folder, Syncs.traced))
        try steward.wait()
        for number in 1...5 {
            try steward.drop(BytePath("dropbox/\(number).txt"), "File \(number).")
            // One after the other, so that the log is about this file.
            try steward.wait()
            try steward.drop(BytePath("dropbox/\(number).none"), "No rule wants \(number).")
            try steward.wait()
        }
        try await steward.stop()

        let log = steward.home.path.appending(".local/state/steward/ledger.sqlite-wal").text
        let dropbox = steward.path("dropbox").text
        var (isSynced, moved, syncs) = (true, 0, 0)
        for call in try SystemCalls(folder).calls where call.line.contains(") = ") {
            switch call.name {
            case "pwrite64" where call.line.contains("<\(log)>"):
                isSynced = false
            case "fdatasync" where call.line.contains("<\(log)>"):
                isSynced = true
                syncs += 1
            case "renameat2" where call.line.contains("<\(dropbox)>"):
                #expect(isSynced, "moved before the ledger was on the disk: \(call.line)")
                moved += 1
            default: continue
            }
        }
        #expect(moved == 5)
        #expect(syncs >= 10, "an intent and a receipt for each")
    }
}

/// What each thread has written, named and synced.
private struct Syncs {
    static let traced =
        "openat,openat2,linkat,renameat,renameat2,write,pwrite64,pwritev,pwritev2,copy_file_range,sendfile,ftruncate,"
        + "ioctl,fsetxattr,fsync,fdatasync"

    /// How often each file and folder was synced.
    private(set) var count: [String: Int] = [:]
    private(set) var offences: [String] = []

    private let roots: [String]

    init(_ calls: SystemCalls, below roots: [BytePath]) {
        self.roots = roots.map { $0.text + "/" }
        for own in Dictionary(grouping: calls.calls, by: \.thread).values { follow(own) }
    }

    private mutating func follow(_ calls: [SystemCalls.Call]) {
        // What this thread has yet to sync, with the call that made it necessary.
        var contents: [String: Substring] = [:]
        var names: [String: Substring] = [:]
        // For a file without a name, by the name it gets later.
        var nameless: [String: String] = [:]
        for call in calls where call.line.contains(") = ") && !call.line.contains(" = -1 ") {
            switch call.name {
            case "fsync", "fdatasync":
                guard let path = Self.described(call, 0) else { continue }
                count[path, default: 0] += 1
                contents[path] = nil
                names[path] = nil
            case "linkat":
                guard
                    let number = Self.named(call, 0).flatMap(Self.number),
                    let target = Self.path(call, 2),
                    let opened = calls.last(where: { $0.time < call.time && Self.result($0) == number })?.opened
                else { continue }
                nameless[target] = String(opened.prefix { $0 != ">" })
            case "renameat", "renameat2":
                guard let from = Self.path(call, 0), let to = Self.path(call, 2) else { continue }
                let source = nameless.removeValue(forKey: from) ?? from
                if let writing = contents[source] { offences.append("not synced: \(writing)\nand named: \(call.line)") }
                for change in names.values {
                    offences.append("not synced: \(change)\nand gone on to: \(call.line)")
                }
                if isPeoples(to) { for path in [from, to] { names[Self.parent(path)] = call.line } }
                nameless[to] = source
            default:
                guard let path = Self.described(call, call.name == "copy_file_range" ? 2 : 0), isPeoples(path) else {
                    continue
                }
                if call.name.hasPrefix("openat") || call.name == "ioctl" && !call.line.contains("FICLONE") { continue }
                contents[path] = call.line
            }
        }
        offences += contents.values.map { "never synced: \($0)" } + names.values.map { "never synced: \($0)" }
    }

    /// Files of places, the trash, quarantine and the captures. Databases are counted separately. A place's lock is not
    /// an effect: after a power cut nobody holds it.
    private func isPeoples(_ path: String) -> Bool {
        roots.contains { path.hasPrefix($0) } && !path.contains(".sqlite") && !path.hasSuffix("/.steward-lock")
    }

    private static func parent(_ path: String) -> String { BytePath(path).parent.text }

    /// The path of a descriptor: `7</a/b>`, `7</a/#12>(deleted)`.
    private static func described(_ call: SystemCalls.Call, _ index: Int) -> String? {
        guard call.arguments.indices.contains(index), let open = call.arguments[index].firstIndex(of: "<") else {
            return nil
        }
        return String(call.arguments[index][call.arguments[index].index(after: open)...].prefix { $0 != ">" })
    }

    private static func named(_ call: SystemCalls.Call, _ folder: Int) -> Substring? {
        guard call.arguments.indices.contains(folder + 1) else { return nil }
        return call.arguments[folder + 1].drop { $0 == "\"" }.prefix { $0 != "\"" }
    }

    /// The path of a name in an open folder.
    private static func path(_ call: SystemCalls.Call, _ folder: Int) -> String? {
        guard let name = named(call, folder) else { return nil }
        if name.hasPrefix("/") { return String(name) }
        return described(call, folder).map { "\($0)/\(name)" }
    }

    /// The descriptor number in `/proc/self/fd/7`.
    private static func number(_ path: Substring) -> Substring? {
        path.hasPrefix("/proc/self/fd/") ? path.dropFirst("/proc/self/fd/".count) : nil
    }

    /// The descriptor that a call returned.
    private static func result(_ call: SystemCalls.Call) -> Substring? {
        guard let end = call.line.range(of: ") = ", options: .backwards), call.opened != nil else { return nil }
        return call.line[end.upperBound...].prefix { $0 != "<" }
    }
}
