import FileActions
import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import Watching

/// `steward doctor`: checks what the machine must offer, with a remedy for each failure.
package struct Examination: Sendable {
    let configuration: Configuration
    let directories: Directories

    package init(configuration: Configuration, directories: Directories) {
        self.configuration = configuration
        self.directories = directories
    }

    /// Runs all checks; writes and removes a few bytes in places and in the state directory.
    package func findings() async throws -> [Finding] {
        var all = [agent()]
        var found: [Finding] = []
        var folders = 0
        var replaced: Set<String> = []
        do {
            replaced = try await answer(within: 600) { try replacedPlaces() } ?? []
        } catch {
            found.append(
                Finding(
                    "ledger", explain(error),
                    remedy: "free some space, or check the permissions of \(directories.state)"))
        }
        for place in configuration.places.map(\.info) {
            // A quick check that the place answers, before its folders are counted.
            guard try await answer(within: 5, { existsAt(place.root) }) != nil else {
                found.append(Self.silent("place \(place.name)", place.root))
                continue
            }
            let looked = try await answer(within: 600) { [replaced] in
                (countFolders(place.root), look(at: place, isReplaced: replaced.contains(place.name)))
            }
            folders += looked?.0 ?? 0
            found +=
                looked?.1 ?? [
                    Finding(
                        "place \(place.name)", "it could not be scanned within ten minutes",
                        remedy: Self.silentRemedy)
                ]
        }
        all += [watches(folders), queue()]
        all += Self.checks.flatMap { $0.look(self) }
        return all + found
    }

    private static let silentRemedy =
        "check whether its disk, server or program is still running; everything else continues without it"

    static func silent(_ subject: String, _ path: BytePath) -> Finding {
        Finding(subject, "no response at \(path)", remedy: silentRemedy)
    }

    static let inUseRemedy =
        "leave the place to that agent, or stop it; the place is taken over within seconds when that one ends"

    private func look(at place: PlaceInfo, isReplaced: Bool) -> [Finding] {
        do {
            let finding = try self.place(place.name, place.root, isReplaced: isReplaced)
            return [finding] + (try denials(place).map { [$0] } ?? [])
        } catch {
            return [
                Finding(
                    "place \(place.name)", explain(error), remedy: "check the folder \(place.root) and who may write it"
                )
            ]
        }
    }

    private func agent() -> Finding {
        if let process = StateLock.holder(of: directories.state) {
            return Finding("agent", "runs as process \(process)")
        }
        return Finding("agent", "is not running; `steward run` starts it")
    }

    private func number(_ path: BytePath) -> Int? {
        guard let bytes = try? Descriptor(path).read(at: 0, count: 32) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// Each folder needs one watch; the user's other programs share the limit.
    private func watches(_ folders: Int) -> Finding {
        // The second one is the container's limit.
        let limits: [BytePath] = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"]
        guard let limit = limits.compactMap(number).min() else {
            return Finding("watches", "the limit cannot be read here")
        }
        if folders * 2 > limit {
            return Finding(
                "watches", "the places have \(folders) folders, and this user may watch \(limit)",
                remedy:
                    "sysctl fs.inotify.max_user_watches=\(max(524_288, folders * 4)), and the same line in /etc/sysctl.d/50-steward.conf"
            )
        }
        return Finding("watches", "\(folders) folders of \(limit) that may be watched")
    }

    private func countFolders(_ root: BytePath) -> Int {
        var count = 0
        var open = [root]
        while let folder = open.popLast(), count < 1_000_000 {
            count += 1
            // Unreadable folders are reported by the check of their place.
            for entry in (try? listDirectory(folder)) ?? [] where entry.isDirectory == true {
                open.append(folder.appending(name: entry.name))
            }
        }
        return count
    }

    private func queue() -> Finding {
        let length = number("/proc/sys/fs/inotify/max_queued_events") ?? 16_384
        return Finding("event queue", "\(length) events; more at once cost a rescan and lose nothing")
    }

    private func existsAt(_ path: BytePath) -> Bool { (try? FileStatus.of(path)) ?? nil != nil }

    /// The places at whose paths another folder was found. Blocks.
    private func replacedPlaces() throws -> Set<String> {
        guard let ledger = try Ledger.openForReading(directory: directories.state) else { return [] }
        let names = configuration.places.map(\.info.name)
        return Set(try ledger.readBlocking { records in try names.filter { try records.place($0)?.other != nil } })
    }

    private func place(_ name: String, _ root: BytePath, isReplaced: Bool) throws -> Finding {
        guard existsAt(root) else {
            return Finding(
                "place \(name)", "\(root) does not exist",
                remedy: "create it, or mount it; the agent waits for it")
        }
        if isReplaced {
            return Finding(
                "place \(name)", "the folder at \(root) is a different one and lacks the known files",
                remedy: "mount the original or put it back; if the change is intended: steward rebuild --accept \(name)"
            )
        }
        // A running agent of this state directory reports on its own that another agent is using the place.
        if StateLock.holder(of: directories.state) == nil, let folder = try FolderIdentity.open(root),
            let holder = try PlaceLock.holder(in: Folder(folder))
        {
            return Finding("place \(name)", "\(root) is in use by \(holder)", remedy: Self.inUseRemedy)
        }
        if let finding = try FolderProbe(root).finding("place \(name)") { return finding }
        let disk = space(root, "place \(name)")
        guard disk.isWell else { return disk }
        let trash =
            try TrashCan(home: directories.trash).mustCopy(
                from: Folder(Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true)))
            ? "; files trashed there are copied to the home trash, because this file system has no trash for this user"
            : ""
        return Finding("place \(name)", "\(root), writable, leases granted\(trash)")
    }

    /// The files of the place that this user may not read; nil if there are none.
    private func denials(_ place: PlaceInfo) throws -> Finding? {
        let root = WatchRoot(name: place.name, path: place.root, excluded: configuration.map.nested(in: place))
        var found: [BytePath] = []
        let report = try Scanner.walk(root: root, ignoring: IgnoreList(extra: configuration.ignore)) { path, _ in
            if !ReadAccess.isGranted(place.root.appending(path)) { found.append(path) }
        }
        found += report.unreadable.filter { ReadAccess.isDenial($0.fault.errno) }.map(\.path)
        guard !found.isEmpty else { return nil }
        // Rules determine which names are hidden; of hidden files only the number is shown.
        let rules = RuleSet(try AgentCore.forPlanning(configuration, directories).loadRules().rules)
        let open = found.filter { !rules.hidesName(place: place.name, name: $0.name) }
        var told = open.sorted().prefix(3).map(\.description)
        if open.count > 3 { told.append("\(open.count - 3) more") }
        let hidden = found.count - open.count
        if hidden > 0 { told.append(hidden == 1 ? "a hidden comic" : "\(hidden) hidden comics") }
        return Finding(
            "place \(place.name)", "this user may not read \(told.joined(separator: ", "))",
            remedy: "grant the agent's user access; unreadable files are skipped until then")
    }
}
