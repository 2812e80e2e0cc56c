import CLinux
import Glibc
import Platform
import Sandbox

/// The agent's end of the socket: answers one request at a time, from the loop that reads the worker's output. Never
/// blocks on the worker.
final class ArchiveAnswers: CagedDialogue {
    private let archive: AskedArchive
    private let socket: Descriptor
    private var question: [UInt8] = []
    private var answer = [UInt8](repeating: 0, count: ArchiveQuestion.mostBytes)
    /// The unsent part of `answer`.
    private var unsent = 0..<0
    private var isOver = false

    /// - Parameter socket: our end; the worker's is readable when this returns.
    init(_ archive: AskedArchive, _ socket: Descriptor) throws {
        self.archive = archive
        self.socket = socket
        let size = ArchiveQuestion.bytes(UInt64(archive.size), ArchiveQuestion.sizeLength)
        let sent = size.withUnsafeBytes { send(socket.raw, $0.baseAddress, $0.count, Self.flags) }
        guard sent == size.count else { throw Fault.system("write to the unpacking process for", archive.path) }
    }

    private static let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)

    /// The event to poll for.
    var wait: pollfd {
        pollfd(fd: isOver ? -1 : socket.raw, events: Int16(unsent.isEmpty ? POLLIN : POLLOUT), revents: 0)
    }

    /// Continues when the socket is ready. Blocks while it reads the requested bytes.
    ///
    /// - Returns: false if the request makes no sense.
    /// - Throws: any error from reading the archive.
    func goOn() throws -> Bool {
        if !unsent.isEmpty {
            put()
            return true
        }
        var part = [UInt8](repeating: 0, count: ArchiveQuestion.length - question.count)
        let got = recv(socket.raw, &part, part.count, Self.flags)
        if got < 0, [EAGAIN, EINTR].contains(errno) { return true }
        guard got > 0 else {
            // No more requests; its output and exit are handled elsewhere.
            isOver = true
            return true
        }
        question += part[..<got]
        guard question.count == ArchiveQuestion.length else { return true }
        var cursor = ByteCursor(question)
        question = []
        guard let offset = cursor.number(8).flatMap({ Int64(exactly: $0) }), let count = cursor.number(4),
            (1...UInt64(ArchiveQuestion.mostBytes)).contains(count), offset <= archive.size,
            Int64(count) <= archive.size - offset
        else { return false }
        try answer.withUnsafeMutableBytes {
            try archive.read(UnsafeMutableRawBufferPointer(rebasing: $0[..<Int(count)]), offset)
        }
        unsent = 0..<Int(count)
        put()
        return true
    }

    private func put() {
        while !unsent.isEmpty {
            let sent = answer.withUnsafeBytes {
                send(socket.raw, $0.baseAddress?.advanced(by: unsent.lowerBound), unsent.count, Self.flags)
            }
            if sent < 0 {
                if errno == EINTR { continue }
                isOver = errno != EAGAIN
                return
            }
            unsent = (unsent.lowerBound + sent)..<unsent.upperBound
        }
    }
}
