import Glibc
import Ledger
import Platform
import Rules
import Synchronization

/// Looks for a comic that the library already holds. Candidates come from the ledger, by size, however large the
/// library is. Each is then checked on disk, because people move and rename files there. A library that has not been
/// surveyed yet is walked.
struct ComicCopies: Sendable {
    let library: BytePath
    let files: HeldFiles
    let journal: EffectJournal
    let placed: PlacedComics
    let read: ReadComics

    /// - Parameter library: the folder to search for copies.
    init(_ services: ComicServices, in library: BytePath, _ files: HeldFiles) {
        (self.library, self.files, journal) = (library, files, services.journal)
        (placed, read) = (services.comics.placed, services.comics.read)
    }

    /// The first file by path with this content; nil if there is none. Files of the same size are read unless they are
    /// known to differ, so a match always rests on a fresh read. Blocks.
    ///
    /// - Parameters:
    ///   - size: of the content, in bytes.
    ///   - source: excluded from the search.
    func find(_ hash: ContentHash, size: Int64, besides source: BytePath) throws -> BytePath? {
        let candidates = try known(hash, size: size) ?? walked(size: size)
        return try Set(candidates).subtracting([source]).sorted().first { path in
            do {
                let child = try files.folder(path.parent)[path.name]
                guard let status = try child.status(), status.kind == .file, status.size == size else { return false }
                if let known = read.hash(of: status.fingerprint), known != hash { return false }
                return try read.hash(child) == hash
            } catch let fault as Fault where Self.mayBePassed(fault) {
                return false
            }
        }
    }

    /// Paths that the ledger has seen or is about to record.
    ///
    /// - Returns: nil if the library has not been fully surveyed.
    private func known(_ hash: ContentHash, size: Int64) throws -> [BytePath]? {
        guard let place = journal.places.places.first(where: { $0.root == library }),
            journal.surveyed.contains(place.name)
        else { return nil }
        let found = try journal.ledger.readBlocking { transaction -> [BytePath]? in
            guard let paths = try transaction.paths(in: place.name, ofSize: size) else { return nil }
            for path in paths {
                guard let seen = try transaction.file(place.name, path), let held = seen.hash else { continue }
                read.add(held, seen.fingerprint)
            }
            return paths.map { place.root.appending($0) } + (try transaction.products(of: hash))
        }
        return found.map { paths in
            (paths + placed.paths(of: hash)).filter { journal.places.locate($0)?.place.name == place.name }
        }
    }

    private func walked(size: Int64) throws -> [BytePath] {
        let places = journal.places
        let nested = places.places.first { $0.root == library }.map { places.nested(in: $0) } ?? []
        var candidates: [BytePath] = []
        var folders = [library]
        while let path = folders.popLast() {
            guard let (folder, entries) = try list(path) else { continue }
            for entry in entries where entry.name.first != UInt8(ascii: ".") {
                let found = path.appending(name: entry.name)
                if entry.isDirectory == true {
                    if !nested.contains(found) { folders.append(found) }
                    continue
                }
                guard let status = try folder[entry.name].status() else { continue }
                if status.kind == .file, status.size == size { candidates.append(found) }
                if status.kind == .directory, !nested.contains(found) { folders.append(found) }
            }
        }
        return candidates
    }

    private func list(_ path: BytePath) throws -> (Folder, [ListedEntry])? {
        do {
            let folder = try files.folder(path)
            return (folder, try folder.entries())
        } catch let fault as Fault where Self.mayBePassed(fault) {
            return nil
        }
    }

    /// Files that vanished in the meantime, or that the agent may not read (`lost+found`), are skipped.
    private static func mayBePassed(_ fault: Fault) -> Bool {
        fault.errno == ENOENT || fault.errno == ENOTDIR || fault.errno == EACCES || fault.errno == ELOOP
    }
}

/// Recently placed comics that the ledger learns of only with their receipts.
final class PlacedComics: Sendable {
    private let last = Mutex<[(hash: ContentHash, path: BytePath)]>([])

    /// More than are ever in flight at once.
    private static let most = 256

    func add(_ hash: ContentHash, _ path: BytePath) {
        last.withLock { last in
            if last.count >= Self.most { last.removeFirst() }
            last.append((hash, path))
        }
    }

    func paths(of hash: ContentHash) -> [BytePath] {
        last.withLock { last in last.filter { $0.hash == hash }.map(\.path) }
    }
}

/// Cache of content hashes by fingerprint. A changed or replaced file has another fingerprint, so it is read again.
final class ReadComics: Sendable {
    private let known = Mutex<[Fingerprint: ContentHash]>([:])

    private static let most = 16_384

    func add(_ hash: ContentHash, _ print: Fingerprint) {
        known.withLock { known in
            if known.count >= Self.most, known[print] == nil { known = [:] }
            known[print] = hash
        }
    }

    func hash(of print: Fingerprint) -> ContentHash? { known.withLock { $0[print] } }

    /// Reads and hashes the file. The hash is cached unless the file changed in the meantime. Blocks.
    ///
    /// - Throws: as ``DirectoryEntry/openFile()``.
    func hash(_ child: DirectoryEntry) throws -> ContentHash {
        let file = try child.openFile()
        let print = try file.status().fingerprint
        let hash = try ContentHash.of(file)
        if try file.status().fingerprint == print { add(hash, print) }
        return hash
    }
}
