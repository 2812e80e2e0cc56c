import DotLifeDomain
import Foundation
import GRDB
import Platform

/// The first line of `captures.jsonl`.
struct ExportHeader: Codable, Equatable {
    static let name = "dotlife-captures"
    static let currentVersion = 1

    var format = Self.name
    var version = Self.currentVersion
    /// The number of lines that follow, so that a truncated file is detected.
    var captures: Int
}

/// One line of `captures.jsonl`: a raw row, so that times keep their nanoseconds, and values unknown to this version
/// are preserved.
struct ExportedCapture: Codable, Equatable {
    let id: UUID
    /// ISO 8601 in UTC with nine digits.
    let time: String
    let created: String
    let moment: Int64
    let kind: Int64
    let note: String?
    let link: String?
    /// The idempotency key.
    let key: String?
    var attachments: [ExportedAttachment]

    init(_ row: Row, _ attachments: [ExportedAttachment]) throws {
        guard let id = UUID(uuidString: row["id"]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an experience's id is no UUID")
        }
        self.id = id
        (time, created) = (StoredTime.text(row["timestamp"]), StoredTime.text(row["createdAt"]))
        (moment, kind) = (row["momentTypeRaw"], row["experienceTypeRaw"])
        (note, link, key) = (row["noteText"], row["linkURL"], row["capture_key"])
        self.attachments = attachments
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try KnownKeys.check(decoder, CodingKeys.allCases.map(\.stringValue))
        id = try values.decode(UUID.self, forKey: .id)
        time = try values.decode(String.self, forKey: .time)
        created = try values.decode(String.self, forKey: .created)
        moment = try values.decode(Int64.self, forKey: .moment)
        kind = try values.decode(Int64.self, forKey: .kind)
        note = try values.decodeIfPresent(String.self, forKey: .note)
        link = try values.decodeIfPresent(String.self, forKey: .link)
        key = try values.decodeIfPresent(String.self, forKey: .key)
        attachments = try values.decodeIfPresent([ExportedAttachment].self, forKey: .attachments) ?? []
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, time, created, moment, kind, note, link, key, attachments
    }

    /// - Throws: `Fault(.refused)` if no store can hold it.
    func validate() throws -> (time: Int64, created: Int64) {
        guard let time = StoredTime.nanoseconds(time), let created = StoredTime.nanoseconds(created) else {
            throw Fault(.refused, "its time is not in the form 2026-11-21T09:30:00.123456789Z, or is none")
        }
        guard ![note, link, key].contains(where: { $0?.utf8.contains(0) == true }) else {
            throw Fault(.refused, "one of its texts has a NUL (U+0000), behind which the store would lose it")
        }
        guard attachments.count <= ExperienceRequest.attachmentLimit,
            Set(attachments.map(\.position)).count == attachments.count,
            Set(attachments.map(\.id)).count == attachments.count
        else { throw Fault(.refused, "its attachments are too many, or two have the same id or position") }
        for file in attachments { try file.validate() }
        return (time, created)
    }

    /// Without the parts specific to one export.
    var content: ExportedCapture {
        var copy = self
        copy.attachments = attachments.map { file in
            var file = file
            file.file = nil
            return file
        }.sorted { $0.position < $1.position }
        return copy
    }
}

/// A file of a capture, in its line.
struct ExportedAttachment: Codable, Equatable {
    let id: UUID
    let position: Int64
    let type: Int64
    /// Its original name; bytes that are not text are written as `\xHH`, and so is a backslash.
    let name: String?
    let sha256: String
    let size: Int64
    /// Its path below the export's folder; absent if the store itself had lost it.
    var file: String?

    init(_ row: Row, sha256: String, size: Int64, file: String?) throws {
        guard let id = UUID(uuidString: row["id"]) else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "an attachment's id is no UUID")
        }
        self.id = id
        (position, type) = (row["position"], row["typeRaw"])
        name = (row["originalName"] as Data?).map { BytePath.escape(Array($0)) }
        (self.sha256, self.size, self.file) = (sha256, size, file)
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try KnownKeys.check(decoder, CodingKeys.allCases.map(\.stringValue))
        id = try values.decode(UUID.self, forKey: .id)
        position = try values.decode(Int64.self, forKey: .position)
        type = try values.decode(Int64.self, forKey: .type)
        name = try values.decodeIfPresent(String.self, forKey: .name)
        sha256 = try values.decode(String.self, forKey: .sha256)
        size = try values.decode(Int64.self, forKey: .size)
        file = try values.decodeIfPresent(String.self, forKey: .file)
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, position, type, name, sha256, size, file
    }

    var originalName: [UInt8]? { name.map { BytePath.unescape($0) } }

    func validate() throws {
        guard ContentHash(hex: sha256)?.description == sha256, size >= 0, position >= 0, position < 1 << 31 else {
            throw Fault(.refused, "the hash, size or position of an attachment is none")
        }
        if let name = originalName, !(1...255).contains(name.count) || name.contains(0) || name.contains(0x2F) {
            throw Fault(.refused, "an attachment has a name that no file can have")
        }
    }
}

/// Refuses unknown keys: ignoring them would lose data.
private enum KnownKeys {
    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { return nil }
    }

    static func check(_ decoder: any Decoder, _ known: [String]) throws {
        for key in try decoder.container(keyedBy: Key.self).allKeys where !known.contains(key.stringValue) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: "`\(BytePath.escape(Array(key.stringValue.utf8.prefix(80))))` is not known"))
        }
    }
}
