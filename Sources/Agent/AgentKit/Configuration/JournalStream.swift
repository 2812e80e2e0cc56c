import Foundation
import Glibc
import Logging

/// The systemd journal as this process's standard error.
package enum JournalStream {
    /// Whether standard error is the journal itself, not just that of a parent process (systemd.exec(5),
    /// `$JOURNAL_STREAM`: device and inode).
    package static let isStandardError: Bool = {
        var found = stat()
        guard let stream = ProcessInfo.processInfo.environment["JOURNAL_STREAM"], fstat(STDERR_FILENO, &found) == 0
        else { return false }
        return stream == "\(found.st_dev):\(found.st_ino)"
    }()

    /// Prefixes each line with its syslog level (sd-daemon(3)), as the journal takes every line for an entry and one
    /// without a prefix as informational. Returns the text unchanged if standard error is not the journal.
    package static func marked(_ text: String, _ level: Logger.Level) -> String {
        guard isStandardError else { return text }
        let mark = mark(level)
        return mark + text.replacingOccurrences(of: "\n", with: "\n" + mark)
    }

    private static func mark(_ level: Logger.Level) -> String { "<\(priority(level))>" }

    /// The syslog(3) priority.
    static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// Whether standard error is a socket, as the journal's is.
    static let isSocket: Bool = {
        var found = stat()
        return fstat(STDERR_FILENO, &found) == 0 && found.st_mode & S_IFMT == S_IFSOCK
    }()
}
