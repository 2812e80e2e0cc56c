/// A tag of sound that can be set, by the name that rules know it by.
package enum MediaTag: String, Sendable, CaseIterable {
    case title, artist, album, albumArtist, track, year, genre, comment

    /// As TagLib calls it.
    package var property: String {
        switch self {
        case .title: "TITLE"
        case .artist: "ARTIST"
        case .album: "ALBUM"
        case .albumArtist: "ALBUMARTIST"
        case .track: "TRACKNUMBER"
        case .year: "DATE"
        case .genre: "GENRE"
        case .comment: "COMMENT"
        }
    }

    /// What a look into the file finds of it.
    package var field: ContentField {
        switch self {
        case .title: .mediaTitle
        case .artist: .mediaArtist
        case .album: .mediaAlbum
        case .albumArtist: .mediaAlbumArtist
        case .track: .mediaTrack
        case .year: .mediaYear
        case .genre: .mediaGenre
        case .comment: .mediaComment
        }
    }

    /// Whether it is a number.
    package var isNumber: Bool { field.kind == .integer }
}
