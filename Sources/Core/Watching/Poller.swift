import Glibc
import Platform
import Synchronization

/// Polls a subtree on a file system that sends no events. Each poller has its own pool, so a server that does not
/// answer delays nothing else.
final class Poller: Sendable {
    struct State {
        var present = false
        var identity: RootIdentity?
        var folders = 0
        var unreadable: Set<BytePath> = []
        var digests: [BytePath: Int] = [:]
        var looked = false
    }

    private let root: WatchRoot
    private let from: BytePath
    private let ignore: IgnoreList
    private let pool: BlockingPool
    private let emit: @Sendable (DirtyMark) -> Void
    private let stateChanged: @Sendable () -> Void
    private let state = Mutex(State())
    private let stopped = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    var now: State { state.withLock { $0 } }

    init(
        _ root: WatchRoot, from: BytePath, ignore: IgnoreList, emit: @escaping @Sendable (DirtyMark) -> Void,
        stateChanged: @escaping @Sendable () -> Void
    ) {
        self.root = root
        self.from = from
        self.ignore = ignore
        self.emit = emit
        self.stateChanged = stateChanged
        pool = BlockingPool("poll", threads: 1, perBulkhead: true)
    }

    func start() {
        let place = root.name
        let running = Task { await Bulkhead.$current.withValue(.place(place)) { await self.run() } }
        task.withLock { $0 = running }
    }

    func stop() {
        stopped.withLock { $0 = true }
        task.withLock { $0 }?.cancel()
    }

    private func run() async {
        while !Task.isCancelled {
            do {
                try await pool.run { self.look() }
                try await Task.sleep(for: .seconds(root.pollInterval))
            } catch {
                // Looks and sleeps end only by cancellation.
                return
            }
        }
    }

    private func tell(_ mark: DirtyMark) {
        if !stopped.withLock({ $0 }) { emit(mark) }
    }

    private func enter(_ after: State, _ before: State) {
        state.withLock { $0 = after }
        let same =
            before.looked && before.identity == after.identity && before.folders == after.folders
            && before.unreadable == after.unreadable
        if !same, !stopped.withLock({ $0 }) { stateChanged() }
    }

    /// One look: marks each folder whose digest has changed since the last one.
    private func look() {
        let before = now
        var after = State()
        after.looked = true
        guard let real = RealFolder(root.path), let top = real.reachForNow() else {
            enter(after, before)
            if from.isEmpty, before.present || !before.looked { tell(.rootState(root: root.name)) }
            return
        }
        after.present = true
        after.identity = real.identity
        let replaced = before.identity != real.identity
        let excluded = real.excluded(of: root, in: Mount.all())
        var open = [from]
        var changed: [BytePath] = []
        while let folder = open.popLast() {
            if stopped.withLock({ $0 }) { return }
            guard let digest = FolderDigest.of(folder, below: top, ignoring: ignore) else {
                after.unreadable.insert(folder)
                continue
            }
            after.folders += 1
            after.digests[folder] = digest.value
            if before.digests[folder] != digest.value { changed.append(folder) }
            for name in digest.subfolders {
                let below = folder.appending(name: name)
                if !excluded.contains(below) { open.append(below) }
            }
        }
        enter(after, before)
        if from.isEmpty, replaced {
            if before.looked { tell(.rootState(root: root.name)) }
            tell(.subtree(root: root.name, path: ""))
            return
        }
        // A digest covers only one folder's own entries, so each changed folder gets a mark; the set merges them.
        for folder in changed { tell(.subtree(root: root.name, path: folder)) }
        for gone in before.digests.keys where after.digests[gone] == nil {
            tell(.subtree(root: root.name, path: gone))
        }
    }
}
