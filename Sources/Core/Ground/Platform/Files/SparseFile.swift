import CLinux
import Glibc

/// Reads files by their data extents, so that holes take no time and survive a copy. Blocks.
package enum SparseFile {
    private static let step = 262_144
    private static let zeros = [UInt8](repeating: 0, count: step)

    /// The hash of all bytes; holes count as zeros but are not read.
    ///
    /// - Parameter isOver: called between parts; true cancels.
    /// - Throws: `CancellationError` if `isOver` returned true; `Fault`.
    package static func hash(_ file: Descriptor, until isOver: () -> Bool = { false }) throws -> ContentHash {
        var hasher = StreamingHash()
        try walk(file) { part in
            if isOver() { throw CancellationError() }
            switch part {
            case .data(let bytes, _): hasher.update(bytes)
            case .hole(let count):
                zeros.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            }
        }
        return hasher.finish()
    }

    /// Copies all bytes to an empty file, preserving holes.
    ///
    /// - Returns: the hash of the copied data.
    package static func copy(_ file: Descriptor, to copy: Descriptor) throws -> ContentHash {
        var hasher = StreamingHash()
        var size: Int64 = 0
        var endsInHole = false
        try walk(file) { part in
            switch part {
            case .data(let bytes, let offset):
                hasher.update(bytes)
                try copy.write(bytes, at: offset)
                size += Int64(bytes.count)
                endsInHole = false
            case .hole(let count):
                zeros.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
                size += Int64(count)
                endsInHole = true
            }
        }
        if endsInHole { try copy.truncate(to: size) }
        return hasher.finish()
    }

    private enum Part {
        case data([UInt8], at: Int64)
        /// That many zeros, never more than `step`.
        case hole(Int)
    }

    /// Stops at the file's current end, so that a file that keeps growing does not occupy us forever.
    private static func walk(_ file: Descriptor, _ visit: (Part) throws -> Void) throws {
        let size = try file.status().size
        // Files in /proc have no size and are read to their end.
        let limit = size == 0 ? Int64.max : size
        var offset: Int64 = 0
        while true {
            guard offset < limit else { return }
            guard let next = nextData(file, from: offset) else { return try zeros(from: offset, to: size, visit) }
            try zeros(from: offset, to: min(next, limit), visit)
            offset = next
            let end = min(nextHole(file, from: offset), limit)
            while offset < end {
                let part = try file.read(at: offset, count: Int(min(Int64(step), end - offset)))
                // The end of the file, which may have been truncated.
                if part.isEmpty { return }
                try visit(.data(part, at: offset))
                offset += Int64(part.count)
            }
        }
    }

    private static func zeros(from start: Int64, to end: Int64, _ visit: (Part) throws -> Void) throws {
        var offset = start
        while offset < end {
            let count = Int(min(Int64(step), end - offset))
            try visit(.hole(count))
            offset += Int64(count)
        }
    }

    /// nil if there is no more data. File systems without holes return the offset itself.
    private static func nextData(_ file: Descriptor, from offset: Int64) -> Int64? {
        let found = lseek(file.raw, off_t(offset), STEWARD_SEEK_DATA)
        if found >= 0 { return Int64(found) }
        return errno == ENXIO ? nil : offset
    }

    private static func nextHole(_ file: Descriptor, from offset: Int64) -> Int64 {
        let found = lseek(file.raw, off_t(offset), STEWARD_SEEK_HOLE)
        return found > offset ? Int64(found) : .max
    }
}
