import Ledger
import Platform

/// A regular file beside the one that is judged.
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

/// What conditions may ask beyond the file itself: what lies beside it, and what the ledger knows of other files. Everything
/// blocks.
package protocol FileSurroundings: Sendable {
    /// The regular files in a folder of the place, but for those whose names begin with a dot; none where the folder is gone.
    ///
    /// - Throws: `Fault` where it cannot be read.
    func files(in folder: BytePath, of place: PlaceInfo) throws -> [Neighbour]

    /// The files that have, or may have, that content, in all places.
    func contents(ofSize size: Int64, _ hash: ContentHash) throws -> [ContentPlace]

    /// Whether that file is there now, and holds the content. What cannot be read does not.
    ///
    /// - Throws: `CancellationError` once the agent stops.
    func holds(_ other: ContentPlace, _ hash: ContentHash) throws -> Bool

    /// Where that place's files lie; nil for one that is not configured.
    func root(of place: String) -> BytePath?
}

/// Whom conditions ask about a file, beyond what it holds itself.
package struct FactSources: Sendable {
    /// Nobody: what needs them is not decided.
    package static let none = FactSources()

    /// Nil where nothing but the file, and nothing of the disk, is to be looked at.
    let surroundings: (any FileSurroundings)?
    /// Looks into the content, where a parser is needed; nil: nobody does.
    let inspector: (any ContentInspector)?
    /// What of the clock does not count yet.
    let heldTime: @Sendable () -> HeldTime?

    package init(
        surroundings: (any FileSurroundings)? = nil, inspector: (any ContentInspector)? = nil,
        heldTime: @escaping @Sendable () -> HeldTime? = { nil }
    ) {
        (self.surroundings, self.inspector, self.heldTime) = (surroundings, inspector, heldTime)
    }
}

extension FileFacts {
    /// - Throws: `Fault` where only what can be told without a look is asked for.
    func around() throws -> any FileSurroundings {
        guard let surroundings = sources.surroundings else {
            throw Fault(.failed, "what lies around \(absolute) has not been looked at", path: absolute)
        }
        return surroundings
    }

    /// The files in its folder, itself among them. Blocks.
    func neighbours() throws -> [Neighbour] {
        if let knownNeighbours { return knownNeighbours }
        let found = try around().files(in: path.parent, of: place)
        knownNeighbours = found
        return found
    }

    /// The files that have, or may have, its content, itself among them where the ledger knows it; nil where it has no
    /// content. Blocks.
    func sameContents() throws -> [ContentPlace]? {
        if let known = askedContents { return known }
        guard let size = status?.size, let hash = try contentHash() else { return nil }
        let found = try around().contents(ofSize: size, hash)
        askedContents = found
        return found
    }
}
