import Glibc
import Ledger
import Platform
import Synchronization

/// The surroundings of a file in a place, and what the ledger knows of other files. Reads folders and files only
/// below the roots of their places.
package final class PlaceSurroundings: FileSurroundings {
    private let ledger: Ledger
    private let presence: PlacePresence
    private let reader: ContentReader
    /// Hashes of files that the ledger has none for, read for comparison.
    private let hashes = Mutex<[Fingerprint: ContentHash]>([:])

    private static let mostHashes = 4_096

    package init(ledger: Ledger, presence: PlacePresence, reader: ContentReader) {
        self.ledger = ledger
        self.presence = presence
        self.reader = reader
    }

    package func files(in folder: BytePath, of place: PlaceInfo) throws -> [Neighbour] {
        let held: Folder
        do {
            held = try presence.root(of: place).folder(folder)
        } catch let fault as Fault where [ENOENT, ENOTDIR].contains(fault.errno) || fault.code == Fault.link {
            return []
        }
        var listing = try FolderListing(held.reading())
        var found: [Neighbour] = []
        while let entry = listing.next() {
            if entry.isDirectory == true { continue }
            let name = listing.name(of: entry)
            guard name.first != UInt8(ascii: "."), let status = try listing.status(of: entry, in: held),
                status.kind == .file
            else { continue }
            found.append(Neighbour(name: name, size: status.size, modified: status.fingerprint.modified))
        }
        return found
    }

    package func contents(ofSize size: Int64, _ hash: ContentHash) throws -> [ContentPlace] {
        try ledger.readBlocking { try Self.contents(ofSize: size, hash, in: presence.places, $0) }
    }

    static func contents(
        ofSize size: Int64, _ hash: ContentHash, in places: PlaceMap, _ transaction: LedgerTransaction
    ) throws -> [ContentPlace] {
        try places.places.flatMap { try transaction.contents(in: $0.name, ofSize: size, hash) }
    }

    package func holds(_ other: ContentPlace, _ hash: ContentHash) throws -> Bool {
        guard let place = presence.places[name: other.place] else { return false }
        do {
            let child = try presence.root(of: place).entry(other.path)
            guard let status = try child.status(), status.kind == .file, status.size == other.fingerprint.size else {
                return false
            }
            if let known = other.hash, status.fingerprint == other.fingerprint { return known == hash }
            guard status.size <= place.sizeLimit else { return false }
            return try self.hash(of: child, status.fingerprint) == hash
        } catch is Fault {
            // A file that cannot be read now counts as no duplicate.
            return false
        }
    }

    package func root(of place: String) -> BytePath? { presence.places[name: place]?.root }

    private func hash(of child: DirectoryEntry, _ print: Fingerprint) throws -> ContentHash? {
        if let known = hashes.withLock({ $0[print] }) { return known }
        let file = try child.openFile()
        let found = try reader.hash(file)
        guard try file.status().fingerprint == print else { return nil }
        hashes.withLock { hashes in
            if hashes.count >= Self.mostHashes { hashes = [:] }
            hashes[print] = found
        }
        return found
    }
}
