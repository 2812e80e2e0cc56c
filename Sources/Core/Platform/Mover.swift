import Glibc

/// Moves and copies files so that no moment exists at which their bytes are not durable somewhere (design section 3).
/// Everything here blocks.
package enum Mover {
    /// Where a file came to lie.
    package struct Placed: Sendable, Equatable {
        package let path: BytePath
        package let fingerprint: Fingerprint
        package let hash: ContentHash
        /// What of the file was lost on the way to another file system, in words.
        package let lost: [String]

        package init(path: BytePath, fingerprint: Fingerprint, hash: ContentHash, lost: [String] = []) {
            self.path = path
            self.fingerprint = fingerprint
            self.hash = hash
            self.lost = lost
        }

        /// For the end of a sentence that says where the file is; empty where it has kept everything.
        package var losses: String {
            lost.isEmpty ? "" : "; the file system there does not keep \(lost.joined(separator: ", "))"
        }
    }

    /// Called with each temporary file while it is still empty, so that a crash leaves none that nobody owns.
    package typealias Record = (BytePath, FileStatus) throws -> Void

    /// Moves `source` to the first of `targets` that is free: by rename, or, between file systems, by copy, sync,
    /// verification and removal of the source last.
    ///
    /// - Parameters:
    ///   - expected: the content that is meant to be moved.
    ///   - targets: candidates in order; the first that does not exist is taken.
    /// - Throws: `Fault(.superseded)` where `source` is gone or holds other content; `Fault` for everything else. The
    ///   source is in place then.
    package static func move(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        let file = try open(source, expecting: expected)
        for target in targets {
            do {
                if try Durable.renameNew(source, to: target) {
                    return Placed(path: target, fingerprint: try file.status().fingerprint, hash: expected)
                }
            } catch let fault as Fault where fault.errno == EXDEV {
                guard let placed = try place(copyOf: file, hash: expected, at: target, record: record) else { continue }
                try removeSource(source, expecting: expected)
                return placed
            }
        }
        throw Fault(.failed, "no free name for \(source) in the folder it should go to", path: source)
    }

    /// Copies `source` to the first of `targets` that is free; durable and verified when it returns.
    package static func copy(
        _ source: BytePath, expecting expected: ContentHash, to targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        let file = try open(source, expecting: expected)
        for target in targets {
            if let placed = try place(copyOf: file, hash: expected, at: target, record: record) { return placed }
        }
        throw Fault(.failed, "no free name for a copy of \(source) in the folder it should go to", path: source)
    }

    /// Writes a new file at the first of `targets` that is free; durable when it returns.
    package static func create(
        _ bytes: [UInt8], at targets: some Sequence<BytePath>, record: Record
    ) throws -> Placed {
        for target in targets where try FileStatus.of(target) == nil {
            let temporary = try Durable.stage(bytes, for: target, record: record)
            if let placed = try rename(temporary, to: target, hash: ContentHash(of: bytes)) { return placed }
        }
        throw Fault(.failed, "no free name for a new file in the folder it should go to")
    }

    /// Removes `source` if it still holds `expected`: renamed out of everybody's sight, checked there, then unlinked;
    /// a file that turns out to be another version goes back. Called again after a crash it finishes what was left.
    package static func removeSource(_ source: BytePath, expecting expected: ContentHash) throws {
        let aside = Durable.temporaryName(in: source.parent, for: ContentHash(of: source.bytes + expected.bytes))
        try removeAside(aside, of: source, expecting: expected)
        do {
            guard try Durable.renameNew(source, to: aside) else { return }
        } catch let fault as Fault where fault.errno == ENOENT {
            return
        }
        try removeAside(aside, of: source, expecting: expected)
    }

    private static func removeAside(
        _ aside: BytePath, of source: BytePath, expecting expected: ContentHash
    ) throws {
        guard let status = try FileStatus.of(aside) else { return }
        if status.kind == .file, try isUnused(aside, expecting: expected) {
            try Durable.remove(aside)
            try Durable.syncDirectory(source.parent)
        } else if try !Durable.renameNew(aside, to: source) {
            // Somebody has made a new file of that name meanwhile; neither may be lost.
            for name in conflictNames(source) where try Durable.renameNew(aside, to: name) { return }
        }
    }

    private static func isUnused(_ path: BytePath, expecting expected: ContentHash) throws -> Bool {
        let file = try Descriptor(path)
        // A process that has just been forked keeps a copy of every descriptor until it executes its program.
        for _ in 0..<20 where Lease.probeWriters(file) == .busy { poll(nil, 0, 25) }
        return try Lease.probeWriters(file) != .busy && ContentHash.of(file) == expected
    }

    /// `name (1).ext`, `name (2).ext` …, after `path` itself.
    package static func alternatives(_ path: BytePath) -> some Sequence<BytePath> {
        (0..<10_000).lazy.map { number in
            if number == 0 { return path }
            let (stem, suffix) = path.stemAndExtension
            let mark = Array(" (\(number))".utf8)
            let tail = suffix.map { [UInt8(ascii: ".")] + $0 } ?? []
            // A name may hold 255 bytes; the number and the extension are worth more than the stem's end. What leaves
            // no room for a stem is no extension.
            let room = 255 - mark.count - tail.count
            if room < 1 { return path.parent.appending(name: cut(path.name, 255 - mark.count) + mark) }
            return path.parent.appending(name: cut(stem, room) + mark + tail)
        }
    }

    /// The first `room` bytes, less those of a character that would be cut in two.
    package static func cut(_ name: [UInt8], _ room: Int) -> [UInt8] {
        guard name.count > room else { return name }
        let isText = String(validating: name, as: UTF8.self) != nil
        var end = room
        while isText, end > 0, name[end] & 0xC0 == 0x80 { end -= 1 }
        return Array(name[..<(end > 0 ? end : room)])
    }

    private static func conflictNames(_ path: BytePath) -> some Sequence<BytePath> {
        alternatives(path).dropFirst()
    }

    private static func open(_ source: BytePath, expecting expected: ContentHash) throws -> Descriptor {
        let file: Descriptor
        do {
            file = try Descriptor(source)
        } catch let fault as Fault where fault.errno == ENOENT {
            throw Fault(.superseded, "\(source) is gone", path: source)
        }
        guard try ContentHash.of(file) == expected else {
            throw Fault(.superseded, "\(source) has changed since it was looked at", path: source)
        }
        return file
    }

    private static func place(
        copyOf file: Descriptor, hash: ContentHash, at target: BytePath, record: Record
    ) throws -> Placed? {
        guard try FileStatus.of(target) == nil else { return nil }
        let (temporary, copied, lost) = try Durable.stageCopy(of: file, for: target, record: record)
        guard copied == hash else {
            try Durable.remove(temporary)
            throw Fault(.superseded, "\(file.path) changed while it was copied", path: file.path)
        }
        return try rename(temporary, to: target, hash: hash, lost: lost)
    }

    private static func rename(
        _ temporary: BytePath, to target: BytePath, hash: ContentHash, lost: [String] = []
    ) throws -> Placed? {
        do {
            guard try Durable.renameNew(temporary, to: target) else {
                try Durable.remove(temporary)
                return nil
            }
        } catch {
            try? Durable.remove(temporary)
            throw error
        }
        guard let status = try FileStatus.of(target) else {
            throw Fault(.failed, "\(target) vanished as soon as it was made", path: target)
        }
        return Placed(path: target, fingerprint: status.fingerprint, hash: hash, lost: lost)
    }
}
