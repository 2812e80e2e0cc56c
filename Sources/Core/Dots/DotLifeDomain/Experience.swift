import Foundation

/// A captured moment as stored (docs/design/dots.md, "Captures").
public struct ExperienceRecord: Hashable, Codable, Sendable, Identifiable {
    /// Its permanent id.
    public let id: UUID
    /// When it happened; this alone determines its bucket.
    public let timestamp: Date
    /// When it was stored.
    public let createdAt: Date
    /// The moment that the person chose.
    public let momentType: MomentType
    /// The kind of capture.
    public let experienceType: ExperienceType
    /// The text of a note.
    public let noteText: String?
    /// The absolute URL of a link.
    public let linkURL: String?
    /// The attached files, in order.
    public let attachments: [AttachmentRecord]

    /// A record with all its fields; created by stores.
    public init(
        id: UUID, timestamp: Date, createdAt: Date, momentType: MomentType, experienceType: ExperienceType,
        noteText: String? = nil, linkURL: String? = nil, attachments: [AttachmentRecord] = []
    ) {
        self.id = id
        self.timestamp = timestamp
        self.createdAt = createdAt
        self.momentType = momentType
        self.experienceType = experienceType
        self.noteText = noteText
        self.linkURL = linkURL
        self.attachments = attachments
    }

    /// The name of the first photo's file in the store.
    public var photoLocalPath: String? { firstPhoto?.localPath }

    /// The name of the first photo's thumbnail, if there is one.
    public var photoThumbnailPath: String? { firstPhoto?.thumbnailPath }

    private var firstPhoto: AttachmentRecord? { attachments.first { $0.type == .photo } }
}

/// Errors of experiences; the messages give the problem, its place and its reason.
public enum ExperienceError: Error, Equatable, Sendable {
    /// No experience has this id.
    case notFound(UUID)
    /// It could not be stored; nothing was changed.
    case saveFailed(String)
    /// The store could not be read.
    case fetchFailed(String)
    /// It could not be removed.
    case deleteFailed(String)
    /// The photo's file could not be copied into the store; no experience was stored.
    case photoStorageFailed(String)
    /// The capture is not valid.
    case invalidData(String)
}

extension ExperienceError: CustomStringConvertible, LocalizedError {
    /// The message for a person.
    public var description: String {
        switch self {
        case .notFound(let id): "no experience has the id \(id)"
        case .saveFailed(let reason): "the experience was not saved: \(reason)"
        case .fetchFailed(let reason): "the experiences cannot be read: \(reason)"
        case .deleteFailed(let reason): "the experience was not deleted: \(reason)"
        case .photoStorageFailed(let reason): "the photo was not stored: \(reason)"
        case .invalidData(let reason): reason
        }
    }

    /// The same message.
    public var errorDescription: String? { description }
}
