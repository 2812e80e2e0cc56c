import Platform

/// The file or folder that a job is about, at its present location.
package struct FileReference: Sendable, Equatable {
    package var place: String
    package var root: BytePath
    /// Relative to `root`.
    package var path: BytePath
    package var fingerprint: Fingerprint?
    /// nil for a removed file; for a folder, ``FolderContents/digest``.
    package var hash: ContentHash?
    package var isFolder = false
    /// Relative to `root`: the name that the file had when it was last judged, if that name no longer refers to it. Its
    /// content may have changed since. nil for a folder.
    package var former: BytePath?
    /// Relative to `root`: for a removed file, the name that it has now, because it replaced the file of that name. nil if
    /// it is gone, and for a folder.
    package var renamedTo: BytePath?

    package var absolute: BytePath { root.appending(path) }

    package init(
        place: String, root: BytePath, path: BytePath, fingerprint: Fingerprint?, hash: ContentHash?,
        isFolder: Bool = false, former: BytePath? = nil, renamedTo: BytePath? = nil
    ) {
        (self.isFolder, self.former, self.renamedTo) = (isFolder, former, renamedTo)
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
    /// No change; a time of the rule's schedule has come.
    case scheduled

    /// The events of files, as `on` names them.
    package static let happenings: [FileEvent] = [.arrived, .changed, .renamed, .removed]
}
