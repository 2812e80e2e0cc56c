import Platform

/// The worker's messages to the agent, one per frame: length (4 bytes, little-endian), kind (1 byte), fields.
///
/// The agent trusts none of it: the frame reader checks every length, and the judge every number.
package enum WorkerRecord: Sendable, Equatable {
    /// The worker's own scan of the container, before any entry is read.
    case structure(ArchiveStructure)
    /// One header, of any kind.
    case header(EntryHeader)
    /// The result of reading an entry's bytes to the end.
    case content(EntryContent)
    /// Bytes of the entry at `position`: of a metadata file, or of a page that was requested.
    case bytes(position: Int, [UInt8])
    /// For an EPUB, after all headers: which of its pictures are pages, and in which order.
    case order(EpubOrder)
    /// The last record: why the worker stopped.
    case end(WorkerEnd)

    /// The size of the largest frame: a part of a metadata file with its fields.
    package static let frameLimit = 300_000

    /// The whole frame, length first.
    package func encoded() -> [UInt8] {
        var out = RecordWriter()
        switch self {
        case .structure(let structure):
            out.number(1, bytes: 1)
            out.blob(Array(structure.format.rawValue.utf8))
            out.number(UInt64(structure.traits.rawValue), bytes: 2)
        case .header(let header):
            out.number(2, bytes: 1)
            out.number(UInt64(header.position), bytes: 4)
            out.number(UInt64(header.kind.rawValue), bytes: 1)
            out.number(header.isEncrypted ? 1 : 0, bytes: 1)
            out.number(UInt64(bitPattern: header.declaredSize), bytes: 8)
            out.blob(header.path)
            if let place = header.place {
                out.number(UInt64(bitPattern: place.offset), bytes: 8)
                out.number(UInt64(bitPattern: place.size), bytes: 8)
                out.number(UInt64(place.method), bytes: 2)
                out.number(UInt64(place.flags), bytes: 2)
                out.number(UInt64(place.crc32), bytes: 4)
            }
        case .content(let content):
            out.number(3, bytes: 1)
            out.number(UInt64(content.position), bytes: 4)
            out.number(UInt64(content.state.rawValue), bytes: 1)
            out.number(UInt64(bitPattern: content.size), bytes: 8)
            out.number(UInt64(content.crc32), bytes: 4)
            out.blob(content.hash?.bytes ?? [])
            out.blob(Array((content.image?.format.rawValue ?? "").utf8))
            out.number(UInt64(max(0, content.image?.width ?? 0)), bytes: 4)
            out.number(UInt64(max(0, content.image?.height ?? 0)), bytes: 4)
            out.blob(Array(content.message.utf8.prefix(300)))
        case .bytes(let position, let bytes):
            out.number(4, bytes: 1)
            out.number(UInt64(position), bytes: 4)
            out.blob(bytes)
        case .end(let end):
            out.number(5, bytes: 1)
            out.number(UInt64(end.reason.rawValue), bytes: 1)
            out.blob(Array(end.message.utf8.prefix(300)))
        case .order(let order):
            out.number(6, bytes: 1)
            out.number(order.isEncrypted ? 1 : 0, bytes: 1)
            out.number(UInt64(order.pages.count), bytes: 4)
            for position in order.pages { out.number(UInt64(position), bytes: 4) }
            for line in order.damage.prefix(EpubOrder.mostDamage) {
                out.blob(Array(line.utf8.prefix(EpubOrder.damageLength)))
            }
        }
        return out.frame
    }

    /// Reads a frame's body, without its length.
    ///
    /// - Throws: `Fault` if it is not part of the protocol, or has bytes left over.
    package init(body: [UInt8]) throws {
        var input = RecordReader(body)
        switch try input.number(1) {
        case 1:
            guard let format = ArchiveFormat(rawValue: try input.text()) else { throw RecordReader.nonsense }
            let traits = ArchiveStructure.Traits(rawValue: UInt16(try input.number(2)))
            self = .structure(ArchiveStructure(format: format, traits: traits))
        case 2:
            let position = Int(try input.number(4))
            guard let kind = EntryHeader.Kind(rawValue: UInt8(try input.number(1))) else { throw RecordReader.nonsense }
            var header = EntryHeader(
                position: position, kind: kind, isEncrypted: try input.number(1) != 0,
                declaredSize: Int64(bitPattern: try input.number(8)), path: try input.blob())
            if !input.isAtEnd {
                let place = ZipPlace(
                    offset: Int64(bitPattern: try input.number(8)), size: Int64(bitPattern: try input.number(8)),
                    method: UInt16(try input.number(2)), flags: UInt16(try input.number(2)),
                    crc32: UInt32(try input.number(4)))
                guard place.offset >= 0, place.size >= 0 else { throw RecordReader.nonsense }
                header.place = place
            }
            guard header.path.count <= ArchiveLimits.maxNameLength + 1 else { throw RecordReader.nonsense }
            self = .header(header)
        case 3:
            let position = Int(try input.number(4))
            guard let state = EntryContent.State(rawValue: UInt8(try input.number(1))) else {
                throw RecordReader.nonsense
            }
            let size = Int64(bitPattern: try input.number(8))
            let crc32 = UInt32(try input.number(4))
            let hash = try input.blob()
            let format = try input.text()
            let width = Int(try input.number(4))
            let height = Int(try input.number(4))
            guard size >= 0, hash.isEmpty || hash.count == 32 else { throw RecordReader.nonsense }
            let image = ImageHeader.Format(rawValue: format).map {
                ImageHeader(format: $0, width: width, height: height)
            }
            guard format.isEmpty == (image == nil) else { throw RecordReader.nonsense }
            self = .content(
                EntryContent(
                    position: position, state: state, size: size, crc32: crc32, hash: ContentHash(bytes: hash),
                    image: image,
                    message: try input.text()))
        case 4:
            self = .bytes(position: Int(try input.number(4)), try input.blob())
        case 5:
            guard let reason = WorkerEnd.Reason(rawValue: UInt8(try input.number(1))) else {
                throw RecordReader.nonsense
            }
            self = .end(WorkerEnd(reason: reason, message: try input.text()))
        case 6:
            var order = EpubOrder(isEncrypted: try input.number(1) != 0)
            let count = Int(try input.number(4))
            guard count <= ArchiveLimits.maxHeaderCount else { throw RecordReader.nonsense }
            for _ in 0..<count { order.pages.append(Int(try input.number(4))) }
            // Not escaped a second time if the worker has escaped it.
            while !input.isAtEnd {
                order.damage.append(ShownText.line(String(decoding: try input.blob(), as: UTF8.self)))
            }
            self = .order(order)
        default:
            throw RecordReader.nonsense
        }
        guard input.isAtEnd else { throw RecordReader.nonsense }
    }
}

/// One header of an archive.
package struct EntryHeader: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        case file = 1, folder, link, other
        /// The header itself is damaged: it has no name, and its content describes the problem.
        case unreadable
    }

    /// Numbers all headers from 0.
    package var position: Int
    package var kind: Kind
    package var isEncrypted: Bool
    /// The size that the header claims; -1 if none. Never trustworthy.
    package var declaredSize: Int64
    package var path: [UInt8]
    /// For a page in a ZIP that is inspected; nil if unknown.
    package var place: ZipPlace?

    package init(position: Int, kind: Kind, isEncrypted: Bool, declaredSize: Int64, path: [UInt8]) {
        (self.position, self.kind, self.isEncrypted) = (position, kind, isEncrypted)
        (self.declaredSize, self.path) = (declaredSize, path)
    }
}

/// The result of reading one entry.
package struct EntryContent: Sendable, Equatable {
    package enum State: UInt8, Sendable {
        case whole = 1
        /// A checksum or the decoder shows that these are not the original bytes.
        case damaged
        /// More bytes than an entry may have; reading stopped there.
        case oversize
    }

    package var position: Int
    package var state: State
    /// Inflated bytes.
    package var size: Int64
    package var crc32: UInt32
    /// SHA-256, if requested.
    package var hash: ContentHash?
    /// nil if the bytes do not start like a picture.
    package var image: ImageHeader?
    /// The problem; even an intact entry has a message if it is no picture that can be shown.
    package var message: String

    package init(
        position: Int, state: State, size: Int64, crc32: UInt32, hash: ContentHash?, image: ImageHeader?,
        message: String
    ) {
        (self.position, self.state, self.size, self.crc32) = (position, state, size, crc32)
        (self.hash, self.image, self.message) = (hash, image, message)
    }
}

/// Why the worker stopped.
package struct WorkerEnd: Sendable, Equatable {
    package enum Reason: UInt8, Sendable {
        case complete = 1
        /// libarchive cannot continue: damaged, truncated, or not an archive.
        case unreadable
        case tooManyHeaders, tooManyNames, tooManyPages, tooManyBytes, ratio, overlap
        /// The worker could not lock itself down, and read nothing.
        case noCage
        /// The compressed stream with all entries is damaged; it is impossible to tell which entries are affected.
        case damagedStream
    }

    package var reason: Reason
    package var message: String

    package init(reason: Reason, message: String) { (self.reason, self.message) = (reason, message) }
}

private struct RecordWriter {
    private var body: [UInt8] = []

    mutating func number(_ value: UInt64, bytes: Int) {
        for index in 0..<bytes { body.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
    }

    mutating func blob(_ bytes: [UInt8]) {
        number(UInt64(bytes.count), bytes: 4)
        body += bytes
    }

    var frame: [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: body.count >> (8 * $0)) } + body
    }
}

private struct RecordReader {
    static let nonsense = Fault(.refused, "the unpacking process answered with something that is not a record")

    private var rest: ArraySlice<UInt8>

    init(_ body: [UInt8]) { rest = body[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number(_ count: Int) throws -> UInt64 {
        guard rest.count >= count else { throw Self.nonsense }
        var value: UInt64 = 0
        for (index, byte) in rest.prefix(count).enumerated() { value |= UInt64(byte) << UInt64(8 * index) }
        rest = rest.dropFirst(count)
        return value
    }

    mutating func blob() throws -> [UInt8] {
        let count = Int(try number(4))
        guard count <= rest.count else { throw Self.nonsense }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Text for people: escapes invalid UTF-8 and control characters.
    mutating func text() throws -> String { BytePath.escape(try blob()) }
}

/// The worker's exit statuses if a program or library that it needs is unusable; numbers of sysexits.h.
package enum WorkerStatus {
    /// A dependency is not installed.
    package static let notInstalled: Int32 = 69
    /// It could not be locked down.
    package static let notCaged: Int32 = 70
}
