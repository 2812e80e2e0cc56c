import Foundation

/// The source of an attachment's bytes.
public enum PhotoSource: Hashable, Codable, Sendable {
    /// The bytes themselves.
    case data(Data)
    /// The path of a file to copy. Bytes, because a file name on Linux need not be text.
    case file(path: [UInt8])
}

/// A file to be stored as a capture's attachment.
public struct AttachmentSource: Hashable, Codable, Sendable {
    /// The source of its bytes.
    public let content: PhotoSource
    /// Its type; nil derives it from the content.
    public let type: AttachmentType?
    /// Its name, without folders.
    public let originalName: [UInt8]?
    /// The expected SHA-256, in 64 hexadecimal digits; nil accepts any content.
    public let sha256: String?

    /// A valid source.
    ///
    /// - Parameters:
    ///   - content: the source of its bytes.
    ///   - type: nil derives it from the content.
    ///   - originalName: nil uses the file's name.
    ///   - sha256: the expected hash, in 64 hexadecimal digits; nil accepts any content.
    /// - Throws: ``ExperienceError/invalidData(_:)`` if the path is empty, or the name or hash is invalid.
    public init(
        _ content: PhotoSource, type: AttachmentType? = nil, originalName: [UInt8]? = nil, sha256: String? = nil
    ) throws {
        var name = originalName
        if case .file(let path) = content {
            guard !path.isEmpty, !path.contains(0) else {
                throw ExperienceError.invalidData("An attachment needs the path of a file")
            }
            name = name ?? path.split(separator: UInt8(ascii: "/")).last.map { Array($0) }
        }
        if let name {
            guard (1...255).contains(name.count), !name.contains(0), !name.contains(UInt8(ascii: "/")) else {
                throw ExperienceError.invalidData("An attachment's name must be that of a file, without its folders")
            }
        }
        if let sha256 {
            guard sha256.utf8.count == 64, sha256.utf8.allSatisfy(Self.isDigit) else {
                throw ExperienceError.invalidData("An attachment's SHA-256 must be 64 hexadecimal digits")
            }
        }
        self.content = content
        self.type = type
        self.originalName = name
        self.sha256 = sha256?.lowercased()
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    /// Decodes a source and validates it like ``init(_:type:originalName:sha256:)``.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            values.decode(PhotoSource.self, forKey: .content),
            type: values.decodeIfPresent(AttachmentType.self, forKey: .type),
            originalName: values.decodeIfPresent([UInt8].self, forKey: .originalName),
            sha256: values.decodeIfPresent(String.self, forKey: .sha256))
    }
}
