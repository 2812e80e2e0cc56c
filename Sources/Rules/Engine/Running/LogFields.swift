import Logging

/// Metadata keys of log lines; the systemd journal turns them into fields (`STEWARD_JOB` and so on).
package enum LogFields {
    package static let job = "job"
    package static let rule = "rule"
    package static let place = "place"
    package static let path = "path"

    /// A job, by the short form of its id that people see.
    package static func job(_ id: String) -> Logger.Metadata { [job: "\(id.prefix(12))"] }

    /// A file or folder of a place, by the name that people see.
    package static func file(_ name: some CustomStringConvertible, in place: String) -> Logger.Metadata {
        [self.place: "\(place)", path: "\(name)"]
    }
}
