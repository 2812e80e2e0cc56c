import ComicArchive
import DotLifePersistence
import Platform
import Synchronization

/// Makes thumbnails of captures in the caged process that also makes those of comics; the two systems do not know each
/// other.
package enum CaptureThumbnails {
    /// For capture stores. libvips and the worker are located when the first picture arrives.
    package static func maker() -> CaptureStore.Thumbnailer {
        let size = ThumbnailSize(width: CaptureStore.thumbnailSide, height: CaptureStore.thumbnailSide)
        let kept = KeptWorker()
        return { picture in
            outcome(try await kept.worker().shrink(picture: picture, to: size))
        }
    }

    /// Converts the worker's outcome to the store's type.
    package static func outcome(_ outcome: ThumbnailOutcome) -> CaptureStore.Thumbnail {
        switch outcome {
        case .made(let jpeg): .made(jpeg)
        case .failed(let reason): .failed(reason)
        }
    }
}

/// Shared by all pictures, to bound the number of processes that decode at the same time.
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
