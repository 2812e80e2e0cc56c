import OwnFiles
import Platform
import Watching

/// The files in the `rules.d` folders at some moment. Names that programs use while they work are passed over, as in a place.
struct RuleFiles: Equatable, Sendable {
    private struct Seen: Equatable, Sendable {
        let fingerprint: Fingerprint
        /// A link, to a file elsewhere or to nothing, is made and changed in one step.
        let isFile: Bool
    }

    private let folders: [BytePath]
    private var seen: [BytePath: Seen] = [:]

    private static let ignore = IgnoreList()

    /// Looks at them. Blocks.
    init(_ folders: [BytePath]) {
        self.folders = folders
        for folder in folders {
            // A folder that is missing or cannot be read holds no rules; loading them says why.
            for entry in (try? listDirectory(folder)) ?? []
            where entry.isDirectory != true && !Self.ignore.ignores(entry.name) {
                let path = folder.appending(name: entry.name)
                guard let status = (try? FileStatus.of(path)) ?? nil else { continue }
                seen[path] = Seen(fingerprint: status.fingerprint, isFile: status.kind == .file)
            }
        }
    }

    /// Those that may be about to change: somebody has them open for writing, or they have just been written. Blocks.
    func unfinished(settle: Double, now: Timestamp = .now()) -> [BytePath] {
        seen.filter { path, seen in
            guard seen.isFile else { return false }
            let changed = Timestamp(nanoseconds: max(seen.fingerprint.modified, seen.fingerprint.changed))
            if changed > now.adding(seconds: -settle) { return true }
            // One that cannot be opened cannot be read either, which loading it says.
            return (try? Descriptor(path)).map { Lease.probeWriters($0) == .busy } ?? false
        }.keys.sorted()
    }

    /// Waits until all are whole, by the test by which a place's files are (docs/design/events.md, "Settle"): they have stood
    /// still for the settle time, and nobody has them open for writing. So do those that are gone since `before`: an editor
    /// may be about to put another in their place.
    static func whole(in folders: [BytePath], after before: RuleFiles, settle: Double) async throws -> RuleFiles {
        let lane = BlockingPool("rules.watch")
        while true {
            let files = await lane.runQuietly { RuleFiles(folders) }
            let settler = Settler(lanes: 1)
            let present = files.seen.filter { $0.value.isFile }.keys
            let waited = Array(present) + before.seen.keys.filter { files.seen[$0] == nil }
            for path in waited {
                await settler.add(
                    root: WatchRoot(name: path.parent.description, path: path.parent), path: BytePath(bytes: path.name),
                    settle: settle, alreadyStill: true)
            }
            while await !settler.isIdle {
                _ = await settler.next()
                try Task.checkCancellation()
                await settler.acknowledge()
            }
            if await lane.runQuietly({ RuleFiles(folders) }) == files { return files }
        }
    }
}
