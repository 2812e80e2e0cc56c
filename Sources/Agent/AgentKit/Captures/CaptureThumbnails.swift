import ComicArchive
import DotLifePersistence
import Platform
import Synchronization

/// The small pictures of captures, made by the caged process that makes those of comics: the systems do not know each other.
package enum CaptureThumbnails {
    /// For stores of captures. libvips and the worker are looked for when the first picture comes.
    package static func maker() -> CaptureStore.Thumbnailer {
        let size = ThumbnailSize(width: CaptureStore.thumbnailSide, height: CaptureStore.thumbnailSide)
        let kept = KeptWorker()
        return { picture in
            outcome(try await kept.worker().shrink(picture: picture, to: size))
        }
    }

    /// The worker's answer in the words of the store.
    package static func outcome(_ outcome: ThumbnailOutcome) -> CaptureStore.Thumbnail {
        switch outcome {
        case .made(let jpeg): .made(jpeg)
        case .failed(let reason): .failed(reason)
        }
    }
}

/// One for all pictures, so that no more than its number of processes decode at the same time.
private final class KeptWorker: Sendable {
    private let made = Mutex<ThumbnailWorker?>(nil)

    func worker() throws -> ThumbnailWorker {
        try made.withLock { made in
            if let made { return made }
            let worker = ThumbnailWorker(try ArchiveWorker(), count: 1)
            made = worker
            return worker
        }
    }
}
