import Glibc
import Platform

/// Waits until folders are settled as a whole: nothing in the tree has changed for the settle time, no file in it is
/// open for writing, and no download is still going to fill one (docs/design/folders.md).
///
/// Events only say where to look; nothing runs while nothing is pending. A folder that waits for another process is
/// parked, without a timer, until something happens in it (``touch(_:)``) or its reason is over (``wake(_:)``).
package actor FolderSettler {
    /// How many seconds a folder must be unchanged; nil if no rule wants it. Blocks.
    package typealias Wants = @Sendable (_ path: BytePath, _ status: FileStatus) -> Double?
    /// Handles a folder that has settled or is gone.
    package typealias Handler = @Sendable (_ path: BytePath, _ isMovedIn: Bool) async -> Answer

    package enum Answer: Sendable {
        case done
        /// Start waiting again.
        case again
        /// Park it.
        case later(Unsettled.Reason)
    }

    private struct Entry {
        /// Incremented by each event in the folder.
        var turn = 0
        var settle: Double
        var waitingFor = Unsettled.Reason.quiet
        var isAside = false
        var isMovedIn = false
    }

    /// The result of one look. ``FolderContents/digest`` shows whether the contents changed.
    private enum Finding: Sendable {
        case gone, unwanted, unknown
        /// Part of it is unreadable.
        case closed
        case still
        case moving(ContentHash, settle: Double, left: Double)
        case busy(Unsettled.Reason, ContentHash)
    }

    private let root: WatchRoot
    private let pool = BlockingPool("settle.folders", threads: 2, perBulkhead: true)
    private let wants: Wants
    private let handle: Handler
    private var entries: [BytePath: Entry] = [:]
    private var tasks: [BytePath: Task<Void, Never>] = [:]

    private static let longestWait = 30.0
    /// The wait before its rules are known.
    private static let firstWait = 0.2

    /// - Parameters:
    ///   - wants: called at each look.
    ///   - handle: called once each time a folder settles.
    package init(_ root: WatchRoot, wants: @escaping Wants, handle: @escaping Handler) {
        (self.root, self.wants, self.handle) = (root, wants, handle)
    }

    /// Reports events in these folders; paths are relative to the root.
    ///
    /// - Parameter isMovedIn: whether a folder came from outside the root, by itself or inside a folder that did.
    package func touch(
        _ paths: some Sequence<BytePath> & Sendable, isMovedIn: @Sendable (BytePath) -> Bool = { _ in false }
    ) {
        for path in paths where !path.isEmpty {
            look(at: path)
            if isMovedIn(path) { entries[path]?.isMovedIn = true }
        }
    }

    /// A folder was renamed within the root: its state and that of its subfolders move along.
    package func rename(_ old: BytePath, to new: BytePath) {
        for (path, entry) in entries where entry.isMovedIn {
            guard let below = path == old ? "" : path.relative(to: old) else { continue }
            entries[path]?.isMovedIn = false
            touch([new.appending(below)]) { _ in true }
        }
    }

    /// The reason for which these folders may be parked is over; folders that are not parked are left alone.
    package func wake(_ paths: some Sequence<BytePath> & Sendable) {
        for path in paths where entries[path] != nil { look(at: path) }
    }

    private func look(at path: BytePath) {
        entries[path, default: Entry(settle: Self.firstWait)].turn += 1
        entries[path]?.isAside = false
        guard tasks[path] == nil else { return }
        tasks[path] = Task { [name = root.name] in
            await Bulkhead.$current.withValue(.place(name)) { await self.settle(path) }
        }
    }

    /// Whether every folder still waiting is parked.
    package var isIdle: Bool { entries.values.allSatisfy(\.isAside) }

    /// Folders that have not settled or are parked, in no order.
    package func pending() -> [Unsettled] {
        entries.map { Unsettled(root: root.name, path: $0.key, waitingFor: $0.value.waitingFor) }
    }

    package func stop() {
        for task in tasks.values { task.cancel() }
        (tasks, entries) = ([:], [:])
    }

    private func settle(_ path: BytePath) async {
        var seen: ContentHash?
        var backoff = 0.0
        while !Task.isCancelled, let entry = entries[path] {
            let finding = await look(path, seen, entry.settle)
            guard !Task.isCancelled, let now = entries[path] else { return }
            let wait: Double
            switch finding {
            case .unwanted:
                if now.turn == entry.turn { return end(path) }
                wait = 0
            case .gone, .still:
                if now.turn == entry.turn {
                    let answer = await handle(path, now.isMovedIn)
                    if entries[path]?.turn == entry.turn {
                        switch answer {
                        case .done: return end(path)
                        case .later(let reason): return putAside(path, reason)
                        case .again: break
                        }
                    }
                    backoff = min(Self.longestWait, max(0.2, backoff * 2))
                    wait = backoff
                } else {
                    // There were events since the look: look again.
                    wait = entry.settle
                }
            // It may never end; if it does, that raises an event in the folder.
            case .busy(.download, _) where now.turn == entry.turn: return putAside(path, .download)
            case .closed:
                if now.turn == entry.turn { return putAside(path, .readable) }
                wait = 0
            case .moving(let digest, let settle, let left):
                (seen, wait) = (digest, left)
                entries[path]?.settle = settle
                entries[path]?.waitingFor = .quiet
            case .busy(let reason, let digest):
                seen = digest
                entries[path]?.waitingFor = reason
                backoff = min(Self.longestWait, max(0.1, backoff * 2))
                wait = backoff
            case .unknown:
                entries[path]?.waitingFor = .readable
                backoff = min(Self.longestWait, max(1, backoff * 2))
                wait = backoff
            }
            // Cancellation only ends the wait early.
            try? await Task.sleep(for: .milliseconds(Int(wait * 1_000)))
        }
    }

    private func end(_ path: BytePath) {
        entries[path] = nil
        tasks[path] = nil
    }

    private func putAside(_ path: BytePath, _ reason: Unsettled.Reason) {
        entries[path]?.waitingFor = reason
        entries[path]?.isAside = true
        tasks[path] = nil
    }

    private func look(_ path: BytePath, _ seen: ContentHash?, _ settle: Double) async -> Finding {
        let (root, wants) = (root, wants)
        do {
            return try await pool.run { Self.look(path, seen, below: root.path, wants) }
        } catch {
            // Earlier looks at this place have not returned.
            return .unknown
        }
    }

    /// Runs on a thread of the pool.
    private static func look(_ path: BytePath, _ seen: ContentHash?, below top: BytePath, _ wants: Wants) -> Finding {
        let (roots, absolute) = (OpenRoots(), top.appending(path))
        do {
            guard let status = try roots.files(below: top).status(absolute), status.kind == .directory else {
                return .gone
            }
            guard let settle = wants(path, status) else { return .unwanted }
            let contents = try FolderContents(roots.files(below: top).folder(absolute))
            let digest = contents.digest
            // Contents that are old enough need not be watched for the whole settle time again.
            let age = Double(Timestamp.now().nanoseconds - contents.lastChange) / 1e9
            guard seen == digest || age >= settle else {
                // A time in the future proves nothing.
                return .moving(digest, settle: settle, left: age < 0 ? settle : max(0.02, settle - age))
            }
            if let reason = atWork(contents, in: absolute, top, roots) { return .busy(reason, digest) }
            return .still
        } catch let fault as Fault where fault.errno == ENOENT || fault.code == Fault.link {
            return .gone
        } catch let fault as Fault where fault.code == FolderContents.tooMuch {
            // Done with it for now; an event in it starts over.
            return .still
        } catch let fault as Fault where fault.kind != .transient {
            return .closed
        } catch {
            return .unknown
        }
    }

    /// Why a folder that seems still must be waited for; nil if it need not be.
    private static func atWork(
        _ contents: FolderContents, in folder: BytePath, _ top: BytePath, _ roots: OpenRoots
    ) -> Unsettled.Reason? {
        if contents.files.contains(where: { PartialDownload.isPartial($0.path.name) }) { return .download }
        var files = roots.files(below: top)
        var last: BytePath?
        for file in contents.files {
            // Close each folder as we leave it: there may be more than the open-file limit.
            if last != file.path.parent { (files, last) = (roots.files(below: top), file.path.parent) }
            switch FileProbe.writers(folder.appending(file.path), file.fingerprint, files) {
            case .none: continue
            case .busy, .changed: return .writer
            }
        }
        return nil
    }
}
