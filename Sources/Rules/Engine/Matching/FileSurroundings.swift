import Ledger
import Platform

/// A regular file next to the one being judged.
package struct Neighbour: Sendable, Equatable {
    package let name: [UInt8]
    /// Bytes.
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modified: Int64

    package init(name: [UInt8], size: Int64, modified: Int64) {
        (self.name, self.size, self.modified) = (name, size, modified)
    }
}

/// Questions of conditions beyond the file itself: its neighbours, and other files in the ledger. All methods block.
package protocol FileSurroundings: Sendable {
    /// The regular files in a folder of the place, except those with a leading dot; empty if the folder is gone.
    ///
    /// - Throws: `Fault` if it cannot be read.
    func files(in folder: BytePath, of place: PlaceInfo) throws -> [Neighbour]

    /// The files in all places that have, or may have, that content.
    func contents(ofSize size: Int64, _ hash: ContentHash) throws -> [ContentPlace]

    /// Whether that file exists now and has the content. False if it cannot be read.
    ///
    /// - Throws: `CancellationError` once the agent stops.
    func holds(_ other: ContentPlace, _ hash: ContentHash) throws -> Bool

    /// The root of a place; nil if it is not configured.
    func root(of place: String) -> BytePath?
}

/// The sources for conditions beyond the file's own content.
package struct FactSources: Sendable {
    /// No sources: conditions that need them are undecided.
    package static let none = FactSources()

    /// nil if nothing on disk but the file may be read.
    let surroundings: (any FileSurroundings)?
    /// Parses content; nil if no parser is available.
    let inspector: (any ContentInspector)?
    /// An unconfirmed jump of the clock.
    let heldTime: @Sendable () -> HeldTime?

    package init(
        surroundings: (any FileSurroundings)? = nil, inspector: (any ContentInspector)? = nil,
        heldTime: @escaping @Sendable () -> HeldTime? = { nil }
    ) {
        (self.surroundings, self.inspector, self.heldTime) = (surroundings, inspector, heldTime)
    }
}

extension FileFacts {
    /// - Throws: `Fault` if the surroundings may not be read.
    func around() throws -> any FileSurroundings {
        guard let surroundings = sources.surroundings else {
            throw Fault(.failed, "what lies around \(absolute) has not been looked at", path: absolute)
        }
        return surroundings
    }

    /// The files in its folder, including itself. Blocks.
    func neighbours() throws -> [Neighbour] {
        if let knownNeighbours { return knownNeighbours }
        let found = try around().files(in: path.parent, of: place)
        knownNeighbours = found
        return found
    }

    /// The files that have, or may have, its content, including itself if the ledger knows it; nil if it has no
    /// content. Blocks.
    func sameContents() throws -> [ContentPlace]? {
        if let known = askedContents { return known }
        guard let size = status?.size, let hash = try contentHash() else { return nil }
        let found = try around().contents(ofSize: size, hash)
        askedContents = found
        return found
    }
}
