import Platform

/// The file, or the folder, that a job is about, where it lies now.
package struct FileReference: Sendable, Equatable {
    package var place: String
    package var root: BytePath
    /// Below `root`.
    package var path: BytePath
    package var fingerprint: Fingerprint?
    /// Nil for a file that was removed; of a folder, ``FolderContents/digest``.
    package var hash: ContentHash?
    package var isFolder = false

    package var absolute: BytePath { root.appending(path) }

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
