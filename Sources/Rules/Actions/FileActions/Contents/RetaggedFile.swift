import Platform
import Sandbox

/// A file with new tags: ranges of the old file interleaved with new bytes. A worker that parsed hostile input produced
/// it, so each range is checked against the file.
package struct RetaggedFile: Sendable, Equatable {
    package enum Piece: Sendable, Equatable {
        case kept(Range<Int64>)
        case own([UInt8])
    }

    package private(set) var pieces: [Piece] = []
    private let size: Int64
    private var written: Int64 = 0
    private var length: Int64 = 0

    /// - Parameter size: of the old file.
    init(size: Int64) { self.size = size }

    /// - Returns: false if the piece is invalid.
    mutating func add(_ piece: Piece) -> Bool {
        switch piece {
        case .kept(let range):
            guard range.lowerBound >= 0, range.upperBound <= size, !range.isEmpty else { return false }
            length += range.upperBound - range.lowerBound
        case .own(let bytes):
            written += Int64(bytes.count)
            length += Int64(bytes.count)
        }
        // Repeating ranges could turn a small file into a huge one.
        guard written <= ContentLimits.ownTagBytes, length <= size + ContentLimits.ownTagBytes,
            pieces.count < ContentLimits.tagPieces
        else { return false }
        pieces.append(piece)
        return true
    }

    /// Assembles the new file. Blocks.
    ///
    /// - Parameter put: called with each part in order.
    package func write(from old: Descriptor, _ put: ([UInt8]) throws -> Void) throws {
        for piece in pieces {
            switch piece {
            case .own(let bytes): try put(bytes)
            case .kept(let range):
                var at = range.lowerBound
                while at < range.upperBound {
                    let part = try old.read(at: at, count: Int(min(range.upperBound - at, 1 << 20)))
                    guard !part.isEmpty else {
                        throw Fault(.superseded, "\(old.path) has become shorter while it was read", path: old.path)
                    }
                    try put(part)
                    at += Int64(part.count)
                }
            }
        }
    }
}

extension ContentWorker {
    /// Builds the retagged version of an open audio file; an empty value removes the tag. Blocks.
    ///
    /// - Throws: `Fault(.refused)` if the file is to blame; another if the machine is.
    package func retag(_ tags: [MediaTag: String], in file: Descriptor) throws -> RetaggedFile {
        let words = tags.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
        var made = RetaggedFile(size: try file.status().size)
        let trouble = try hear(["tag"] + words, file) { record in
            switch record {
            case .kept(let offset, let length):
                let (end, isTooLarge) = offset.addingReportingOverflow(length)
                return !isTooLarge && length > 0 && offset >= 0 && made.add(.kept(offset..<end))
            case .own(let bytes): return made.add(.own(bytes))
            case .end: return true
            case .field, .text, .entry: return false
            }
        }
        if let trouble { throw Fault(.refused, "the tags of \(file.path) cannot be set: \(trouble)", path: file.path) }
        return made
    }
}
