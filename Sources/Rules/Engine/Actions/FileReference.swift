import Platform

/// The file, or the folder, that a job is about, where it lies now.
package struct FileReference: Sendable, Codable, Equatable {
    package var place: String
    package var root: BytePath
    /// Below `root`.
    package var path: BytePath
    package var fingerprint: Fingerprint?
    /// Nil for a file that was removed; of a folder, ``FolderContents/digest``.
    package var hash: ContentHash?
    package var isFolder = false

    package var absolute: BytePath { root.appending(path) }

    private enum CodingKeys: String, CodingKey {
        case place, root, path, fingerprint, hash, isFolder
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        place = try container.decode(String.self, forKey: .place)
        root = try container.decode(BytePath.self, forKey: .root)
        path = try container.decode(BytePath.self, forKey: .path)
        fingerprint = try container.decodeIfPresent(Fingerprint.self, forKey: .fingerprint)
        hash = try container.decodeIfPresent(ContentHash.self, forKey: .hash)
        isFolder = try container.decodeIfPresent(Bool.self, forKey: .isFolder) ?? false
        if let coding = PathCoding.of(decoder.userInfo) {
            path = try coding.decode(root.appending(path)).relative(to: root) ?? path
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(place, forKey: .place)
        try container.encode(root, forKey: .root)
        // An absolute path is what the encoder may be told to write in another form.
        let written = try PathCoding.of(encoder.userInfo)?.encode(absolute).relative(to: root)
        try container.encode(written ?? path, forKey: .path)
        try container.encodeIfPresent(fingerprint, forKey: .fingerprint)
        try container.encodeIfPresent(hash, forKey: .hash)
        if isFolder { try container.encode(true, forKey: .isFolder) }
    }

    package init(
        place: String, root: BytePath, path: BytePath, fingerprint: Fingerprint?, hash: ContentHash?,
        isFolder: Bool = false
    ) {
        self.isFolder = isFolder
        self.place = place
        self.root = root
        self.path = path
        self.fingerprint = fingerprint
        self.hash = hash
    }
}

/// What happened to a file, as rules name it.
package enum FileEvent: String, Sendable, Codable, CaseIterable {
    case arrived, changed, renamed, removed
    /// Nothing: a time of the rule's own schedule has come.
    case scheduled

    /// What can happen to a file, as `on` names it.
    package static let happenings: [FileEvent] = [.arrived, .changed, .renamed, .removed]
}
