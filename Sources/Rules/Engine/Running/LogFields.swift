import Logging

/// Under which keys the log tells what a line is about: the journal makes fields of them (`STEWARD_JOB` and so on).
package enum LogFields {
    package static let job = "job"
    package static let rule = "rule"
    package static let place = "place"
    package static let path = "path"

    /// A job by the part of its id by which people know it.
    package static func job(_ id: String) -> Logger.Metadata { [job: "\(id.prefix(12))"] }

    /// A file or folder of a place, by the name under which people hear of it.
    package static func file(_ name: some CustomStringConvertible, in place: String) -> Logger.Metadata {
        [self.place: "\(place)", path: "\(name)"]
    }
}
