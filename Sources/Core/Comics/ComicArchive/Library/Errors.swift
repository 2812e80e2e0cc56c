import Platform

// Each message states the problem and the next step; the caller adds the file's name.

/// The module's errors.
package enum ComicError: Error, Sendable {
    case archive(ArchiveError)
    case fileSystem(FileSystemError)
    case reader(ReaderError)
}

/// Errors of an archive.
package enum ArchiveError: Error, Sendable {
    /// The format's name, upper-case, as far as it is known.
    case unsupportedFormat(String)
    case corruptedArchive
    case extractionFailed(underlying: any Error)
    case passwordProtected
    case emptyArchive
}

/// Errors of a library's files.
package enum FileSystemError: Error, Sendable {
    case fileNotFound(BytePath)
    case permissionDenied(BytePath)
    case insufficientStorage
    case deletionFailed(underlying: any Error)
}

/// Errors of a page.
package enum ReaderError: Error, Sendable {
    /// The index counts from 0, the message from 1.
    case pageLoadFailed(index: Int)
    case unsupportedImageFormat
    case imageTooLarge
}
