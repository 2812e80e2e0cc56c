import Platform

/// Length and dimensions of a video, from the headers of MP4, MOV, Matroska, WebM and AVI: two boxes or elements each,
/// which is not worth a library with sixty others. Decodes nothing; every offset is checked, every loop bounded.
struct VideoHeader {
    /// Seconds.
    var duration: Double?
    var width: Int?
    var height: Int?
    var title: String?

    private static let mostSteps = 10_000

    /// - Returns: nil if it is none of these.
    static func read(_ file: HandedFile) throws -> VideoHeader? {
        let head = try file.read(at: 0, count: 16)
        var header = VideoHeader()
        if head.count >= 12, head[4..<8].elementsEqual("ftyp".utf8) {
            try header.boxes(file, 0..<file.size)
            return header
        }
        if head.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) {
            try header.elements(file, 0..<file.size)
            return header
        }
        if head.starts(with: "RIFF".utf8), head.count >= 12, head[8..<12].elementsEqual("AVI ".utf8) {
            try header.avi(file)
            return header
        }
        return nil
    }

    // MARK: - ISO 14496-12

    private mutating func boxes(_ file: HandedFile, _ range: Range<Int64>) throws {
        var open = [range]
        var steps = 0
        while let here = open.popLast() {
            var at = here.lowerBound
            while at <= here.upperBound - 8, steps < Self.mostSteps {
                steps += 1
                let head = try file.read(at: at, count: 16)
                guard head.count >= 8 else { break }
                var (size, length) = (Int64(clamping: Self.big(head[..<4])), Int64(8))
                if size == 1, head.count == 16 {
                    (size, length) = (Int64(clamping: Self.big(head[8..<16])), 16)
                } else if size == 0 {
                    size = here.upperBound - at
                }
                guard size >= length, size <= here.upperBound - at else { break }
                let inside = (at + length)..<(at + size)
                switch String(decoding: head[4..<8], as: UTF8.self) {
                case "moov", "trak": open.append(inside)
                case "mvhd": movie(try file.read(at: inside.lowerBound, count: 32))
                case "tkhd": try track(file.read(at: inside.lowerBound, count: 96))
                default: break
                }
                at += size
            }
        }
    }

    private mutating func movie(_ body: [UInt8]) {
        guard let version = body.first else { return }
        let (scaleAt, width) = version == 1 ? (20, 8) : (12, 4)
        guard body.count >= scaleAt + 4 + width else { return }
        let scale = Self.big(body[scaleAt..<scaleAt + 4])
        let length = Self.big(body[(scaleAt + 4)..<(scaleAt + 4 + width)])
        // All ones: unknown.
        guard scale > 0, length != (width == 8 ? .max : UInt64(UInt32.max)) else { return }
        duration = Double(length) / Double(scale)
    }

    private mutating func track(_ body: [UInt8]) {
        // Fixed-point numbers at the header's end; an audio track has none.
        let end = body.first == 1 ? 96 : 84
        guard body.count >= end else { return }
        let (wide, high) = (Self.big(body[(end - 8)..<(end - 4)]) >> 16, Self.big(body[(end - 4)..<end]) >> 16)
        if wide > UInt64(width ?? 0), high > 0 { (width, height) = (Int(wide), Int(high)) }
    }

    // MARK: - EBML (RFC 8794) and Matroska (RFC 9559)

    private mutating func elements(_ file: HandedFile, _ range: Range<Int64>) throws {
        var open = [range]
        var steps = 0
        var scale: Double = 1_000_000
        var length: Double?
        while let here = open.popLast() {
            var at = here.lowerBound
            while at < here.upperBound, steps < Self.mostSteps {
                steps += 1
                let head = try file.read(at: at, count: 12)
                guard let (id, idLength) = Self.number(head[...], keepsMark: true),
                    let (size, sizeLength) = Self.number(head[idLength...], keepsMark: false)
                else { break }
                let start = at + Int64(idLength + sizeLength)
                // Of unknown length: extends to the end of its parent.
                let isOpen = size == (UInt64(1) << UInt64(7 * sizeLength)) - 1
                let end = isOpen ? here.upperBound : start.addingReportingOverflow(Int64(clamping: size)).partialValue
                guard end >= start, end <= here.upperBound else { break }
                switch id {
                case 0x1853_8067, 0x1549_A966, 0x1654_AE6B, 0xAE, 0xE0: open.append(start..<end)
                case 0x2AD7B1: scale = Double(Self.big(try file.read(at: start, count: Int(min(8, end - start)))[...]))
                case 0x4489: length = Self.float(try file.read(at: start, count: Int(min(8, end - start))))
                case 0x7BA9:
                    let bytes = try file.read(at: start, count: Int(min(1_000, end - start)))
                    title = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                case 0xB0:
                    width = Int(clamping: Self.big(try file.read(at: start, count: Int(min(4, end - start)))[...]))
                case 0xBA:
                    height = Int(clamping: Self.big(try file.read(at: start, count: Int(min(4, end - start)))[...]))
                default: break
                }
                at = end
            }
        }
        if let length, length.isFinite, length > 0, scale > 0 { duration = length * scale / 1e9 }
    }

    /// A number whose first byte encodes its length.
    private static func number(_ bytes: ArraySlice<UInt8>, keepsMark: Bool) -> (value: UInt64, length: Int)? {
        guard let first = bytes.first, first != 0 else { return nil }
        let length = first.leadingZeroBitCount + 1
        guard bytes.count >= length else { return nil }
        let whole = big(bytes.prefix(length))
        return (keepsMark ? whole : whole & ((UInt64(1) << UInt64(7 * length)) - 1), length)
    }

    private static func float(_ bytes: [UInt8]) -> Double? {
        switch bytes.count {
        case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: big(bytes[...]))))
        case 8: Double(bitPattern: big(bytes[...]))
        default: nil
        }
    }

    // MARK: - AVI

    /// The main header comes first, as the format requires.
    private mutating func avi(_ file: HandedFile) throws {
        let head = try file.read(at: 12, count: 20 + 56)
        guard head.count == 76, head[8..<12].elementsEqual("hdrl".utf8), head[12..<16].elementsEqual("avih".utf8) else {
            return
        }
        func little(_ at: Int) -> UInt64 { Self.big(head[(20 + at)..<(24 + at)].reversed()) }
        duration = Double(little(0)) * Double(little(16)) / 1e6
        (width, height) = (Int(clamping: little(32)), Int(clamping: little(36)))
    }

    private static func big(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
