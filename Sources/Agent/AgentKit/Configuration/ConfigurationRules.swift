import OwnFiles
import Rules

extension RuleFileReader {
    /// Reads them as configuration: wherever links lead.
    package static let configuration = RuleFileReader(names: ConfigurationFiles.names) {
        try ConfigurationFiles.read($0, limit: limit)
    }
}
