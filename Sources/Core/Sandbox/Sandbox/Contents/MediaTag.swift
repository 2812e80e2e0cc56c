/// A writable audio tag, by its name in rules.
package enum MediaTag: String, Sendable, CaseIterable {
    case title, artist, album, albumArtist, track, year, genre, comment

    /// Its name in TagLib.
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

    /// The field under which it is read from files.
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
