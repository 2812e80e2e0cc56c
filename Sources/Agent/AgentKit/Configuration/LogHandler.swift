import Foundation
import Glibc
import JSONText
import Logging
import Platform
import Rules

/// One line a happening on standard error: for a person and the journal, or as JSON. What a message holds from outside is
/// shown and does nothing, line breaks included.
package struct StewardLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let json: Bool
    /// The journal stamps its lines itself.
    private let stamps: Bool
    private let journal: JournalSocket?

    /// What a line for a person says already in its words.
    private static let inWords: Set<String> = [LogFields.place, LogFields.path]

    package init(
        level: Logger.Level, json: Bool, stamps: Bool = !JournalStream.isStandardError,
        journal: JournalSocket? = .system
    ) {
        logLevel = level
        self.json = json
        self.stamps = stamps
        self.journal = journal
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        var line: String
        if json {
            var fields = all.mapValues { "\($0)" }
            fields["time"] = Timestamp.now().description
            fields["level"] = event.level.rawValue
            fields["message"] = event.message.description
            line = (try? JSONText.shownLine(fields)) ?? ShownText.line(event.message.description)
        } else {
            let extra = all.filter { !Self.inWords.contains($0.key) }.sorted { $0.key < $1.key }.map {
                " \($0.key)=\($0.value)"
            }.joined()
            line = ShownText.line(
                (stamps ? "\(Timestamp.now()) " : "") + "\(event.level.rawValue): \(event.message)\(extra)")
        }
        if let journal, journal.write(line, event.level, all) { return }
        line = JournalStream.marked(line, event.level) + "\n"
        // One call a line, so that lines of several threads never mix.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
