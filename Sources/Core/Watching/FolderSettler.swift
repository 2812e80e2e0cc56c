import Glibc
import Platform

/// Waits until folders stand still as wholes: nothing in them, all the way down, has changed for their settle time, nobody
/// has a file in them open for writing, and no download is to fill one (docs/design/folders.md).
///
/// Events say only where to look; nothing runs while nothing is pending. What only somebody else can end is put aside until
/// something happens there (``touch(_:)``), or is over (``wake(_:)``), and no one waits for it.
package actor FolderSettler {
    /// Says for how many seconds a folder must stand still; nil where nobody wants it. It blocks.
    package typealias Wants = @Sendable (_ path: BytePath, _ status: FileStatus) -> Double?
    /// Deals with a folder that stands still, or is gone.
    package typealias Handler = @Sendable (_ path: BytePath, _ isMovedIn: Bool) async -> Answer

    package enum Answer: Sendable {
        case done
        /// It is to be waited for once more.
        case again
        /// It is to be put aside.
        case later(Unsettled.Reason)
    }

    private struct Entry {
        /// Goes up with each event in the folder.
        var turn = 0
        var settle: Double
        var waitingFor = Unsettled.Reason.quiet
        var isAside = false
        var isMovedIn = false
    }

    /// One look. What lay in it is told apart by ``FolderContents/digest``.
    private enum Finding: Sendable {
        case gone, unwanted, unknown
        /// A part of it cannot be read.
        case closed
        case still
        case moving(ContentHash, settle: Double, left: Double)
        case busy(Unsettled.Reason, ContentHash)
    }

    private let root: WatchRoot
    private let lanes = BlockingPool("settle.folders", threads: 2, perBulkhead: true)
    private let wants: Wants
    private let handle: Handler
    private var entries: [BytePath: Entry] = [:]
    private var tasks: [BytePath: Task<Void, Never>] = [:]

    private static let longestWait = 30.0
    /// Before its rules are known.
    private static let firstWait = 0.2

    /// - Parameters:
    ///   - wants: asked at each look.
    ///   - handle: called once for each time that a folder has come to stand still.
    package init(_ root: WatchRoot, wants: @escaping Wants, handle: @escaping Handler) {
        (self.root, self.wants, self.handle) = (root, wants, handle)
    }

    /// Something has happened in these folders; paths relative to the root.
    ///
    /// - Parameter isMovedIn: which of them have come from outside the root, or with a folder that has.
    package func touch(
        _ paths: some Sequence<BytePath> & Sendable, isMovedIn: @Sendable (BytePath) -> Bool = { _ in false }
    ) {
        for path in paths where !path.isEmpty {
            look(at: path)
            if isMovedIn(path) { entries[path]?.isMovedIn = true }
        }
    }

    /// A folder of the root has got another name in it: what is known of it, and of those in it, goes with it.
    package func rename(_ old: BytePath, to new: BytePath) {
        for (path, entry) in entries where entry.isMovedIn {
            guard let below = path == old ? "" : path.relative(to: old) else { continue }
            entries[path]?.isMovedIn = false
            touch([new.appending(below)]) { _ in true }
        }
    }

    /// What these folders may have been put aside for is over; others are left alone.
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

    /// Whether no folder is waited for but those that were put aside.
    package var isIdle: Bool { entries.values.allSatisfy(\.isAside) }

    /// What is not settled yet, or was put aside, in no order.
    package func pending() -> [Unsettled] {
        entries.map { Unsettled(root: root.name, path: $0.key, waitingFor: $0.value.waitingFor) }
    }

    package func stop() {
        for task in tasks.values { task.cancel() }
        (tasks, entries) = ([:], [:])
    }

    private func settle(_ path: BytePath) async {
        var seen: ContentHash?
        var patience = 0.0
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
                    patience = min(Self.longestWait, max(0.2, patience * 2))
                    wait = patience
                } else {
                    // What has happened since the look is looked at once more.
                    wait = entry.settle
                }
            // Nobody knows whether it ever ends; where it does, something happens in the folder.
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
                patience = min(Self.longestWait, max(0.1, patience * 2))
                wait = patience
            case .unknown:
                entries[path]?.waitingFor = .readable
                patience = min(Self.longestWait, max(1, patience * 2))
                wait = patience
            }
            // Cancelling it is how everything ends.
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
            return try await lanes.run { Self.look(path, seen, below: root.path, wants) }
        } catch {
            // The place's earlier looks have not returned.
            return .unknown
        }
    }

    /// Runs on a lane.
    private static func look(_ path: BytePath, _ seen: ContentHash?, below top: BytePath, _ wants: Wants) -> Finding {
        let (roots, absolute) = (OpenRoots(), top.appending(path))
        do {
            guard let status = try roots.files(below: top).status(absolute), status.kind == .directory else {
                return .gone
            }
            guard let settle = wants(path, status) else { return .unwanted }
            let contents = try FolderContents(roots.files(below: top).folder(absolute))
            let digest = contents.digest
            // Nothing of that age has to be watched for so long again.
            let age = Double(Timestamp.now().nanoseconds - contents.lastChange) / 1e9
            guard seen == digest || age >= settle else {
                // A time that is yet to come says nothing.
                return .moving(digest, settle: settle, left: age < 0 ? settle : max(0.02, settle - age))
            }
            if let reason = atWork(contents, in: absolute, top, roots) { return .busy(reason, digest) }
            return .still
        } catch let fault as Fault where fault.errno == ENOENT || fault.code == Fault.link {
            return .gone
        } catch let fault as Fault where fault.code == FolderContents.tooMuch {
            // What is known of it is dealt with; it is asked again when something happens in it.
            return .still
        } catch let fault as Fault where fault.kind != .transient {
            return .closed
        } catch {
            return .unknown
        }
    }

    /// For what a folder that looks still has to be waited for.
    private static func atWork(
        _ contents: FolderContents, in folder: BytePath, _ top: BytePath, _ roots: OpenRoots
    ) -> Unsettled.Reason? {
        if contents.files.contains(where: { PartialDownload.isPartial($0.path.name) }) { return .download }
        var files = roots.files(below: top)
        var last: BytePath?
        for file in contents.files {
            // Its folders are let go with it: there may be more than a process may have open.
            if last != file.path.parent { (files, last) = (roots.files(below: top), file.path.parent) }
            switch FileProbe.writers(folder.appending(file.path), file.fingerprint, files) {
            case .none: continue
            case .busy, .changed: return .writer
            }
        }
        return nil
    }
}
