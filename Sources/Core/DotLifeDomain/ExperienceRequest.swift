import Foundation

/// Where a photo's bytes come from.
public enum PhotoSource: Hashable, Codable, Sendable {
    /// The bytes themselves.
    case data(Data)
    /// The bytes of the path of a file to copy: a file name on Linux need not be text.
    case file(path: [UInt8])
}

/// A valid capture to be stored; only the four factories make one.
public struct ExperienceRequest: Hashable, Codable, Sendable {
    /// What the person meant by the moment.
    public let momentType: MomentType
    /// What is captured.
    public let experienceType: ExperienceType
    /// When it happened; nil is the time at which it is stored.
    public let timestamp: Date?
    /// The trimmed text of a note.
    public let noteText: String?
    /// The absolute address of a link.
    public let linkURL: String?
    /// The picture of a photo.
    public let photo: PhotoSource?

    private init(
        _ experienceType: ExperienceType, _ momentType: MomentType, _ timestamp: Date?, noteText: String? = nil,
        linkURL: String? = nil, photo: PhotoSource? = nil
    ) {
        self.experienceType = experienceType
        self.momentType = momentType
        self.timestamp = timestamp
        self.noteText = noteText
        self.linkURL = linkURL
        self.photo = photo
    }

    /// A note: the text without white space around it.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)`` where no text is left.
    public static func note(
        _ text: String, momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !trimmed.isEmpty else { throw ExperienceError.invalidData("The note is empty") }
        return ExperienceRequest(.note, momentType, timestamp, noteText: trimmed)
    }

    /// A link: `https://` is put before an address without `http://` or `https://`, and its host must hold a dot.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "Invalid URL".
    public static func link(
        _ address: String, momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        let url = try absoluteAddress(address)
        return ExperienceRequest(.link, momentType, timestamp, linkURL: url)
    }

    /// A photo from bytes in memory.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "No photo selected", where there are none.
    public static func photo(
        _ data: Data, momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        guard !data.isEmpty else { throw ExperienceError.invalidData("No photo selected") }
        return ExperienceRequest(.photo, momentType, timestamp, photo: .data(data))
    }

    /// A photo from a file, which the store copies when the request is carried out.
    ///
    /// - Throws: ``ExperienceError/invalidData(_:)``, "No photo selected", where the path is empty.
    public static func photo(
        fileAt path: [UInt8], momentType: MomentType = .now, timestamp: Date? = nil
    ) throws -> ExperienceRequest {
        guard !path.isEmpty else { throw ExperienceError.invalidData("No photo selected") }
        return ExperienceRequest(.photo, momentType, timestamp, photo: .file(path: path))
    }

    /// A dot: the moment itself, always valid.
    public static func dot(momentType: MomentType = .now, timestamp: Date? = nil) -> ExperienceRequest {
        ExperienceRequest(.dot, momentType, timestamp)
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
        // `mailto:me@example.org` and `me@example.org` would pass for a host with a user's name before it.
        guard isAbsolute || url.user() == nil else { throw invalid }
        return url.absoluteString
    }
}
