import Glibc
import Ledger
import Platform
import Rules
import Synchronization

/// Looks for a comic that is in a library already. Where it may be, the ledger knows by sizes, whatever the library
/// holds; whether it is there, the disk is asked each time: people move and rename there. A library that the agent has
/// not looked through yet is walked.
struct ComicCopies: Sendable {
    let library: BytePath
    let files: HeldFiles
    let journal: EffectJournal
    let placed: PlacedComics
    let read: ReadComics

    /// - Parameter library: the folder in which copies are looked for.
    init(_ services: ComicServices, in library: BytePath, _ files: HeldFiles) {
        (self.library, self.files, journal) = (library, files, services.journal)
        (placed, read) = (services.comics.placed, services.comics.read)
    }

    /// A file of this content, the first by its path; nil where there is none. Of the files of the same size, those are
    /// read that are not known to be others: what is taken for the same has been read just then. Blocks.
    ///
    /// - Parameters:
    ///   - size: of the content, in bytes.
    ///   - source: does not count.
    func find(_ hash: ContentHash, size: Int64, besides source: BytePath) throws -> BytePath? {
        let candidates = try known(hash, size: size) ?? walked(size: size)
        return try Set(candidates).subtracting([source]).sorted().first { path in
            do {
                let spot = try files.folder(path.parent)[path.name]
                guard let status = try spot.status(), status.kind == .file, status.size == size else { return false }
                if let known = read.hash(of: status.fingerprint), known != hash { return false }
                return try read.hash(spot) == hash
            } catch let fault as Fault where Self.mayBePassed(fault) {
                return false
            }
        }
    }

    /// What the ledger has seen, and what it is about to hear of.
    ///
    /// - Returns: nil where it has not seen everything.
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

    /// What went away meanwhile, and what is not ours to read (`lost+found`), holds no copy that could be found.
    private static func mayBePassed(_ fault: Fault) -> Bool {
        fault.errno == ENOENT || fault.errno == ENOTDIR || fault.errno == EACCES || fault.errno == ELOOP
    }
}

/// The last comics that were put down, which the ledger hears of only with their receipts.
final class PlacedComics: Sendable {
    private let last = Mutex<[(hash: ContentHash, path: BytePath)]>([])

    /// More than are ever at work at once.
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

/// What files held that were read to be compared: by what tells one version of a file from another, so that a file that is
/// changed or exchanged is read anew.
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

    /// Reads the file, and remembers what it holds unless it was changed meanwhile. Blocks.
    ///
    /// - Throws: as ``DirectoryEntry/openFile()``.
    func hash(_ spot: DirectoryEntry) throws -> ContentHash {
        let file = try spot.openFile()
        let print = try file.status().fingerprint
        let hash = try ContentHash.of(file)
        if try file.status().fingerprint == print { add(hash, print) }
        return hash
    }
}
