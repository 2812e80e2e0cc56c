import Foundation
import JSONText
import Logging
import Platform
import Rules

/// The format of log lines: for people and the journal, or as JSON. Outside text in a message is escaped, including
/// line breaks.
package struct LogFormat: Sendable {
    package var json = false
    /// The journal adds its own timestamps.
    package var stamps = !JournalStream.isStandardError

    package init(json: Bool = false, stamps: Bool = !JournalStream.isStandardError) {
        (self.json, self.stamps) = (json, stamps)
    }

    /// Metadata omitted in lines for people, as the message already says it.
    private static let inWords: Set<String> = [LogFields.place, LogFields.path]

    /// - Parameter journal: the socket for which to build an entry as well, if any.
    func line(
        _ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, for journal: JournalSocket?
    ) -> LogLine {
        let text =
            json ? document(level, message, metadata) : ShownText.line(words(level, message, metadata))
        return LogLine(
            text: text, level: level, entry: journal.map { _ in JournalSocket.entry(text, level, metadata) },
            format: self)
    }

    private func document(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        var fields = metadata.mapValues { "\($0)" }
        fields["time"] = Timestamp.now().description
        fields["level"] = level.rawValue
        fields["message"] = message
        return (try? JSONText.shownLine(fields)) ?? ShownText.line(message)
    }

    private func words(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata) -> String {
        let extra = metadata.filter { !Self.inWords.contains($0.key) }.sorted { $0.key < $1.key }
            .map { " \($0.key)=\($0.value)" }.joined()
        return (stamps ? "\(Timestamp.now()) " : "") + "\(level.rawValue): \(message)\(extra)"
    }
}

/// Logs one line per event, to standard error or the journal.
package struct StewardLogHandler: LogHandler {
    package var logLevel: Logger.Level
    package var metadata: Logger.Metadata = [:]
    private let format: LogFormat
    private let output: LogOutput
    /// Writes the lines; nil if they are written synchronously.
    private let queue: LogQueue?

    /// For a command, which may wait for a slow reader of its log.
    package init(level: Logger.Level, format: LogFormat = LogFormat(), output: LogOutput = LogOutput()) {
        logLevel = level
        self.format = format
        self.output = output
        queue = nil
    }

    /// For the agent, which never waits for that.
    package init(level: Logger.Level, format: LogFormat, queue: LogQueue) {
        logLevel = level
        self.format = format
        output = queue.output
        self.queue = queue
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let line = format.line(event.level, event.message.description, all, for: output.journal)
        if let queue { queue.add(line) } else { output.write(line) }
    }
}
