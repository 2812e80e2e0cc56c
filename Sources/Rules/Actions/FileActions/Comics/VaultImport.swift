import ComicArchive
import ComicVault
import Foundation
import JSONText
import Platform
import Rules

/// A comic that goes into a vault, decided. It names the file, and nothing that is in it.
struct VaultImport: Codable, Sendable, Equatable {
    /// What becomes of the source once the vault has it.
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
    /// Whether it is sealed although the vault holds the very same.
    let keepsCopies: Bool
    /// Where the source goes, if it goes into the trash.
    let trashed: TrashedFile?
    /// For later steps; where names are hidden, those alone that these steps write somewhere themselves.
    let values: Values
    /// Of the archive, which is all that a deposit has to know of it; nil in what an agent of before has decided.
    var format: ArchiveFormat?
}

extension VaultImport {
    /// What tells which archive it is. Of a file whose name is hidden the ledger holds it sealed.
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
