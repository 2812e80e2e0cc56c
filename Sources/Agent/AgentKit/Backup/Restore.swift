import Foundation
import Glibc
import Ledger
import OwnFiles
import Platform
import Rules
import SQLiteFile

/// Restores a backup over an agent's stores, all or nothing. Each file is copied next to its target and verified; only
/// then are files renamed, following a journal that survives a power cut. Nothing is ever deleted: files in the way are
/// moved aside. Everything here blocks.
package struct Restore {
    private let proof: BackupProof
    private let plan: RestorePlan
    private let directories: Directories
    private let names = BackupOwners()
    private let tell: (BackupProgress) throws -> Void

    /// Below each store's folder, so that it is on the same disk.
    static let staging: BytePath = ".steward-restore"

    package init(
        _ proof: BackupProof, _ plan: RestorePlan, _ directories: Directories,
        tell: @escaping (BackupProgress) throws -> Void
    ) {
        (self.proof, self.plan, self.directories, self.tell) = (proof, plan, directories, tell)
    }

    /// Finishes an interrupted restore.
    ///
    /// - Returns: the backup it restored; nil if none was interrupted.
    package static func finishInterrupted(_ directories: Directories) throws -> BytePath? {
        guard try FileStatus.of(RestoreJournal.file(directories.state)) != nil else { return nil }
        let lock = try RestoreOwner(of: directories.state).act {
            try StateLock(directory: directories.state, restores: true)
        }
        defer { lock.release() }
        guard let (journal, writer) = try RestoreJournal.read(directories.state) else { return nil }
        try journal.finish(directories.state, resumes: true, writer: writer)
        return journal.backup
    }

    /// - Parameter replaces: whether to move files in the way aside.
    /// - Throws: `Fault`, with everything unchanged; `.usage` if something is in the way or an agent is running.
    package func run(replaces: Bool) throws -> RestoreReport {
        if let holder = StateLock.holder(of: directories.state) {
            throw Fault(
                .usage,
                "an agent is running in \(directories.state) (process \(holder)); stop it first: `systemctl --user stop "
                    + "steward`, or `systemctl stop steward`", path: directories.state)
        }
        guard replaces || plan.inTheWay.isEmpty else {
            let some = plan.inTheWay.prefix(5).map(\.description).joined(separator: ", ")
            throw Fault(
                .usage,
                "these paths of the backup exist already: \(some)\(plan.inTheWay.count > 5 ? ", …" : ""); "
                    + "--replace moves them aside (nothing is removed), --only restores a part of the backup",
                path: plan.inTheWay.first)
        }
        let owner = try RestoreOwner(of: directories.state)
        let gifts = try self.gifts()
        let lock = try owner.act { try StateLock(directory: directories.state) }
        defer { lock.release() }
        var report = RestoreReport(backup: proof.path)
        let journal: RestoreJournal
        do {
            for store in plan.restored { try clear(store) }
            try copyAll()
            try check()
            journal = try self.journal(&report, gifts)
        } catch {
            for store in plan.restored { try? clear(store) }
            throw error
        }
        try journal.write(directories.state, owner)
        try journal.finish(directories.state, resumes: false)
        report.files = plan.restored.reduce(0) { $0 + $1.files }
        report.size = plan.restored.reduce(0) { $0 + $1.size }
        return report
    }

    /// The missing folders that root will have created on behalf of another user.
    private func gifts() throws -> [RestoreJournal.OwnerChange] {
        var found: [RestoreJournal.OwnerChange] = []
        for store in plan.restored where try store.root.real == nil && RestoreOwner(of: store.root).mayGive {
            guard let folder = store.folders.first(where: \.path.isEmpty) else { continue }
            // An agent that cannot open the lock cannot start.
            let paths = store.name == BackupStore.stateName ? ["", "lock"] : [""]
            found += paths.map {
                RestoreJournal.OwnerChange(path: store.root.appending($0), owner: folder.owner, group: folder.group)
            }
        }
        return found.sorted { $0.path > $1.path }
    }

    private func clear(_ store: RestorePlan.Store) throws {
        let staged = store.root.appending(Self.staging)
        guard try FileStatus.of(staged) != nil else { return }
        try RestoreOwner(of: store.root).act { try BackupFolder.remove(staged) }
    }

    private func copyAll() throws {
        // Root reads with the rights of the backup's owner: otherwise bytes that only root may read could end up in
        // files of another user.
        let reader = try RestoreOwner(of: proof.path)
        var listing = try self.listing(reader)
        var owners: [String: RestoreOwner] = [:]
        var folders: Set<BytePath> = []
        for store in plan.restored { owners[store.name] = try makeRoot(of: store) }
        while var file = try listing.next() {
            guard
                let store = plan.restored.first(where: { file.path.isWithin(BytePath($0.name)) }),
                let owner = owners[store.name], BackupProof.isSafe(file.path),
                let name = file.path.relative(to: BytePath(store.name)), !name.isEmpty, !isForeign(name, in: store)
            else { continue }
            let target = store.root.appending(Self.staging).appending(name)
            if !store.keepsOwners { file.owner = nil }
            let source = try reader.act { try open(file) }
            try owner.act {
                try makeFolders(to: target.parent, in: store, &folders)
                try copy(file, source, to: target, of: owner)
            }
            try tell(.file(path: file.path, size: file.size))
        }
        for store in plan.restored {
            guard let owner = owners[store.name] else { continue }
            try owner.act {
                for empty in store.emptyFolders where BackupProof.isSafe(empty) && !isForeign(empty, in: store) {
                    try makeFolders(to: store.root.appending(Self.staging).appending(empty), in: store, &folders)
                }
                for folder in store.folders where BackupProof.isSafe(folder.path) {
                    try setMode(folder, at: store.root.appending(Self.staging).appending(folder.path))
                }
                if owner.mayGive { try giveFolders(folders, of: store) }
                for folder in folders where folder.isWithin(store.root) { try Durable.syncDirectory(folder) }
            }
        }
        FaultPoint.reach("restore copied")
    }

    /// Creates a store's folder if it is missing.
    private func makeRoot(of store: RestorePlan.Store) throws -> RestoreOwner {
        let owner = try RestoreOwner(of: store.root)
        if store.root.real == nil {
            try owner.makeFolder(store.root)
            if let folder = store.folders.first(where: \.path.isEmpty) {
                try owner.act { try setMode(folder, at: store.root) }
            }
        }
        return owner
    }

    private func makeFolders(to last: BytePath, in store: RestorePlan.Store, _ made: inout Set<BytePath>) throws {
        guard !made.contains(last) else { return }
        try Durable.makeDirectory(last, below: store.root, mode: 0o700)
        var folder = last
        while folder != store.root, made.insert(folder).inserted { folder = folder.parent }
    }

    /// The folder they were created in stays root's, so that nobody else can reach them before they are in place.
    private func giveFolders(_ made: Set<BytePath>, of store: RestorePlan.Store) throws {
        let noted = Dictionary(store.folders.map { ($0.path, $0) }) { first, _ in first }
        let staged = store.root.appending(Self.staging)
        for folder in made {
            // Folders that the backup does not list were like the store's root.
            guard let name = folder.relative(to: staged), !name.isEmpty, let was = noted[name] ?? noted[""] else {
                continue
            }
            try RestoreOwner.give(Descriptor(folder, O_RDONLY | O_DIRECTORY), to: was.owner, was.group, names)
        }
    }

    /// Others get no more access than before. The owner always gets full access, which filling it requires.
    private func setMode(_ folder: BackupManifest.Folder, at path: BytePath) throws {
        guard path.withCString({ chmod($0, folder.mode & 0o755 | 0o700) }) == 0 || errno == ENOENT else {
            throw Fault.system("set the mode of", path)
        }
    }

    /// Older backups included parts of the state folder that belong to other stores.
    private func isForeign(_ name: BytePath, in store: RestorePlan.Store) -> Bool {
        guard !store.foreign.isEmpty else { return false }
        let path = BackupStore.resolved(store.root).appending(name)
        return store.foreign.contains { path.isWithin($0) }
    }

    private func listing(_ reader: RestoreOwner) throws -> BackupListing {
        do {
            return try reader.act { try BackupListing(in: proof.path) }
        } catch let fault as Fault where fault.errno == EACCES && geteuid() == 0 {
            throw Fault(
                .usage,
                "\(proof.path) belongs to root, but is in another user's folder, who could replace it: move it to where only "
                    + "root can write, and try again", path: proof.path)
        }
    }

    private func open(_ file: BackedFile) throws -> Descriptor {
        do {
            return try Descriptor(proof.path.appending(file.path))
        } catch let fault as Fault where fault.errno == ENOENT {
            throw damaged(file.path, "is missing")
        }
    }

    private func copy(
        _ file: BackedFile, _ source: Descriptor, to target: BytePath, of owner: RestoreOwner
    ) throws {
        let copy = try Descriptor(target, O_RDWR | O_CREAT | O_EXCL)
        guard try SparseFile.copy(source, to: copy) == file.sha256 else {
            throw damaged(file.path, "is damaged: its bytes differ from the copied ones")
        }
        if file.role == .file {
            let modified = timespec(
                tv_sec: Int(file.modified / 1_000_000_000), tv_nsec: Int(max(0, file.modified % 1_000_000_000)))
            guard futimens(copy.raw, [modified, modified]) == 0 else { throw Fault.system("set the time of", target) }
        }
        if owner.mayGive { try RestoreOwner.give(copy, to: file.owner, file.group, names) }
        // No setuid bits, and write access only for the owner.
        guard fchmod(copy.raw, file.mode & 0o755) == 0 else { throw Fault.system("set the mode of", target) }
        try copy.sync()
        guard file.role == .database else { return }
        if let damage = try SQLiteFile.damage(of: target, indexes: true) {
            throw damaged(file.path, "is a damaged database: \(damage)")
        }
    }

    /// Every store must appear in the list of files: unlisted files in a backup may have been planted.
    private func check() throws {
        let missing = plan.restored.filter { store in
            (try? FileStatus.of(store.root.appending(Self.staging))) == nil
        }
        guard let store = missing.first else { return }
        throw damaged(BytePath(store.name), "is missing from the list of files")
    }

    private func damaged(_ path: BytePath, _ problem: String) -> Fault {
        Fault(
            .failed,
            "\(proof.path.appending(path)) \(problem). Nothing was restored; `steward restore --verify` lists everything wrong "
                + "with this backup: use another one", path: proof.path.appending(path))
    }

    private func journal(
        _ report: inout RestoreReport, _ gifts: [RestoreJournal.OwnerChange]
    ) throws -> RestoreJournal {
        var coming: [[RestoreJournal.Move]] = []
        var taken: Set<BytePath> = []
        for store in plan.restored {
            let root = store.root.real ?? store.root
            coming.append(
                try RestoreOwner(of: store.root).act {
                    try arrivals(from: root.appending(Self.staging), to: root, of: store, &taken)
                })
        }
        // From here on, nothing should be able to stop the restore halfway.
        var moves: [RestoreJournal.Move] = []
        for (store, arrivals) in zip(plan.restored, coming) {
            if !store.inTheWay.isEmpty {
                try RestoreOwner(of: store.root).act {
                    let root = store.root.real ?? store.root
                    let aside = try aside(root)
                    report.aside.append(aside)
                    for path in store.inTheWay {
                        let target = aside.appending(path.relative(to: root) ?? BytePath(bytes: path.name))
                        try Durable.makeDirectory(target.parent, mode: 0o700)
                        moves.append(try RestoreJournal.Move(from: path, to: target, in: store.root))
                    }
                }
            }
            moves += arrivals
        }
        return RestoreJournal(
            backup: proof.path, moves: moves, emptied: plan.restored.map { $0.root.appending(Self.staging) },
            gifts: gifts)
    }

    /// The renames: a folder as a whole, or entry by entry if it must stay because it also contains foreign paths.
    private func arrivals(
        from staged: BytePath, to folder: BytePath, of store: RestorePlan.Store, _ taken: inout Set<BytePath>
    ) throws -> [RestoreJournal.Move] {
        try listDirectory(staged).map(\.name).flatMap { name -> [RestoreJournal.Move] in
            let (from, to) = (staged.appending(name: name), folder.appending(name: name))
            let there = try store.inTheWay.contains(to) ? nil : FileStatus.of(to)
            if there?.kind == .directory, try FileStatus.of(from)?.kind == .directory {
                return try arrivals(from: from, to: to, of: store, &taken)
            }
            guard there == nil, taken.insert(to).inserted else {
                throw Fault(
                    .failed,
                    "\(to) exists where a file would be restored; nothing was restored. Move it away, and try again",
                    path: to)
            }
            return [try RestoreJournal.Move(from: from, to: to, in: store.root)]
        }
    }

    /// Creates a folder beside the store's, or inside it if it is a separate disk or its parent is not writable. No
    /// store claims its name.
    private func aside(_ root: BytePath) throws -> BytePath {
        let (inner, outer) = (try FileStatus.of(root)?.device, try FileStatus.of(root.parent)?.device)
        let isBeside = inner == outer && DirectoryEntry(own: root.parent).isAccessible(W_OK)
        var time = Timestamp.now()
        while true {
            let name = "\(BackupStore.asideMark)\(BackupFolder.name(at: time).dropFirst(8))"
            let folder =
                isBeside ? root.parent.appending("\(root.nameText)\(name)") : root.appending(".steward\(name)")
            if try FileStatus.of(folder) == nil {
                try Durable.makeDirectory(folder, mode: 0o700)
                return folder
            }
            time = time.adding(seconds: 1)
        }
    }
}

/// The result of a restore.
package struct RestoreReport: Encodable, Sendable {
    package var backup: BytePath
    package var files = 0
    /// In bytes.
    package var size: Int64 = 0
    /// Folders with the files that were in the way.
    package var aside: [BytePath] = []
    /// Steps for the user to take before starting the agent.
    package var advice: [String] = []

    package init(backup: BytePath) { self.backup = backup }

    package var lines: [String] {
        ["restored \(files) files, \(ComicText.bytes(size)), from \(backup)"]
            + aside.map { "the previous content is now in \($0)" } + advice
    }

    /// Checks whether the places are where the ledger knows them.
    package mutating func advise(_ directories: Directories, _ places: [PlaceInfo]) throws {
        guard let ledger = try Ledger.openForReading(directory: directories.state) else { return }
        var elsewhere: [String] = []
        for place in places {
            guard let known = try ledger.readBlocking({ try $0.place(place.name) }) else { continue }
            if known.root != place.root {
                elsewhere.append("\(place.name) as \(known.root), and it is \(place.root) now")
            } else if place.root.real == nil {
                advice.append(
                    "\(place.root), the place \(place.name), does not exist: copy its files there, with their times "
                        + "(rsync -a), before the agent starts")
            }
        }
        if !elsewhere.isEmpty {
            advice.append(
                "the ledger knows the place \(elsewhere.joined(separator: "; ")): its files will count as new. Before "
                    + "the agent starts, put it where it was, or set the old path in \(directories.configuration) and "
                    + "make a link there that leads to it")
        }
    }
}
