import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import SQLiteFile

/// Puts a backup in the place of an agent's stores: all of it or nothing. Each file is copied beside its place and proved;
/// only then names change, by a journal that survives a power cut. Nothing is ever removed: what lies in the way goes aside.
/// Everything here blocks.
package struct Restore {
    private let proof: BackupProof
    private let plan: RestorePlan
    private let directories: Directories
    private let tell: (BackupProgress) throws -> Void

    /// Below each store's folder: on the same disk as that.
    private static let staging: BytePath = ".steward-restore"

    package init(
        _ proof: BackupProof, _ plan: RestorePlan, _ directories: Directories,
        tell: @escaping (BackupProgress) throws -> Void
    ) {
        (self.proof, self.plan, self.directories, self.tell) = (proof, plan, directories, tell)
    }

    /// Finishes a restore that was cut off.
    ///
    /// - Returns: the backup that it was from; nil where none was cut off.
    package static func finishInterrupted(_ directories: Directories) throws -> BytePath? {
        guard try FileStatus.of(RestoreJournal.file(directories.state)) != nil else { return nil }
        let lock = try StateLock(directory: directories.state, restores: true)
        defer { lock.release() }
        guard let journal = try RestoreJournal.read(directories.state) else { return nil }
        try journal.finish(directories.state)
        return journal.backup
    }

    /// - Parameter replaces: whether what lies in the way goes aside.
    /// - Throws: `Fault`, and everything is as it was; `.usage` where something is in the way, or an agent runs.
    package func run(replaces: Bool) throws -> RestoreReport {
        if let holder = StateLock.holder(of: directories.state) {
            throw Fault(
                .usage,
                "an agent is at work in \(directories.state) (process \(holder)); stop it first: `systemctl --user stop "
                    + "steward`, or `systemctl stop steward`", path: directories.state)
        }
        guard replaces || plan.inTheWay.isEmpty else {
            let some = plan.inTheWay.prefix(5).map(\.description).joined(separator: ", ")
            throw Fault(
                .usage,
                "there is something already where the backup would go: \(some)\(plan.inTheWay.count > 5 ? ", …" : ""); "
                    + "--replace moves it aside (nothing is removed), --only takes a part of the backup",
                path: plan.inTheWay.first)
        }
        let owner = try RestoreOwner(of: directories.state)
        try owner.makeFolder(directories.state)
        let lock = try StateLock(directory: directories.state)
        defer { lock.release() }
        try owner.give(directories.state.appending("lock"))
        do {
            for store in plan.restored { try clear(store) }
            try copyAll()
            try check()
        } catch {
            for store in plan.restored { try? clear(store) }
            throw error
        }
        var report = RestoreReport(backup: proof.path)
        let journal = try journal(&report)
        try journal.write(directories.state, owner)
        try journal.finish(directories.state)
        report.files = plan.restored.reduce(0) { $0 + $1.files }
        report.size = plan.restored.reduce(0) { $0 + $1.size }
        return report
    }

    private func clear(_ store: RestorePlan.Store) throws {
        let staged = store.root.appending(Self.staging)
        if try FileStatus.of(staged) != nil { try BackupFolder.remove(staged) }
    }

    private func copyAll() throws {
        var owners: [String: RestoreOwner] = [:]
        for store in plan.restored {
            let owner = try RestoreOwner(of: store.root)
            try owner.makeFolder(store.root)
            owners[store.name] = owner
        }
        var folders: Set<BytePath> = []
        var listing = try BackupListing(in: proof.path)
        while let file = try listing.next() {
            guard
                let store = plan.restored.first(where: { file.path.isWithin(BytePath($0.name)) }),
                let owner = owners[store.name], BackupProof.isSafe(file.path),
                let name = file.path.relative(to: BytePath(store.name)), !name.isEmpty
            else { continue }
            let target = store.root.appending(Self.staging).appending(name)
            var folder = target.parent
            while folder.isWithin(store.root), folder != store.root, folders.insert(folder).inserted {
                try owner.makeFolder(folder)
                folder = folder.parent
            }
            try copy(file, to: target, owner)
            try tell(.file(path: file.path, size: file.size))
        }
        for store in plan.restored {
            for empty in store.emptyFolders where BackupProof.isSafe(empty) {
                var folder = store.root.appending(Self.staging).appending(empty)
                try owners[store.name]?.makeFolder(folder)
                while folder != store.root, folders.insert(folder).inserted { folder = folder.parent }
            }
        }
        for folder in folders { try Durable.syncDirectory(folder) }
        FaultPoint.reach("restore copied")
    }

    private func copy(_ file: BackedFile, to target: BytePath, _ owner: RestoreOwner) throws {
        let source: Descriptor
        do {
            source = try Descriptor(proof.path.appending(file.path))
        } catch let fault as Fault where fault.errno == ENOENT {
            throw damaged(file.path, "is missing")
        }
        let copy = try Descriptor(target, O_RDWR | O_CREAT | O_EXCL)
        guard try SparseFile.copy(source, to: copy) == file.sha256 else {
            throw damaged(file.path, "is damaged: its bytes are not those that were copied")
        }
        if file.role == .file {
            let modified = timespec(
                tv_sec: Int(file.modified / 1_000_000_000), tv_nsec: Int(max(0, file.modified % 1_000_000_000)))
            guard futimens(copy.raw, [modified, modified]) == 0 else { throw Fault.system("set the time of", target) }
        }
        // Nothing of it gives anybody more than its owner had.
        guard fchmod(copy.raw, file.mode & 0o755) == 0 else { throw Fault.system("set the mode of", target) }
        try owner.give(target)
        try copy.sync()
        guard file.role == .database else { return }
        let damage = try DatabaseInstant.damage(in: target)
        guard damage.isEmpty else {
            throw damaged(file.path, "is a damaged database: \(damage.joined(separator: "; "))")
        }
    }

    /// What lies in the backup and not in its list was put there by somebody.
    private func check() throws {
        let missing = plan.restored.filter { store in
            (try? FileStatus.of(store.root.appending(Self.staging))) == nil
        }
        guard let store = missing.first else { return }
        throw damaged(BytePath(store.name), "is missing in the list of files")
    }

    private func damaged(_ path: BytePath, _ problem: String) -> Fault {
        Fault(
            .failed,
            "\(proof.path.appending(path)) \(problem). Nothing was restored; `steward restore --verify` names all that is wrong "
                + "with this backup: take another one", path: proof.path.appending(path))
    }

    private func journal(_ report: inout RestoreReport) throws -> RestoreJournal {
        var (moves, emptied) = ([RestoreJournal.Move](), [BytePath]())
        let stamp = BackupFolder.name(at: .now()).dropFirst(8)
        for store in plan.restored {
            let root = store.root.real ?? store.root
            if !store.inTheWay.isEmpty {
                let aside = try aside(root, "\(BackupStore.asideMark)\(stamp)")
                report.aside.append(aside)
                for path in store.inTheWay {
                    moves.append(.init(from: path, to: aside.appending(name: path.name)))
                }
            }
            let staged = root.appending(Self.staging)
            for entry in try listDirectory(staged).map(\.name) {
                moves.append(.init(from: staged.appending(name: entry), to: root.appending(name: entry)))
            }
            emptied.append(staged)
        }
        return RestoreJournal(backup: proof.path, moves: moves, emptied: emptied)
    }

    /// Beside the store's folder, or in it where that is a disk of its own, and under a name that no store takes for its.
    private func aside(_ root: BytePath, _ name: String) throws -> BytePath {
        let (inner, outer) = (try FileStatus.of(root)?.device, try FileStatus.of(root.parent)?.device)
        let isBeside = inner == outer && root.parent.withCString { access($0, W_OK) } == 0
        let folder =
            isBeside ? root.parent.appending("\(root.nameText)\(name)") : root.appending(".steward\(name)")
        try RestoreOwner(of: root).makeFolder(folder)
        return folder
    }
}

/// What a restore has come to.
package struct RestoreReport: Encodable, Sendable {
    package var backup: BytePath
    package var files = 0
    /// Bytes.
    package var size: Int64 = 0
    /// Folders with what lay in the way.
    package var aside: [BytePath] = []
    /// What a person should do before the agent starts.
    package var advice: [String] = []

    package init(backup: BytePath) { self.backup = backup }

    package var lines: [String] {
        ["restored \(files) files, \(ComicText.bytes(size)), from \(backup)"]
            + aside.map { "what lay there is now in \($0)" } + advice
    }

    /// Looks whether the places are where the ledger knows them.
    package mutating func advise(_ directories: Directories, _ places: [PlaceInfo]) throws {
        guard let ledger = try Ledger.openForReading(directory: directories.state) else { return }
        var elsewhere: [String] = []
        for place in places {
            guard let known = try ledger.readBlocking({ try $0.place(place.name) }) else { continue }
            if known.root != place.root {
                elsewhere.append("\(place.name) as \(known.root), and it is \(place.root) now")
            } else if place.root.real == nil {
                advice.append(
                    "\(place.root), the place \(place.name), is not there: copy its files there, with their times "
                        + "(rsync -a), before the agent starts")
            }
        }
        if !elsewhere.isEmpty {
            advice.append(
                "the ledger knows the place \(elsewhere.joined(separator: "; ")): what lies there will count as new. Before "
                    + "the agent starts, put it where it was, or write the old path into \(directories.configuration) and "
                    + "have a link there lead to it")
        }
    }
}
