import OwnFiles
import Rules

extension RuleFileReader {
    /// Reads rule files as configuration: symlinks may lead anywhere.
    package static let configuration = RuleFileReader(names: ConfigurationFiles.names) {
        try ConfigurationFiles.read($0, limit: limit)
    }
}
