import Foundation

/// A file that belongs to a capture, as the store holds it.
public struct AttachmentRecord: Hashable, Codable, Sendable, Identifiable {
    /// Its permanent id.
    public let id: UUID
    /// A picture or another file.
    public let type: AttachmentType
    /// The file's name in the store, derived from its content, so several captures may share a file.
    public let localPath: String
    /// The name of its thumbnail, if there is one.
    public let thumbnailPath: String?
    /// Its name when it was captured. Bytes, because a file name on Linux need not be text.
    public let originalName: [UInt8]?
    /// SHA-256 of the content, in 64 hexadecimal digits; nil if stored by a version that did not record it.
    public let sha256: String?
    /// In bytes; nil like ``sha256``.
    public let size: Int64?
    /// Its index among the capture's attachments, from 0.
    public let position: Int

    /// An attachment with all its fields; created by stores.
    public init(
        id: UUID, type: AttachmentType, localPath: String, thumbnailPath: String? = nil, originalName: [UInt8]? = nil,
        sha256: String? = nil, size: Int64? = nil, position: Int = 0
    ) {
        self.id = id
        self.type = type
        self.localPath = localPath
        self.thumbnailPath = thumbnailPath
        self.originalName = originalName
        self.sha256 = sha256
        self.size = size
        self.position = position
    }

    /// ``originalName`` for display, with U+FFFD for bytes that are not text.
    public var originalNameText: String? { originalName.map { String(decoding: $0, as: UTF8.self) } }
}
