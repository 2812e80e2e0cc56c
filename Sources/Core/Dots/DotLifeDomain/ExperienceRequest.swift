import Foundation

/// A valid capture to be stored, created only by the factory methods.
public struct ExperienceRequest: Hashable, Codable, Sendable {
    /// The moment that the person chose.
    public let momentType: MomentType
    /// The kind of capture.
    public let experienceType: ExperienceType
    /// When it happened; nil means the time at which it is stored.
    public let timestamp: Date?
    /// The trimmed text of a note.
    public let noteText: String?
    /// The absolute URL of a link.
    public let linkURL: String?
    /// The files to attach, in order.
    public let attachments: [AttachmentSource]

    /// The picture of a photo.
    public var photo: PhotoSource? { experienceType == .photo ? attachments.first?.content : nil }

    /// The maximum number of files in a capture.
    public static let attachmentLimit = 1_000

    private init(
        _ experienceType: ExperienceType, _ momentType: MomentType, _ timestamp: Date?, noteText: String? = nil,
        linkURL: String? = nil, _ attachments: [AttachmentSource] = []
    ) throws {
        guard attachments.count <= Self.attachmentLimit else {
            throw ExperienceError.invalidData(
                "\(attachments.count) files are too many for one capture; it may have \(Self.attachmentLimit)")
        }
        self.init(unchecked: experienceType, momentType, timestamp, noteText: noteText, linkURL: linkURL, attachments)
    }

    private init(
        unchecked experienceType: ExperienceType, _ momentType: MomentType, _ timestamp: Date?,
        noteText: String? = nil, linkURL: String? = nil, _ attachments: [AttachmentSource] = []
    ) {
        self.experienceType = experienceType
        self.momentType = momentType
        self.timestamp = timestamp
        self.noteText = noteText
        self.linkURL = linkURL
        self.attachments = attachments
    }

    /// A note: the text without surrounding white space.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)`` if no text is left.
    public static func note(
        _ text: String, momentType: MomentType = .now, timestamp: Date? = nil, attachments: [AttachmentSource] = []
    ) throws -> ExperienceRequest {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw ExperienceError.invalidData("The note is empty") }
        // A store may end a text at a NUL.
        guard !trimmed.utf8.contains(0) else {
            throw ExperienceError.invalidData("The note has a NUL (U+0000), which no text has; leave that out")
        }
        return try ExperienceRequest(.note, momentType, timestamp, noteText: trimmed, attachments)
    }

    /// A link: `https://` is prepended to an address without `http://` or `https://`, and its host must contain a dot.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "Invalid URL".
    public static func link(
        _ address: String, momentType: MomentType = .now, timestamp: Date? = nil, attachments: [AttachmentSource] = []
    ) throws -> ExperienceRequest {
        let url = try absoluteAddress(address)
        return try ExperienceRequest(.link, momentType, timestamp, linkURL: url, attachments)
    }

    /// A photo from bytes in memory.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "No photo selected", if there are none.
    public static func photo(
        _ data: Data, momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        guard !data.isEmpty else { throw ExperienceError.invalidData("No photo selected") }
        return try photo([AttachmentSource(.data(data), type: .photo)], momentType: momentType, timestamp: timestamp)
    }

    /// A photo from a file, which the store copies when it carries out the request.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "No photo selected", if the path is empty.
    public static func photo(
        fileAt path: [UInt8], momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        guard !path.isEmpty else { throw ExperienceError.invalidData("No photo selected") }
        let source = try AttachmentSource(.file(path: path), type: .photo)
        return try photo([source], momentType: momentType, timestamp: timestamp)
    }

    /// A photo of several files, represented by the first picture.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "No photo selected", if there are none.
    public static func photo(
        _ attachments: [AttachmentSource], momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        let isEmpty = attachments.allSatisfy { $0.content == .data(Data()) || $0.type == .file }
        guard !isEmpty else { throw ExperienceError.invalidData("No photo selected") }
        return try ExperienceRequest(.photo, momentType, timestamp, attachments)
    }

    /// A dot: the moment itself, always valid.
    public static func dot(momentType: MomentType = .now, timestamp: Date? = nil) -> ExperienceRequest {
        ExperienceRequest(unchecked: .dot, momentType, timestamp)
    }

    /// A moment with files and no text.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)`` if there are too many.
    public static func dot(
        momentType: MomentType = .now, timestamp: Date? = nil, attachments: [AttachmentSource]
    ) throws -> ExperienceRequest {
        try ExperienceRequest(.dot, momentType, timestamp, attachments)
    }

    private static func absoluteAddress(_ address: String) throws -> String {
        let invalid = ExperienceError.invalidData("Invalid URL")
        let trimmed = address.trimmingCharacters(in: .whitespacesAndNewlines)
        let lower = trimmed.lowercased()
        let isAbsolute = lower.hasPrefix("http://") || lower.hasPrefix("https://")
        let forbidden = CharacterSet.whitespacesAndNewlines.union(.controlCharacters)
        guard !trimmed.isEmpty, trimmed.rangeOfCharacter(from: forbidden) == nil,
            let url = URL(string: isAbsolute ? trimmed : "https://" + trimmed), let host = url.host(),
            host.contains("."),
            !host.hasPrefix("."), host.contains(where: { $0 != "." })
        else { throw invalid }
        // `mailto:me@example.org` and `me@example.org` would pass as a host with a user name.
        guard isAbsolute || url.user() == nil else { throw invalid }
        return url.absoluteString
    }
}

/// Decoding goes through the factory methods, so that the validation cannot be bypassed.
extension ExperienceRequest {
    private enum CodingKeys: String, CodingKey {
        case momentType, experienceType, timestamp, noteText, linkURL, attachments
        /// Earlier versions stored the only file here.
        case photo
    }

    /// - Throws: `DecodingError`, or the factory methods' errors.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let moment = try values.decode(MomentType.self, forKey: .momentType)
        let type = try values.decode(ExperienceType.self, forKey: .experienceType)
        let time = try values.decodeIfPresent(Date.self, forKey: .timestamp)
        let text = try values.decodeIfPresent(String.self, forKey: .noteText)
        let address = try values.decodeIfPresent(String.self, forKey: .linkURL)
        var files = try values.decodeIfPresent([AttachmentSource].self, forKey: .attachments) ?? []
        if let only = try values.decodeIfPresent(PhotoSource.self, forKey: .photo) {
            guard files.isEmpty, type == .photo else {
                throw ExperienceError.invalidData("Only a photo has a photo, and only one")
            }
            files = [try AttachmentSource(only, type: .photo)]
        }
        guard (text == nil || type == .note) && (address == nil || type == .link) else {
            throw ExperienceError.invalidData("A \(type.label) has no text or address of another kind")
        }
        switch type {
        case .note: self = try .note(text ?? "", momentType: moment, timestamp: time, attachments: files)
        case .link: self = try .link(address ?? "", momentType: moment, timestamp: time, attachments: files)
        case .photo: self = try .photo(files, momentType: moment, timestamp: time)
        case .dot: self = try .dot(momentType: moment, timestamp: time, attachments: files)
        }
    }

    /// Writes the format that ``init(from:)`` reads.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(momentType, forKey: .momentType)
        try values.encode(experienceType, forKey: .experienceType)
        try values.encodeIfPresent(timestamp, forKey: .timestamp)
        try values.encodeIfPresent(noteText, forKey: .noteText)
        try values.encodeIfPresent(linkURL, forKey: .linkURL)
        if !attachments.isEmpty { try values.encode(attachments, forKey: .attachments) }
    }
}
