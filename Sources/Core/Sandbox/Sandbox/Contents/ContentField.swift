/// A property found in a file besides its text, under its name in templates.
package enum ContentField: String, Sendable, CaseIterable {
    case documentTitle = "document.title"
    case documentAuthor = "document.author"
    case documentPages = "document.pages"
    case documentLanguage = "document.language"
    case photoTaken = "photo.taken"
    case photoOffset = "photo.offset"
    case photoMake = "photo.make"
    case photoModel = "photo.model"
    case photoLens = "photo.lens"
    case photoLatitude = "photo.latitude"
    case photoLongitude = "photo.longitude"
    case photoWidth = "photo.width"
    case photoHeight = "photo.height"
    case photoOrientation = "photo.orientation"
    case mediaDuration = "media.duration"
    case mediaWidth = "media.width"
    case mediaHeight = "media.height"
    case mediaTitle = "media.title"
    case mediaArtist = "media.artist"
    case mediaAlbum = "media.album"
    case mediaAlbumArtist = "media.albumArtist"
    case mediaTrack = "media.track"
    case mediaGenre = "media.genre"
    case mediaYear = "media.year"
    case mediaComment = "media.comment"

    /// The format of its value.
    package enum Kind: Sendable {
        case text
        /// Digits only.
        case integer
        /// Seconds or degrees, with a decimal point.
        case decimal
        /// `2026:11:23 09:30:15`, as shown by the camera's clock.
        case moment
    }

    package var kind: Kind {
        switch self {
        case .documentPages, .photoWidth, .photoHeight, .photoOrientation, .mediaWidth, .mediaHeight, .mediaTrack,
            .mediaYear:
            .integer
        case .photoLatitude, .photoLongitude, .mediaDuration: .decimal
        case .photoTaken: .moment
        case .documentTitle, .documentAuthor, .documentLanguage, .photoOffset, .photoMake, .photoModel, .photoLens,
            .mediaTitle, .mediaArtist, .mediaAlbum, .mediaAlbumArtist, .mediaGenre, .mediaComment:
            .text
        }
    }
}
