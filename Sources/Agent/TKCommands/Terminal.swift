import ArgumentParser
import Foundation
import Glibc
import Platform
import Synchronization
import TKCore

/// Data goes to standard output, everything else to standard error.
enum Terminal {
    static let environment = ProcessInfo.processInfo.environment

    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    static var style: TerminalStyle { style(of: STDOUT_FILENO) }
    static var errorStyle: TerminalStyle { style(of: STDERR_FILENO) }

    private static func style(of descriptor: Int32) -> TerminalStyle {
        var size = winsize()
        let hasSize = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        return .suited(
            isTerminal: isTerminal(descriptor), columns: hasSize ? Int(size.ws_col) : nil, environment: environment)
    }

    /// Text for people and programs, without terminal control sequences except colours.
    static func write(_ text: String) { write(Array(ShownText.coloured(text).utf8)) }

    /// Raw bytes, for a file in another format.
    static func write(_ bytes: [UInt8]) { put(bytes, STDOUT_FILENO) }

    /// A draft's own text: unchanged for files and pipes; on a terminal, control characters are made visible.
    static func draft(_ text: String) {
        let isShown = isTerminal(STDOUT_FILENO)
        write(Array((isShown ? Printable.text(text.replacing("\r\n", with: "\n")) : text).utf8))
    }

    static func line(_ text: String) { write(text + "\n") }

    static func json(_ value: JSON) { line(value.indented) }

    /// A warning or notice of one or more lines.
    static func note(_ text: String) { put(Array((Printable.text(text) + "\n").utf8), STDERR_FILENO) }

    private static let waiting = Mutex<[String]>([])

    /// A notice that matters only on success, since a failure says the same. Each is shown once.
    static func noteLater(_ text: String) {
        waiting.withLock { notices in if !notices.contains(text) { notices.append(text) } }
    }

    /// Shows the notices kept by ``noteLater(_:)``.
    static func noteNow() {
        let notices = waiting.withLock { kept in
            defer { kept = [] }
            return kept
        }
        for notice in notices { note(notice) }
    }

    /// Discards the notices kept by ``noteLater(_:)``, because the work failed.
    static func noteNever() { waiting.withLock { $0 = [] } }

    /// For prompts and for blocks with colours.
    static func ask(_ text: String) { put(Array(ShownText.coloured(text).utf8), STDERR_FILENO) }

    private static func put(_ bytes: [UInt8], _ descriptor: Int32) {
        Progress.apart(bytes, on: descriptor) { send(bytes, descriptor) }
    }

    /// Writes all bytes, bypassing ``Progress``.
    static func send(_ bytes: [UInt8], _ descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
                continue
            }
            if count < 0, errno == EPIPE, descriptor == STDOUT_FILENO { endByPipe() }
            if count < 0, descriptor == STDOUT_FILENO {
                let reason = String(cString: strerror(errno))
                send(Array("tk: cannot write to standard output: \(reason)\n".utf8), STDERR_FILENO)
                exit(1)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Ends by SIGPIPE like any program whose reader has gone, even if a library ignores that signal.
    private static func endByPipe() -> Never {
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        exit(141)
    }

    /// Runs a command's body; an error becomes one line on standard error and exit code 1.
    static func guarding(_ body: () async throws -> Void) async throws {
        do {
            try await body()
            noteNow()
        } catch let code as ExitCode {
            throw code
        } catch let fault as Fault {
            fail(fault.message)
        } catch let error as LLMError {
            fail(error.message)
        } catch is CancellationError {
            fail("cancelled")
        } catch let error as ValidationError {
            throw error
        } catch {
            fail(explain(error))
        }
    }

    static func fail(_ message: String) -> Never {
        note("tk: \(message)")
        exit(1)
    }

    /// Asks a yes-or-no question on the terminal.
    static func confirms(_ question: String) -> Bool {
        ask("\(question) [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").lowercased().trimmingCharacters(in: .whitespaces))
    }
}
