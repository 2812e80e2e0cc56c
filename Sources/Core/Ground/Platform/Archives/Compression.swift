/// The compressions of a TAR; compressed bytes are not searched for anything else.
package enum Compression: CaseIterable, Sendable {
    case gzip, xz, zstd, bzip2, lzip, lz4, lzma

    /// How many leading bytes ``detect(_:)`` needs.
    package static let headLength = 14

    /// - Parameter head: the first ``headLength`` bytes.
    package static func detect(_ head: some Collection<UInt8>) -> Compression? {
        let head = Array(head.prefix(headLength))
        return allCases.first { $0.begins(head) }
    }

    package var mediaType: String {
        switch self {
        case .gzip: "application/gzip"
        case .xz: "application/x-xz"
        case .zstd: "application/zstd"
        case .bzip2: "application/x-bzip2"
        case .lzip: "application/x-lzip"
        case .lz4: "application/x-lz4"
        case .lzma: "application/x-lzma"
        }
    }

    /// libarchive's number for it, `ARCHIVE_FILTER_…`.
    package var libarchive: Int32 {
        switch self {
        case .gzip: 1
        case .bzip2: 2
        case .lzma: 5
        case .xz: 6
        case .lzip: 9
        case .lz4: 13
        case .zstd: 14
        }
    }

    private func begins(_ head: [UInt8]) -> Bool {
        switch self {
        case .gzip: head.starts(with: [0x1F, 0x8B, 0x08])
        case .xz: head.starts(with: [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00])
        case .zstd: head.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        // The block size, then the first digits of pi.
        case .bzip2:
            head.starts(with: Array("BZh".utf8)) && (0x31...0x39).contains(head.dropFirst(3).first ?? 0)
                && head.dropFirst(4).starts(with: [0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
        case .lzip: head.starts(with: Array("LZIP".utf8) + [1])
        case .lz4: head.starts(with: [0x04, 0x22, 0x4D, 0x18])
        case .lzma: Self.isLZMA(head)
        }
    }

    /// A format without a magic number: checks for the properties that every program writes, a dictionary of 2^n or 2^n
    /// + 2^(n-1) bytes, and a size that is unknown or plausible.
    private static func isLZMA(_ head: [UInt8]) -> Bool {
        func number(_ range: Range<Int>) -> UInt64 { head[range].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        guard head.count >= 13, head[0] == 0x5D else { return false }
        let (dictionary, size) = (number(1..<5), number(5..<13))
        let isUsual = (12...30).contains { dictionary == 1 << $0 || dictionary == 3 << UInt64($0 - 1) }
        return isUsual && (size == .max || size < 1 << 38)
    }
}
