import FileActions
import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import SQLiteFile
import Watching

/// `steward doctor`: what the machine must offer, and what to do where it does not.
package struct Examination: Sendable {
    package struct Finding: Codable, Sendable {
        package let subject: String
        package let isWell: Bool
        package let message: String
        package let remedy: String?

        /// For a terminal.
        package var lines: [String] {
            ["\(isWell ? "ok  " : "!   ") \(subject): \(message)"] + (remedy.map { ["     \($0)"] } ?? [])
        }
    }

    private let configuration: Configuration
    private let directories: Directories

    package init(configuration: Configuration, directories: Directories) {
        self.configuration = configuration
        self.directories = directories
    }

    /// Looks at everything; writes and removes a few bytes in places and in the state directory.
    package func findings() async throws -> [Finding] {
        var all = [agent()]
        var found: [Finding] = []
        var folders = 0
        for place in configuration.places.map(\.info) {
            // Whether it answers at all is soon known; how many folders it has is not.
            guard try await answer(within: 5, { existsAt(place.root) }) != nil else {
                found.append(
                    bad(
                        "place \(place.name)", "nothing answers at \(place.root)",
                        "see whether its disk, server or program still runs; everything else goes on without it"))
                continue
            }
            let looked = try await answer(within: 600) { (countFolders(place.root), look(at: place)) }
            folders += looked?.0 ?? 0
            found +=
                looked?.1 ?? [
                    bad(
                        "place \(place.name)", "it could not be looked through within ten minutes",
                        "see whether its disk, server or program still runs; everything else goes on without it")
                ]
        }
        let clock = await clock()
        all +=
            [watches(folders), queue(), space(directories.state, "state directory"), clock, secrets()]
            + losses()
        return all + found
    }

    static let inUseRemedy =
        "leave the place to that agent, or stop it; it is taken over within seconds when that one ends"

    private func look(at place: PlaceInfo) -> [Finding] {
        do {
            let finding = try self.place(place.name, place.root)
            return [finding] + (try denials(place).map { [$0] } ?? [])
        } catch {
            return [bad("place \(place.name)", explain(error), "check the folder \(place.root) and who may write it")]
        }
    }

    private func good(_ subject: String, _ message: String) -> Finding {
        Finding(subject: subject, isWell: true, message: message, remedy: nil)
    }

    private func bad(_ subject: String, _ message: String, _ remedy: String) -> Finding {
        Finding(subject: subject, isWell: false, message: message, remedy: remedy)
    }

    private func agent() -> Finding {
        if let process = StateLock.holder(of: directories.state) { return good("agent", "runs as process \(process)") }
        return good("agent", "does not run; `steward run` starts it")
    }

    private func number(_ path: BytePath) -> Int? {
        guard let bytes = try? Descriptor(path).read(at: 0, count: 32) else { return nil }
        return Int(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// One watch a folder; other programs of the user take from the same number.
    private func watches(_ folders: Int) -> Finding {
        guard let limit = number("/proc/sys/fs/inotify/max_user_watches") else {
            return good("watches", "the limit cannot be read here")
        }
        if folders * 2 > limit {
            return bad(
                "watches", "the places have \(folders) folders, and this user may watch \(limit)",
                "sysctl fs.inotify.max_user_watches=\(max(524_288, folders * 4)), and the same line in /etc/sysctl.d/50-steward.conf"
            )
        }
        return good("watches", "\(folders) folders of \(limit) that may be watched")
    }

    private func countFolders(_ root: BytePath) -> Int {
        var count = 0
        var open = [root]
        while let folder = open.popLast(), count < 1_000_000 {
            count += 1
            // What cannot be read is counted by the look at its place.
            for entry in (try? listDirectory(folder)) ?? [] where entry.isDirectory == true {
                open.append(folder.appending(name: entry.name))
            }
        }
        return count
    }

    private func queue() -> Finding {
        let length = number("/proc/sys/fs/inotify/max_queued_events") ?? 16_384
        return good("event queue", "\(length) events; more at once cost a rescan and lose nothing")
    }

    private func space(_ path: BytePath, _ subject: String) -> Finding {
        var existing = path
        while !existing.isEmpty, !existsAt(existing) { existing = existing.parent }
        var found = statvfs()
        guard existing.withCString({ statvfs($0, &found) }) == 0 else {
            return bad(subject, "\(path) cannot be looked at", "check who may read it")
        }
        let free = Int64(found.f_bavail) * Int64(found.f_frsize)
        if free < 64 << 20 {
            return bad(
                subject, "\(free >> 20) MiB are free for \(path)", "free some space: work waits while the disk is full")
        }
        return good(subject, "\(path), \(free >> 20) MiB free")
    }

    private func existsAt(_ path: BytePath) -> Bool { (try? FileStatus.of(path)) ?? nil != nil }

    private func clock() async -> Finding {
        let now = Timestamp.now()
        let year = configuration.timeZone.local(at: now).civil.date.year
        if year < 2025 {
            return bad("clock", "it says \(year)", "set the clock: days of notes and times in anchors come from it")
        }
        let shown = "\(now), zone \(configuration.timeZone.identifier)"
        do {
            return try await compared(now) ?? good("clock", shown)
        } catch {
            return good("clock", "\(shown); it could not be compared with the ledger: \(explain(error))")
        }
    }

    /// What is wrong with the clock by what the ledger holds; nil for nothing.
    private func compared(_ now: Timestamp) async throws -> Finding? {
        guard let ledger = try Ledger.openForReading(directory: directories.state) else { return nil }
        let (newest, kept) = try await ledger.read { (try $0.newestEntry(), try $0.keptTime()) }
        guard let newest, var seen = kept else { return nil }
        let both = "it says \(now), and the newest entry of the ledger is of \(newest)"
        if newest.seconds - now.seconds > 3_600 {
            return bad(
                "clock", "\(both): it is behind, or was ahead then",
                "set the clock; if it is right now, nothing is to be done")
        }
        seen.look(now, elapsed: 0)
        return seen.held.map {
            bad(
                "clock", "\(both); \($0.message)",
                "if the machine was off meanwhile, nothing is to be done; else set the clock")
        }
    }

    private func losses() -> [Finding] {
        do {
            let standing = try directories.losses.standing()
            if standing.isEmpty { return [good("databases", "none was lost")] }
            return standing.map {
                bad(
                    "database \($0.database.nameText)", "\($0.time): \($0.message)",
                    "steward losses acknowledge \($0.id), once you have dealt with it")
            }
        } catch {
            return [good("databases", "whether one was lost cannot be seen with your rights: \(explain(error))")]
        }
    }

    private func secrets() -> Finding {
        guard let status = try? FileStatus.of(directories.configuration) else {
            return good("configuration", "\(directories.configuration)")
        }
        if status.mode & 0o022 != 0 {
            return bad(
                "configuration", "\(directories.configuration) can be changed by others",
                "chmod go-w \(directories.configuration): who writes it decides what runs")
        }
        return good("configuration", "\(directories.configuration)")
    }

    private func place(_ name: String, _ root: BytePath) throws -> Finding {
        guard existsAt(root) else {
            return bad(
                "place \(name)", "\(root) is not there", "make it, or mount it; the agent waits for it meanwhile")
        }
        if try Ledger.openForReading(directory: directories.state)?.readBlocking({ try $0.place(name) })?.other != nil {
            return bad(
                "place \(name)", "another folder stands at \(root), without the files that are known from there",
                "mount it or put it back; if it is meant to be another: steward rebuild --accept \(name)")
        }
        // Where an agent of this state directory runs, it says by itself whether the place is another's.
        if StateLock.holder(of: directories.state) == nil, let folder = try FolderIdentity.open(root),
            let holder = try PlaceLock.holder(in: Folder(folder))
        {
            return bad("place \(name)", "\(root) is in use by \(holder)", Self.inUseRemedy)
        }
        if let finding = try FolderProbe(root).finding("place \(name)") { return finding }
        let disk = space(root, "place \(name)")
        guard disk.isWell else { return disk }
        let trash =
            try TrashCan(home: directories.trash).mustCopy(
                from: Folder(Descriptor(root, O_RDONLY | O_DIRECTORY, follow: true)))
            ? "; what is trashed there is copied into the home trash, as its file system has none for this user" : ""
        return good("place \(name)", "\(root), writable, leases granted\(trash)")
    }

    /// What in the place this user may not read; nil where that is nothing.
    private func denials(_ place: PlaceInfo) throws -> Finding? {
        let root = WatchRoot(name: place.name, path: place.root, excluded: configuration.map.nested(in: place))
        var found: [BytePath] = []
        let report = try Scanner.walk(root: root, ignoring: IgnoreList(extra: configuration.ignore)) { path, _ in
            if !ReadAccess.isGranted(place.root.appending(path)) { found.append(path) }
        }
        found += report.unreadable.filter { ReadAccess.isDenial($0.fault.errno) }.map(\.path)
        guard !found.isEmpty else { return nil }
        // Which names are hidden the rules say; of those there are no more than a number here.
        let rules = RuleSet(try AgentCore.forPlanning(configuration, directories).loadRules().rules)
        let open = found.filter { !rules.hidesName(place: place.name, name: $0.name) }
        var told = open.sorted().prefix(3).map(\.description)
        if open.count > 3 { told.append("\(open.count - 3) more") }
        let hidden = found.count - open.count
        if hidden > 0 { told.append(hidden == 1 ? "a hidden comic" : "\(hidden) hidden comics") }
        return bad(
            "place \(place.name)", "this user may not read \(told.joined(separator: ", "))",
            "grant the agent's user access; what may not be read is passed over until then")
    }
}
