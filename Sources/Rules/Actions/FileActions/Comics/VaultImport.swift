import ComicArchive
import ComicVault
import Foundation
import JSONText
import Platform
import Rules

/// Intent to seal a comic in a vault. It names the file, but nothing inside it.
struct VaultImport: Codable, Sendable, Equatable {
    /// Fate of the source once the vault holds the comic.
    enum SourceDisposition: String, Codable, Sendable {
        case remove, keep, trash
    }

    enum CodingKeys: String, CodingKey {
        case vault, source, hash, disposition = "fate", keepsCopies, trashed, values, format, sealed
    }

    let vault: String
    let source: BytePath
    let hash: ContentHash
    let disposition: SourceDisposition
    /// Whether to seal the comic even if the vault holds the same content.
    let keepsCopies: Bool
    /// The source's place in the trash, if it goes there.
    let trashed: TrashedFile?
    /// For later steps. With hidden names, only the values that those steps write out themselves.
    let values: Values
    /// The archive's format, which is all that a deposit needs; nil in intents of older versions.
    var format: ArchiveFormat?
}

extension VaultImport {
    /// Fields that identify the archive. For a file with a hidden name the ledger stores them sealed.
    private struct Content: Codable {
        let hash: ContentHash
        let trashed: TrashedFile?
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        vault = try container.decode(String.self, forKey: .vault)
        source = try container.decode(BytePath.self, forKey: .source)
        disposition = try container.decode(SourceDisposition.self, forKey: .disposition)
        keepsCopies = try container.decode(Bool.self, forKey: .keepsCopies)
        values = try container.decode(Values.self, forKey: .values)
        format = try container.decodeIfPresent(ArchiveFormat.self, forKey: .format)
        guard let sealed = try container.decodeIfPresent(String.self, forKey: .sealed) else {
            hash = try container.decode(ContentHash.self, forKey: .hash)
            trashed = try container.decodeIfPresent(TrashedFile.self, forKey: .trashed)
            return
        }
        guard let coding = PathCoding.of(decoder.userInfo), let bytes = bytesOf(hexadecimal: sealed) else {
            throw DecodingError.dataCorruptedError(
                forKey: .sealed, in: container, debugDescription: "it is sealed, and there is no key to it")
        }
        let content = try JSONDecoder().decode(Content.self, from: Data(coding.open(bytes)))
        (hash, trashed) = (content.hash, content.trashed)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(vault, forKey: .vault)
        try container.encode(source, forKey: .source)
        try container.encode(disposition, forKey: .disposition)
        try container.encode(keepsCopies, forKey: .keepsCopies)
        try container.encode(values, forKey: .values)
        try container.encodeIfPresent(format, forKey: .format)
        guard let coding = PathCoding.of(encoder.userInfo), try coding.encode(source) != source else {
            try container.encode(hash, forKey: .hash)
            try container.encodeIfPresent(trashed, forKey: .trashed)
            return
        }
        let content = try JSONText.line(Content(hash: hash, trashed: trashed))
        try container.encode(hexadecimal(coding.seal(Array(content.utf8))), forKey: .sealed)
    }
}
