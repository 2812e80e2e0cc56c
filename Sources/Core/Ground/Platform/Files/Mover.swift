import Glibc

/// Moves and copies files so that their bytes are durable somewhere at every moment (docs/design/exactly-once.md). The
/// opened file is the one that is moved: its name is compared with the open file before and after. Every call blocks.
package enum Mover {
    /// The file's new location.
    package struct Placed: Sendable, Equatable {
        package let path: BytePath
        package let fingerprint: Fingerprint
        package let hash: ContentHash
        /// A description of the metadata lost on the way to another file system.
        package let lost: [String]
        /// A description of the privileges removed from it: setuid, setgid, capabilities.
        package let dropped: [String]

        package init(
            path: BytePath, fingerprint: Fingerprint, hash: ContentHash, lost: [String] = [], dropped: [String] = []
        ) {
            self.path = path
            self.fingerprint = fingerprint
            self.hash = hash
            self.lost = lost
            self.dropped = dropped
        }

        /// For the end of a sentence that says where the file is; empty if nothing was lost.
        package var losses: String {
            (lost.isEmpty ? "" : "; the file system there does not keep \(lost.joined(separator: ", "))")
                + (dropped.isEmpty ? "" : "; without its \(dropped.joined(separator: ", "))")
        }
    }

    package typealias Record = Durable.Record
    /// Frees a name that is taken; called once the file that will get it is complete.
    package typealias Clear = () throws -> Void
    /// Finds the name in its open folder.
    package typealias Reach = (BytePath) throws -> DirectoryEntry

    /// An open file with the expected content.
    package struct Source {
        package let entry: DirectoryEntry
        package let file: Descriptor
        package let expected: ContentHash

        /// - Throws: `Fault(.superseded)` if the file has other content, or the name belongs to another file.
        package init(_ entry: DirectoryEntry, _ file: Descriptor, expecting expected: ContentHash) throws {
            guard try entry.status()?.isSameFile(as: file.status()) == true else {
                throw Fault(.superseded, "\(entry.path) is gone", path: entry.path)
            }
            guard try ContentHash.of(file) == expected else {
                throw Fault(.superseded, "\(entry.path) has changed since it was looked at", path: entry.path)
            }
            self.entry = entry
            self.file = file
            self.expected = expected
        }

        /// The same, opening the file now.
        package init(_ entry: DirectoryEntry, expecting expected: ContentHash) throws {
            try self.init(entry, entry.openFile(), expecting: expected)
        }
    }

    /// How a file is brought to a place.
    package struct Manner: Sendable {
        /// Whether to remove setuid, setgid and capabilities.
        package var dropsRights: Bool
        /// Whether a copy gets the source's owner, if the agent is permitted to set it.
        package var keepsOwner: Bool
        /// Whether to move a file that others can still change (because they own it, or through another name).
        /// Otherwise it is copied, and the kept copy belongs to the agent alone.
        package var trustsSharers: Bool

        package init(dropsRights: Bool = true, keepsOwner: Bool = true, trustsSharers: Bool = true) {
            self.dropsRights = dropsRights
            self.keepsOwner = keepsOwner
            self.trustsSharers = trustsSharers
        }

        /// Into a collection whose files stay as they were judged.
        package static let forGood = Manner(keepsOwner: false, trustsSharers: false)

        /// A description of the ways in which others can still change a file after it was judged; empty if it may be
        /// moved.
        func sharing(_ status: FileStatus) -> [String] {
            if trustsSharers { return [] }
            return (status.links > 1 ? ["other links"] : [])
                + (status.owner != geteuid() ? ["owner (user \(status.owner))"] : [])
        }

        /// Unchanged: back to where it came from, or to another name in the same place.
        package static let unchanged = Manner(dropsRights: false)
    }

    /// Moves the source to the first free name in `targets`: by rename or, between file systems, by copy, sync,
    /// verification and, last of all, removal of the source.
    ///
    /// - Parameters:
    ///   - targets: candidates in order; the first that does not exist is taken.
    ///   - purpose: see ``removeSource(_:expecting:purpose:going:)``.
    ///   - clear: frees a taken name; nil to try the next one instead.
    /// - Throws: `Fault(.superseded)` if the source is gone, has other content, or was moved away while it was copied;
    ///   `Fault` for everything else. The source is then in place.
    package static func move(
        _ source: Source, to targets: some Sequence<BytePath>, through reach: Reach, _ manner: Manner = Manner(),
        purpose: String? = nil, clear: Clear? = nil, record: Record
    ) throws -> Placed {
        // A file of someone else that runs with its owner's privileges cannot be moved as it is.
        let status = try source.file.status()
        let mayRename = manner.sharing(status).isEmpty
        var dropped: [String]? = []
        var isDropped = false
        for path in targets {
            let target = try reach(path)
            // Nothing goes into a folder that was moved or replaced since it was opened: it would not be found there.
            if !target.isInSameFolder(as: source.entry) { try target.folder.requireStanding() }
            do {
                // Between file systems, the copy lacks the privileges and the source stays unchanged.
                if mayRename, manner.dropsRights, !isDropped, try target.isOnDevice(status.device) {
                    dropped = try CopiedAttributes.dropRights(of: source.file)
                    isDropped = true
                }
                // A file of someone else that runs with its owner's privileges cannot be moved as it is.
                guard mayRename, let dropped else { throw Fault.system("rename", source.entry.path, errno: EXDEV) }
                guard try name(source.entry, target, clear, check: { try compare(target, with: source) }) else {
                    continue
                }
                return Placed(
                    path: target.path, fingerprint: try source.file.status().fingerprint, hash: source.expected,
                    dropped: dropped)
            } catch let fault as Fault where fault.errno == EXDEV {
                let placed = try place(
                    copyOf: source, at: target, manner, clear, record: record, check: { try requireInPlace(source) })
                guard let placed else { continue }
                try target.folder.requireStanding()
                try removeSource(source.entry, expecting: source.expected, purpose: purpose)
                return placed
            }
        }
        throw Fault.noFreeName(for: source.entry.path.description, path: source.entry.path)
    }

    /// Copying takes time. If the source was moved in the meantime, there would be two files.
    private static func requireInPlace(_ source: Source) throws {
        if try source.entry.status()?.isSameFile(as: source.file.status()) == true { return }
        throw Fault(
            .superseded, "\(source.entry.path) was moved elsewhere while it was copied; it was not moved again",
            path: source.entry.path
        )
    }

    /// Gives a file a name that is free, or that `clear` frees.
    private static func name(
        _ file: DirectoryEntry, _ target: DirectoryEntry, _ clear: Clear?, check: () throws -> Void = {}
    ) throws -> Bool {
        if try Durable.renameNew(file, to: target, check: check) { return true }
        guard let clear else { return false }
        try clear()
        return try Durable.renameNew(file, to: target, check: check)
    }

    /// Checks that the renamed file is the opened one. The name may have been given to another file in between, which
    /// is moved back; if its folder is gone, it is kept under a hidden name next to the target.
    private static func compare(_ target: DirectoryEntry, with source: Source) throws {
        if try target.status()?.isSameFile(as: source.file.status()) == true { return }
        var isBack = false
        do {
            for name in alternatives(source.entry).prefix(100) where try Durable.renameNew(target, to: name) {
                isBack = true
                break
            }
        } catch let fault as Fault where fault.errno == ENOENT || fault.errno == ENOTDIR {
            isBack = false
        }
        let aside = target.sibling(Durable.temporaryName().utf8)
        if !isBack { isBack = try !Durable.renameNew(target, to: aside) }
        throw Fault(
            .superseded,
            "\(source.entry.path) was replaced by another file while it was moved; that one was not taken"
                + (isBack ? "" : " and is kept as \(aside.path)"), path: source.entry.path)
    }

    /// Copies the source to the first free name in `targets`; durable and verified when it returns.
    package static func copy(
        _ source: Source, to targets: some Sequence<BytePath>, through reach: Reach, _ manner: Manner = Manner(),
        clear: Clear? = nil, record: Record
    ) throws -> Placed {
        for target in targets {
            if let placed = try place(copyOf: source, at: reach(target), manner, clear, record: record) {
                return placed
            }
        }
        throw Fault.noFreeName(for: "a copy of \(source.entry.path)", path: source.entry.path)
    }

    /// Writes a new file at the first free name in `targets`; durable when it returns.
    package static func create(
        _ bytes: [UInt8], at targets: some Sequence<BytePath>, through reach: Reach, mode: mode_t = 0o644,
        clear: Clear? = nil, record: Record
    ) throws -> Placed {
        for path in targets {
            let target = try reach(path)
            guard try clear != nil || target.status() == nil else { continue }
            let temporary = try Durable.stage(bytes, for: target, mode: mode, record: record)
            if let status = try rename(temporary, to: target, clear, record: record) {
                return Placed(path: target.path, fingerprint: status.fingerprint, hash: ContentHash(of: bytes))
            }
        }
        throw Fault.noFreeName(for: "a new file")
    }

    /// Removes `source` if it still has the content `expected`: renames it to a hidden name, checks it there, then
    /// unlinks it; a file that turns out to be another version is moved back. After a crash, another call completes the
    /// removal.
    ///
    /// - Parameters:
    ///   - purpose: identifies the removal for code that completes it without knowing the file's name; nil for the name
    ///     itself.
    ///   - going: called when the file is certain to be removed, and still exists.
    package static func removeSource(
        _ source: DirectoryEntry, expecting expected: ContentHash, purpose: String? = nil, going: () throws -> Void = {}
    ) throws {
        let aside = aside(of: source, expecting: expected, purpose)
        _ = try removeAside(aside, of: source, expecting: expected, going)
        do {
            guard try Durable.renameNew(source, to: aside) else { return }
        } catch let fault as Fault where fault.errno == ENOENT {
            return
        }
        _ = try removeAside(aside, of: source, expecting: expected, going)
    }

    /// Completes an interrupted ``removeSource(_:expecting:purpose:going:)``, leaving alone any file that has the name
    /// now.
    ///
    /// - Returns: false if the file was given a name again.
    package static func finishRemoval(
        of source: DirectoryEntry, expecting expected: ContentHash, purpose: String? = nil,
        going: () throws -> Void = {}
    ) throws -> Bool {
        try removeAside(aside(of: source, expecting: expected, purpose), of: source, expecting: expected, going)
    }

    /// The hidden name of a file about to be removed.
    package static func asideName(expecting expected: ContentHash, purpose: String) -> [UInt8] {
        asideName(Array(purpose.utf8), expected)
    }

    private static func asideName(_ purpose: [UInt8], _ expected: ContentHash) -> [UInt8] {
        Array(Durable.temporaryName(for: ContentHash(of: purpose + expected.bytes)).utf8)
    }

    private static func aside(of source: DirectoryEntry, expecting expected: ContentHash, _ purpose: String?)
        -> DirectoryEntry
    {
        source.sibling(asideName(purpose.map { Array($0.utf8) } ?? source.path.bytes, expected))
    }

    private static func removeAside(
        _ aside: DirectoryEntry, of source: DirectoryEntry, expecting expected: ContentHash, _ going: () throws -> Void
    ) throws -> Bool {
        guard let status = try aside.status() else { return true }
        if status.kind == .file, try isUnused(aside, expecting: expected) {
            try going()
            try Durable.remove(aside)
            try source.syncFolder()
            return true
        }
        if try Durable.renameNew(aside, to: source) { return false }
        // Someone has created a new file of that name in the meantime; neither may be lost.
        for name in alternatives(source).dropFirst() where try Durable.renameNew(aside, to: name) { break }
        return false
    }

    private static func isUnused(_ entry: DirectoryEntry, expecting expected: ContentHash) throws -> Bool {
        let file = try entry.open()
        // A newly forked process keeps a copy of every descriptor until it calls exec.
        for _ in 0..<20 where Lease.probeWriters(file) == .busy { poll(nil, 0, 25) }
        return try Lease.probeWriters(file) != .busy && ContentHash.of(file) == expected
    }

    /// The same names, in the entry's own folder; see ``alternatives(_:)-(BytePath)``.
    package static func alternatives(_ entry: DirectoryEntry) -> some Sequence<DirectoryEntry> {
        alternatives(entry.name).lazy.map { DirectoryEntry(entry.folder, $0) }
    }

    /// `name (1).ext`, `name (2).ext` …, after `path` itself.
    package static func alternatives(_ path: BytePath) -> some Sequence<BytePath> {
        (0..<10_000).lazy.map { number in
            if number == 0 { return path }
            let (stem, suffix) = path.stemAndExtension
            let mark = Array(" (\(number))".utf8)
            let tail = suffix.map { [UInt8(ascii: ".")] + $0 } ?? []
            // A name may have 255 bytes; number and extension matter more than the end of the stem. If they leave no
            // room for a stem, it is not an extension.
            let room = 255 - mark.count - tail.count
            if room < 1 { return path.parent.appending(name: cut(path.name, 255 - mark.count) + mark) }
            return path.parent.appending(name: cut(stem, room) + mark + tail)
        }
    }

    /// The first `room` bytes, without a partial character at the end.
    package static func cut(_ name: [UInt8], _ room: Int) -> [UInt8] {
        guard name.count > room else { return name }
        let isText = String(validating: name, as: UTF8.self) != nil
        var end = room
        while isText, end > 0, name[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(name[..<(end > 0 ? end : room)])
    }

    /// - Parameter check: called when the copy is complete, before it gets its name; if it throws, there is no copy.
    private static func place(
        copyOf source: Source, at target: DirectoryEntry, _ manner: Manner, _ clear: Clear?, record: Record,
        check: () throws -> Void = {}
    ) throws -> Placed? {
        guard try clear != nil || target.status() == nil else { return nil }
        let copy = try Durable.stageCopy(
            of: source.file, for: target, keepsOwner: manner.keepsOwner, record: record)
        guard copy.hash == source.expected else {
            try Durable.discard(copy.entry, record: record)
            throw Fault(
                .superseded, "\(source.entry.path) changed while it was copied", path: source.entry.path)
        }
        do {
            try check()
        } catch {
            try? Durable.discard(copy.entry, record: record)
            throw error
        }
        guard let status = try rename(copy.entry, to: target, clear, record: record) else { return nil }
        return Placed(
            path: target.path, fingerprint: status.fingerprint, hash: copy.hash, lost: copy.lost,
            dropped: copy.dropped + manner.sharing(try source.file.status()))
    }

    private static func rename(
        _ temporary: DirectoryEntry, to target: DirectoryEntry, _ clear: Clear?, record: Record
    ) throws -> FileStatus? {
        do {
            try target.folder.requireStanding()
            guard try name(temporary, target, clear) else {
                try Durable.discard(temporary, record: record)
                return nil
            }
        } catch {
            try? Durable.discard(temporary, record: record)
            throw error
        }
        guard let status = try target.status() else {
            throw Fault(.failed, "\(target.path) vanished right after it was created", path: target.path)
        }
        return status
    }
}

extension Fault {
    /// The ``code`` of a failure to find a free name.
    package static let noFreeName = "no-free-name"

    package static func noFreeName(for what: String, path: BytePath? = nil) -> Fault {
        Fault(.failed, "no free name for \(what) in the folder it should go to", path: path, code: noFreeName)
    }
}
