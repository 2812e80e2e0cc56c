import Platform

// Each message says what is wrong and what to do next; the file's name is the caller's to add, who knows it.

/// What goes wrong with comics.
package enum ComicError: Error, Sendable {
    case archive(ArchiveError)
    case fileSystem(FileSystemError)
    case reader(ReaderError)
}

/// What is wrong with an archive.
package enum ArchiveError: Error, Sendable {
    /// Names the format, upper-case, as far as it is known.
    case unsupportedFormat(String)
    case corruptedArchive
    case extractionFailed(underlying: any Error)
    case passwordProtected
    case emptyArchive
}

/// What goes wrong with the files of a library.
package enum FileSystemError: Error, Sendable {
    case fileNotFound(BytePath)
    case permissionDenied(BytePath)
    case insufficientStorage
    case deletionFailed(underlying: any Error)
}

/// What goes wrong with a page.
package enum ReaderError: Error, Sendable {
    /// The index counts from 0, the message from 1.
    case pageLoadFailed(index: Int)
    case unsupportedImageFormat
    case imageTooLarge
}
