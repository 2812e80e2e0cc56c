import Foundation
import Glibc
import OwnFiles
import Platform

/// Writes a file line by line, with its first line last. Blocks.
struct LineWriter {
    private let file: Descriptor
    private var buffer: [UInt8] = []
    private var offset: Int64 = 0

    init(_ path: BytePath) throws {
        file = try Descriptor(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
    }

    mutating func write(_ line: Data) throws {
        buffer += line
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= 262_144 { try flush() }
    }

    private mutating func flush() throws {
        try file.write(buffer, at: offset)
        offset += Int64(buffer.count)
        buffer.removeAll(keepingCapacity: true)
    }

    /// - Parameter line: of the same length as the first one.
    mutating func finish(first line: Data) throws {
        try flush()
        try file.write(Array(line), at: 0)
        try file.sync()
    }
}

/// Reads a file line by line, with only one line in memory. Blocks.
struct LineReader {
    /// The maximum bytes of a line: a longer note is a mistake or an attack.
    static let limit = 64 << 20

    enum Line: Equatable {
        case whole([UInt8])
        case tooLong
        /// The last line has no line feed: the file may be truncated.
        case unended([UInt8])

        var isBlank: Bool {
            switch self {
            case .tooLong: false
            case .whole(let bytes), .unended(let bytes): bytes.allSatisfy { [0x20, 0x0D, 0x09].contains($0) }
            }
        }
    }

    private let file: Descriptor
    private var buffer: [UInt8] = []
    private var at = 0
    private var offset: Int64 = 0
    private var isAtEnd = false

    init(_ file: Descriptor) { self.file = file }

    mutating func next() throws -> Line? {
        var line: [UInt8] = []
        var isTooLong = false
        while true {
            if at == buffer.count {
                if isAtEnd { break }
                buffer = try file.read(at: offset, count: 262_144)
                (at, offset, isAtEnd) = (0, offset + Int64(buffer.count), buffer.isEmpty)
                continue
            }
            let end = buffer[at...].firstIndex(of: UInt8(ascii: "\n"))
            if !isTooLong { line += buffer[at..<(end ?? buffer.count)] }
            isTooLong = isTooLong || line.count > Self.limit
            if isTooLong { line = [] }
            at = end.map { $0 + 1 } ?? buffer.count
            if end != nil { return isTooLong ? .tooLong : .whole(line) }
        }
        if isTooLong { return .tooLong }
        return line.isEmpty ? nil : .unended(line)
    }
}
