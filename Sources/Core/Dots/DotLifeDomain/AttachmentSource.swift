import Foundation

/// Where an attachment's bytes come from.
public enum PhotoSource: Hashable, Codable, Sendable {
    /// The bytes themselves.
    case data(Data)
    /// The bytes of the path of a file to copy: a file name on Linux need not be text.
    case file(path: [UInt8])
}

/// A file that is to become a capture's attachment.
public struct AttachmentSource: Hashable, Codable, Sendable {
    /// Where its bytes come from.
    public let content: PhotoSource
    /// What it is; nil lets its content say.
    public let type: AttachmentType?
    /// What it is called, without the folders that it lies in.
    public let originalName: [UInt8]?
    /// The SHA-256 that it must have, in 64 hexadecimal digits; nil takes what is there.
    public let sha256: String?

    /// A valid source.
    ///
    /// - Parameters:
    ///   - content: where its bytes come from.
    ///   - type: nil lets its content say.
    ///   - originalName: nil takes that of the file.
    ///   - sha256: what it must hold, in 64 hexadecimal digits; nil takes what is there.
    /// - Throws: ``ExperienceError/invalidData(_:)`` where the path is empty, the name is none that a file can have, or
    ///   the hash is none.
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

    /// Reads what was encoded, and checks it as ``init(_:type:originalName:sha256:)`` does.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            values.decode(PhotoSource.self, forKey: .content),
            type: values.decodeIfPresent(AttachmentType.self, forKey: .type),
            originalName: values.decodeIfPresent([UInt8].self, forKey: .originalName),
            sha256: values.decodeIfPresent(String.self, forKey: .sha256))
    }
}
