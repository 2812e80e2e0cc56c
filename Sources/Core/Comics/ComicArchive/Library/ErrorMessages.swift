import Foundation
import Platform

extension ComicError: LocalizedError {
    package var errorDescription: String? { message }

    /// A one-line message for a person: the problem and the remedy.
    package var message: String {
        switch self {
        case .archive(let error): error.message
        case .fileSystem(let error): error.message
        case .reader(let error): error.message
        }
    }

    /// The same error as a `Fault`, whose kind tells the agent how to treat the file.
    package func fault(_ path: BytePath? = nil) -> Fault {
        let text = path.map { "\($0): \(message)" } ?? message
        switch self {
        case .archive(.extractionFailed(let cause as Fault)), .fileSystem(.deletionFailed(let cause as Fault)):
            return Fault(cause.kind, text, path: path, errno: cause.errno, code: cause.code)
        case .fileSystem(.fileNotFound): return Fault(.superseded, text, path: path)
        case .fileSystem(.insufficientStorage): return Fault(.transient, text, path: path)
        case .fileSystem: return Fault(.failed, text, path: path)
        case .archive, .reader: return Fault(.refused, text, path: path)
        }
    }
}

extension ArchiveError: LocalizedError {
    package var errorDescription: String? { message }

    package var message: String {
        switch self {
        case .unsupportedFormat(let format):
            "\(format) is not a comic format that can be read here; convert it to \(ArchiveFormat.comicNames.alternatives)"
        case .corruptedArchive:
            "the archive is damaged; fetch or copy it again, then compare its size with the source's"
        case .extractionFailed(let underlying):
            "a page could not be taken out of the archive (\(explain(underlying))); inspect the archive to see which"
        case .passwordProtected:
            "the archive is protected by a password; unpack it with the password and pack it again without one"
        case .emptyArchive:
            "the archive contains no page that can be shown; check whether it contains pictures (JPEG, PNG, GIF, WebP, TIFF, "
                + "HEIC, AVIF)"
        }
    }
}

extension FileSystemError: LocalizedError {
    package var errorDescription: String? { message }

    package var message: String {
        switch self {
        case .fileNotFound(let path): "\(path) does not exist; check whether it was moved or renamed"
        case .permissionDenied(let path): "\(path) cannot be read or changed; grant access to it and try again"
        case .insufficientStorage: "the disk is full; free some space and try again"
        case .deletionFailed(let underlying): "the file could not be removed: \(explain(underlying))"
        }
    }
}

extension ReaderError: LocalizedError {
    package var errorDescription: String? { message }

    package var message: String {
        switch self {
        case .pageLoadFailed(let index): "page \(index + 1) could not be read; the other pages may still be"
        case .unsupportedImageFormat:
            "the page is not a picture that can be shown (JPEG, PNG, GIF, WebP, TIFF, HEIC or AVIF); convert it"
        case .imageTooLarge:
            "the page claims more than \(ImageHeader.pixelLimit / 1_000_000) million pixels or a side of more than "
                + "\(ImageHeader.sideLimit); it is not decoded, scale it down if it is genuine"
        }
    }
}
