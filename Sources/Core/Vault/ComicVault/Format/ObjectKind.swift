/// The kind of an object's content. It is sealed with the content, so that the vault's folder does not reveal it.
package enum ObjectKind: UInt8, Sendable, Codable, CaseIterable, CustomStringConvertible {
    /// The untouched original.
    case archive = 1
    /// Decoded page files end to end, for archives without random access to pages.
    case pagePack = 2
    case thumbnails = 3
    case metadata = 4
    /// An archive with its envelope, sealed to the public key while the vault was locked.
    case deposit = 5
    /// A manifest snapshot.
    case snapshot = 6

    package var description: String {
        switch self {
        case .archive: "archive"
        case .pagePack: "page pack"
        case .thumbnails: "thumbnails"
        case .metadata: "metadata"
        case .deposit: "deposit"
        case .snapshot: "snapshot"
        }
    }
}
