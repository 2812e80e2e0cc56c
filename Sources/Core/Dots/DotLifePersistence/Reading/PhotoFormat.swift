import Platform

extension PictureFormat {
    /// The extension of a photo's file in the store.
    package var fileExtension: String {
        switch self {
        case .jpeg: "jpg"
        case .tiff: "tif"
        case .png, .gif, .webp, .heic, .avif: rawValue
        }
    }
}
