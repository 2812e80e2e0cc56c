/// Why an archive is refused. The raw values appear in quarantine records and `--json`.
package enum RefusalReason: String, Sendable, Codable, CaseIterable {
    case notAnArchive = "not-an-archive"
    case unsupported
    case noPages = "no-pages"
    case encrypted
    case multiVolume = "multi-volume"
    case solid
    case traversal
    case absolutePath = "absolute-path"
    case badName = "bad-name"
    case tooManyHeaders = "too-many-headers"
    case tooManyPages = "too-many-pages"
    case tooManyBytes = "too-many-bytes"
    case ratio
    case overlap
    /// The archive cannot be read to its end.
    case damagedArchive = "damaged-archive"
    /// A page is damaged, and the mode is strict.
    case damagedPage = "damaged-page"
    /// The unpacking process died, exceeded its limits, or sent nonsense.
    case workerCrashed = "worker-crashed"
    case workerLimit = "worker-limit"
    case workerNonsense = "worker-nonsense"
}
