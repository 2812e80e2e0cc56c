import CLinux
import Glibc
import Platform
import TestSupport
import Testing

@testable import Watching

extension WatchingTests {
    /// A folder that exists is watched, whatever happened while nobody looked. The owner thread's turns are taken here,
    /// one by one.
    @Suite("Lost watches") struct LostWatches {
        let folder: TemporaryFolder
        let root: WatchRoot

        init() throws {
            folder = try TemporaryFolder("lost")
            root = WatchRoot(name: "root", path: folder.path.appending("box/in"))
            try folder.write("box/in/d/deep/x.txt", "x")
        }

        /// The kernel drops the watch of a removed folder; the next folder of that name may get its inode.
        @Test(
            "A folder whose watch the kernel dropped, and whether that was heard",
            arguments: ["", "d", "d/deep"] as [BytePath], [true, false])
        func droppedWatch(of path: BytePath, isHeard: Bool) throws {
            let loop = try SteppedLoop([root])
            defer { loop.close() }
            loop.queue.drop(root.path.appending(path))
            if !isHeard { loop.queue.overflow() }
            let marks = loop.turn()
            #expect(marks.contains(.subtree(root: "root", path: isHeard ? path : "")), "\(marks)")
            for below in ["", "d", "d/deep"] as [BytePath] {
                try writeFile(root.path.appending(below).appending("new.txt"))
                #expect(loop.turn().contains(.file(root: "root", path: below.appending("new.txt"))), "\(below)")
            }
        }

        @Test("A folder above a root whose watch the kernel dropped", arguments: [true, false])
        func droppedWatchAbove(isHeard: Bool) throws {
            let loop = try SteppedLoop([root])
            defer { loop.close() }
            loop.queue.drop(root.path.parent)
            if !isHeard { loop.queue.overflow() }
            _ = loop.turn()
            try rename(root.path.parent, folder.path.appending("elsewhere"))
            #expect(loop.turn().contains(.rootState(root: "root")))
            try rename(folder.path.appending("elsewhere"), root.path.parent)
            #expect(loop.turn().contains(.subtree(root: "root", path: "")))
        }

        @Test("A root removed and created again before anybody looked") func rootCreatedAgain() throws {
            let loop = try SteppedLoop([root])
            defer { loop.close() }
            for _ in 0..<3 {
                try shell("rm -r \(root.path)")
                try makeFolder(root.path)
                try writeFile(root.path.appending("first.txt"))
                #expect(loop.turn().contains(.subtree(root: "root", path: "")))
                try writeFile(root.path.appending("second.txt"))
                #expect(loop.turn().contains(.file(root: "root", path: "second.txt")))
            }
        }

        @Test("A folder that another replaces between the look at it and its watch", arguments: [false, true])
        func replacedMeanwhile(andLeaves: Bool) throws {
            let loop = try SteppedLoop([root])
            defer { loop.close() }
            let (new, moved) = (root.path.appending("new"), root.path.appending("moved"))
            try makeFolder(new)
            loop.queue.beforeAdding(new) {
                try rename(new, moved)
                try makeFolder(new)
            }
            if andLeaves { loop.queue.afterAdding(new) { try rename(new, folder.path.appending("outside")) } }
            _ = loop.turn()
            #expect(loop.queue.failures.isEmpty)
            let paths: [BytePath] = andLeaves ? ["moved/a.txt"] : ["moved/a.txt", "new/a.txt"]
            for path in paths {
                try writeFile(root.path.appending(path))
                let marks = loop.turn()
                #expect(marks.contains(.file(root: "root", path: path)), "\(marks)")
            }
        }

        @Test("A rename while watches are placed is no move from outside", arguments: [true, false])
        func renamedMeanwhile(atTheStart: Bool) throws {
            try folder.write("box/in/a/a.txt", "x")
            try folder.write("box/in/b/b.txt", "x")
            let loop = try SteppedLoop(atTheStart ? [] : [root])
            defer { loop.close() }
            // Folders come in the order of their inodes: which is the later one is known only now.
            let names = ["a", "b"]
            var added: [String] = []
            for name in names {
                loop.queue.beforeAdding(root.path.appending(BytePath(name))) {
                    added.append(name)
                    guard added.count == 2 else { return }
                    try rename(
                        root.path.appending(BytePath("\(name)/\(name).txt")),
                        root.path.appending(BytePath("\(added[0])/moved.txt")))
                }
            }
            if atTheStart { loop.loop.setRoots([root]) } else { loop.queue.overflow() }
            // After an overflow the events of the rename are read only in the second.
            let marks = loop.turn() + loop.turn()
            try #require(loop.queue.failures.isEmpty && added.count == 2)
            #expect(marks.contains(.subtree(root: "root", path: "")))
            #expect(!marks.contains { if case .movedIn = $0 { true } else { false } }, "\(marks)")
            try folder.write("box/outside.txt", "x")
            try rename(folder.path.appending("box/outside.txt"), root.path.appending("inside.txt"))
            #expect(loop.turn().contains(.movedIn(root: "root", path: "inside.txt", isFolder: false)))
        }
    }
}

/// The owner thread's loop, turned by the test.
private final class SteppedLoop {
    let queue: MeddledQueue
    let loop: WatchLoop
    init(_ roots: [WatchRoot]) throws {
        queue = MeddledQueue(try ByEachWay.events.open())
        loop = WatchLoop(
            events: queue, mailbox: try Mailbox(), dirty: DirtySet(), options: WatchOptions(), board: WatchBoard())
        loop.setRoots(roots)
        _ = turn()
    }

    /// - Returns: the marks that the turn, or what came before it, has made.
    func turn() -> [DirtyMark] {
        loop.turn()
        var marks: [DirtyMark] = []
        while case let batch = loop.dirty.drain().marks, !batch.isEmpty { marks += batch }
        return marks
    }

    func close() {
        loop.isStopping = true
        loop.run()
    }
}

/// The kernel's events, with accidents.
private final class MeddledQueue: EventQueue {
    typealias Accident = () throws -> Void

    private let kernel: any EventQueue
    private var watches: [BytePath: Int32] = [:]
    private var before: [BytePath: Accident] = [:]
    private var after: [BytePath: Accident] = [:]
    private var isOverflowing = false
    /// Accidents that failed.
    private(set) var failures: [any Error] = []

    init(_ kernel: any EventQueue) { self.kernel = kernel }

    /// Makes the kernel drop the watch of a path, as for a removed folder.
    func drop(_ path: BytePath) {
        guard let wd = watches[path] else { preconditionFailure("\(path) has no watch") }
        kernel.remove(wd)
    }

    /// Loses all pending events.
    func overflow() {
        while kernel.next() != nil {}
        isOverflowing = true
    }

    /// Runs once, when the path is about to be watched.
    func beforeAdding(_ path: BytePath, _ accident: @escaping Accident) { before[path] = accident }

    /// Runs once, when the path has just been watched.
    func afterAdding(_ path: BytePath, _ accident: @escaping Accident) { after[path] = accident }

    private func happen(_ accident: Accident?) {
        do { try accident?() } catch { failures.append(error) }
    }

    var descriptor: Int32 { kernel.descriptor }
    var staleEntries: Int { kernel.staleEntries }

    func add(_ path: BytePath, _ mask: UInt32, known: Int32?) -> WatchAnswer {
        happen(before.removeValue(forKey: path))
        let answer = kernel.add(path, mask, known: known)
        if case .watch(let wd) = answer { watches[path] = wd }
        happen(after.removeValue(forKey: path))
        return answer
    }

    func remove(_ wd: Int32) { kernel.remove(wd) }

    func kernelDropped() { kernel.kernelDropped() }

    func next() -> KernelEvent? {
        guard isOverflowing else { return kernel.next() }
        isOverflowing = false
        var head = inotify_event()
        (head.wd, head.mask) = (-1, Bits.overflow)
        return KernelEvent(head, takingNameFrom: UnsafeMutableRawBufferPointer(start: nil, count: 0))
    }

    func restart() throws { try kernel.restart() }

    func close() { kernel.close() }
}
