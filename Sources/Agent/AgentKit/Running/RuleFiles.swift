import OwnFiles
import Platform
import Watching

/// A snapshot of the files in the `rules.d` folders. Temporary names of editors and other programs are ignored, as in a
/// place.
struct RuleFiles: Equatable, Sendable {
    private struct Seen: Equatable, Sendable {
        let fingerprint: Fingerprint
        /// False for a symlink, which is created and changed atomically.
        let isFile: Bool
    }

    private let folders: [BytePath]
    private var seen: [BytePath: Seen] = [:]

    private static let ignore = IgnoreList()

    /// Takes the snapshot. Blocks.
    init(_ folders: [BytePath]) {
        self.folders = folders
        for folder in folders {
            // A missing or unreadable folder has no rules; loading them reports why.
            for entry in (try? listDirectory(folder)) ?? []
            where entry.isDirectory != true && !Self.ignore.ignores(entry.name) {
                let path = folder.appending(name: entry.name)
                guard let status = (try? FileStatus.of(path)) ?? nil else { continue }
                seen[path] = Seen(fingerprint: status.fingerprint, isFile: status.kind == .file)
            }
        }
    }

    /// The files that may be about to change: open for writing, or modified moments ago. Blocks.
    func unfinished(settle: Double, now: Timestamp = .now()) -> [BytePath] {
        seen.filter { path, seen in
            guard seen.isFile else { return false }
            let changed = Timestamp(nanoseconds: max(seen.fingerprint.modified, seen.fingerprint.changed))
            if changed > now.adding(seconds: -settle) { return true }
            // A file that cannot be opened cannot be read either; loading it reports that.
            return (try? Descriptor(path)).map { Lease.probeWriters($0) == .busy } ?? false
        }.keys.sorted()
    }

    /// Waits until all files are whole, by the same test as files of a place (docs/design/events.md, "Settle"):
    /// unchanged for the settle time, and not open for writing. Files missing since `before` are waited for as well: an
    /// editor may be about to replace them.
    static func whole(in folders: [BytePath], after before: RuleFiles, settle: Double) async throws -> RuleFiles {
        let pool = BlockingPool("rules.watch")
        while true {
            let files = await pool.runQuietly { RuleFiles(folders) }
            let settler = Settler(threads: 1)
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
            if await pool.runQuietly({ RuleFiles(folders) }) == files { return files }
        }
    }
}
