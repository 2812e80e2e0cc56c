/// The formats of comics and other archives. All code that detects, opens, names or describes a format uses its
/// ``traits``.
///
/// The raw strings are part of stored data and must not change.
package enum ArchiveFormat: String, Sendable, Codable, CaseIterable {
    case zip, rar, rar5, sevenZip = "7z", tar
    /// Rendered by an external program, in the worker's second profile.
    case pdf
    /// A ZIP whose pages are in the order of its spine.
    case epub
    case unknown

    /// The properties of a format.
    package struct Traits: Sendable {
        /// As people write it: `RAR`, for every version.
        package let name: String
        /// With its version: `RAR 4`.
        package let fullName: String
        /// The file extension, in lower case and without a dot.
        package let ending: String
        /// The extension of comics in this format; nil if the format is not an archive, and for `epub`, which has no
        /// other.
        package let comicEnding: String?
        package let mediaType: String
        /// The media type of files with the comic extension.
        package let comicMediaType: String?
        /// libarchive's number for it, `ARCHIVE_FORMAT_…`; nil if libarchive does not support it.
        package let libarchive: Int32?
        /// Whether an entry can be reached only by reading those before it.
        package let isSequential: Bool
        /// Whether reading an entry requires unpacking all before it.
        package let isSolid: Bool
        /// How files are packed into it; nil if they are not.
        package let packing: PackFormat?
        /// Whether a file begins like this format.
        fileprivate let begins: @Sendable (_ head: [UInt8]) -> Bool

        fileprivate init(
            _ name: String, fullName: String? = nil, ending: String, _ mediaType: String,
            comic: (ending: String, mediaType: String)? = nil, libarchive: Int32? = nil, isSequential: Bool = false,
            isSolid: Bool = false, packing: PackFormat? = nil, begins: @escaping @Sendable (_ head: [UInt8]) -> Bool
        ) {
            (self.name, self.fullName, self.ending, self.mediaType) = (name, fullName ?? name, ending, mediaType)
            (comicEnding, comicMediaType, self.libarchive) = (comic?.ending, comic?.mediaType, libarchive)
            (self.isSequential, self.isSolid, self.packing, self.begins) = (isSequential, isSolid, packing, begins)
        }
    }

    package var traits: Traits {
        switch self {
        case .zip:
            Traits(
                "ZIP", ending: "zip", "application/zip", comic: ("cbz", "application/vnd.comicbook+zip"),
                libarchive: 0x5_0000,
                packing: PackFormat("zip", "opens anywhere", libarchive: 0x5_0000, takesRawNames: false)
            ) { Self.isZip($0) && !Self.isEPUB($0) }
        case .rar:
            Traits(
                "RAR", fullName: "RAR 4", ending: "rar", "application/vnd.rar",
                comic: ("cbr", "application/vnd.comicbook-rar"), libarchive: 0xD_0000, isSequential: true
            ) { $0.starts(with: Self.rarMark) && !$0.starts(with: Self.rar5Mark) }
        case .rar5:
            Traits(
                "RAR", fullName: "RAR 5", ending: "rar", "application/vnd.rar",
                comic: ("cbr", "application/vnd.comicbook-rar"), libarchive: 0x10_0000, isSequential: true
            ) { $0.starts(with: Self.rar5Mark) }
        case .sevenZip:
            // Nearly every 7z is one solid block, so each gets the time of one.
            Traits(
                "7z", ending: "7z", "application/x-7z-compressed", comic: ("cb7", "application/x-cb7"),
                libarchive: 0xE_0000, isSequential: true, isSolid: true
            ) { $0.starts(with: [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]) }
        case .tar:
            Traits(
                "TAR", ending: "tar", "application/x-tar", comic: ("cbt", "application/x-cbt"), libarchive: 0x3_0000,
                isSequential: true,
                // Restricted pax: extended headers only where they are needed.
                packing: PackFormat(
                    "tar.zst", "is smaller and quicker", libarchive: 0x3_0003, .zstd, takesRawNames: true),
                begins: Self.isTar)
        case .pdf: Traits("PDF", ending: "pdf", "application/pdf") { $0.starts(with: "%PDF-".utf8) }
        case .epub:
            Traits("EPUB", ending: "epub", "application/epub+zip", libarchive: 0x5_0000, begins: Self.isEPUB)
        case .unknown: Traits("UNKNOWN", ending: "", "application/octet-stream") { _ in false }
        }
    }
}

extension ArchiveFormat {
    /// How many leading bytes ``detect(_:)`` needs.
    package static let headLength = 1024

    /// The formats whose entries may be files of any kind.
    package static let archives = allCases.filter { $0.traits.comicEnding != nil }

    /// The formats by file extension, with every extension.
    package static let endings: [String: ArchiveFormat] = Dictionary(
        allCases.filter { $0 != .unknown }.flatMap { format in
            [format.traits.ending, format.traits.comicEnding].compactMap { $0 }.map { ($0, format) }
        }, uniquingKeysWith: { first, _ in first })

    /// Detects a file's format by its first bytes alone.
    ///
    /// - Parameter head: the first ``headLength`` bytes, or all of a shorter file.
    package static func detect(_ head: [UInt8]) -> ArchiveFormat {
        allCases.first { $0.traits.begins(head) } ?? .unknown
    }

    /// The media type for a file extension; nil if it is none of these formats.
    package static func mediaType(ofEnding ending: String) -> String? {
        guard let traits = endings[ending]?.traits else { return nil }
        return ending == traits.comicEnding ? traits.comicMediaType : traits.mediaType
    }

    /// `ZIP`, `RAR`, `7z`, …
    package static let archiveNames = distinct(archives.map(\.traits.name))
    /// Comics as people call them: `CBZ`, `CBR`, …, `PDF`, `EPUB`.
    package static let comicNames = comicArchiveNames + documentNames
    /// The comic names, and the names of plain archives.
    package static let allNames = comicArchiveNames + archiveNames + documentNames

    private static let comicArchiveNames = distinct(archives.compactMap { $0.traits.comicEnding?.uppercased() })
    private static let documentNames = [pdf, epub].map(\.traits.name)

    private static func distinct(_ names: [String]) -> [String] {
        names.enumerated().filter { names.firstIndex(of: $1) == $0 }.map(\.element)
    }

    /// The start of every RAR; in RAR 1.5 to 4, a NUL follows.
    package static let rarMark: [UInt8] = Array("Rar!".utf8) + [0x1A, 0x07]
    package static let rar5Mark = rarMark + [0x01, 0x00]

    private static func isZip(_ head: [UInt8]) -> Bool {
        head.count >= 4 && head.starts(with: "PK".utf8) && [[3, 4], [5, 6], [7, 8]].contains([head[2], head[3]])
    }

    /// An EPUB's first entry is `mimetype`, stored, with the media type as its content.
    private static func isEPUB(_ head: [UInt8]) -> Bool {
        guard isZip(head), head.count >= 58, head[2] == 3, head[8] == 0, head[9] == 0 else { return false }
        let nameLength = Int(head[26]) | Int(head[27]) << 8
        let extraLength = Int(head[28]) | Int(head[29]) << 8
        return nameLength == 8 && head[30...].starts(with: "mimetype".utf8)
            && head.dropFirst(38 + extraLength).starts(with: "application/epub+zip".utf8)
    }

    /// Checks the first header's checksum, because old archives lack the `ustar` mark.
    private static func isTar(_ head: [UInt8]) -> Bool {
        guard head.count >= 512, head[0] != 0 else { return false }
        let digits = head[148..<156].drop { $0 == 0x20 }.prefix { (0x30...0x37).contains($0) }
        guard !digits.isEmpty, let stated = Int(String(decoding: digits, as: UTF8.self), radix: 8) else { return false }
        let header = head[..<148] + Array(repeating: 0x20, count: 8) + head[156..<512]
        // Some old programs summed signed bytes.
        return header.reduce(0) { $0 + Int($1) } == stated
            || header.reduce(0) { $0 + Int(Int8(bitPattern: $1)) } == stated
    }
}

extension [String] {
    /// `a, b or c`.
    package var alternatives: String {
        count < 2 ? joined() : dropLast().joined(separator: ", ") + " or \(self[count - 1])"
    }
}
