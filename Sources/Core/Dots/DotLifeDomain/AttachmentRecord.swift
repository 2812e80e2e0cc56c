import Foundation

/// A file that belongs to a capture, as the store holds it.
public struct AttachmentRecord: Hashable, Codable, Sendable, Identifiable {
    /// Its name for ever.
    public let id: UUID
    /// A picture or another file.
    public let type: AttachmentType
    /// The file's name in the store. It follows from what the file holds, so several captures may share one.
    public let localPath: String
    /// The name of its small picture, where one was made.
    public let thumbnailPath: String?
    /// What it was called when it was captured: bytes, as a file name on Linux need not be text.
    public let originalName: [UInt8]?
    /// Of what it holds, in 64 hexadecimal digits; nil where a version of the store wrote it that did not keep it.
    public let sha256: String?
    /// In bytes; nil as ``sha256``.
    public let size: Int64?
    /// Its place among the capture's attachments, from 0.
    public let position: Int

    /// An attachment with all its fields; stores make them.
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

    /// ``originalName`` for people, with U+FFFD where it is no text.
    public var originalNameText: String? { originalName.map { String(decoding: $0, as: UTF8.self) } }
}
