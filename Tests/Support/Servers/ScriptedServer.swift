import Foundation
import Glibc
import Synchronization

/// An HTTP server on loopback that answers by script, byte by byte if necessary, and records its requests. It uses
/// plain sockets, so an answer can be split, cut or held anywhere.
package final class ScriptedServer: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var path: String
        /// By lower-case name.
        package var headers: [String: String]
        package var body: String
        /// The target of a preceding CONNECT.
        package var tunnel: String?

        /// The body as a JSON object.
        package var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
        }
    }

    /// How a streamed answer ends.
    package enum Ending: Sendable {
        /// As HTTP requires.
        case whole
        /// The connection closes, without HTTP's final chunk.
        case cut
        /// Silence, until the client disconnects.
        case held
    }

    package struct Answer: Sendable {
        package var bytes: [[UInt8]]
        package var ending: Ending

        /// An answer, byte for byte.
        package init(bytes: [[UInt8]], ending: Ending) {
            self.bytes = bytes
            self.ending = ending
        }

        package static func reply(_ status: Int, _ body: String, headers: [String: String] = [:]) -> Answer {
            var head = "HTTP/1.1 \(status) X\r\ncontent-length: \(body.utf8.count)\r\nconnection: close\r\n"
            if headers["content-type"] == nil { head += "content-type: application/json\r\n" }
            for (name, value) in headers { head += "\(name): \(value)\r\n" }
            return Answer(bytes: [Array((head + "\r\n" + body).utf8)], ending: .whole)
        }

        /// Sends each piece separately.
        package static func stream(
            _ pieces: [[UInt8]], type: String = "text/event-stream", ending: Ending = .whole
        ) -> Answer {
            let head =
                "HTTP/1.1 200 OK\r\ncontent-type: \(type)\r\ntransfer-encoding: chunked\r\nconnection: close\r\n"
                + "request-id: req_test\r\n\r\n"
            let chunks = pieces.map { Array("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Array("\r\n".utf8) }
            return Answer(
                bytes: [Array(head.utf8)] + chunks + (ending == .whole ? [Array("0\r\n\r\n".utf8)] : []),
                ending: ending)
        }

        package static func stream(
            _ text: String, type: String = "text/event-stream", ending: Ending = .whole
        ) -> Answer {
            stream([Array(text.utf8)], type: type, ending: ending)
        }
    }

    private struct State {
        var requests: [Request] = []
        var abandoned = 0
        var sent = 0
    }

    package let port: Int
    private let listener: Int32
    private let answer: @Sendable (Request) -> Answer?
    private let state: Mutex<State>

    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { state.withLock(\.requests) }
    /// How many answers the client has abandoned: held ones, and those that could not be sent.
    package var abandoned: Int { state.withLock(\.abandoned) }

    /// How many bytes of answers have been sent.
    package var sent: Int { state.withLock(\.sent) }

    /// Returns `answers` in order, the last one repeatedly.
    package convenience init(_ answers: Answer...) throws {
        let rest = Mutex(answers)
        try self.init { _ in
            rest.withLock { $0.count > 1 ? $0.removeFirst() : $0.first }
        }
    }

    /// Answers each request as `answer` says; if that is nil, closes the connection.
    package init(answer: @escaping @Sendable (Request) -> Answer?) throws {
        self.answer = answer
        state = Mutex(State())
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw TestFailure("no socket") }
        listener = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(descriptor, general, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, general, &length) == 0
            }
        }
        guard bound else {
            close(descriptor)
            throw TestFailure("cannot listen on loopback")
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    return
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// From now on nobody answers at the port. The descriptor stays open, because the accepting thread may be about to
    /// use it; a server lives as long as the process, so a test may drop it while its address is in use.
    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        guard var request = Self.read(connection) else { return }
        // As a proxy, it is its own target.
        if request.method == "CONNECT" {
            let target = request.path
            guard Self.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), to: connection),
                let inner = Self.read(connection)
            else { return }
            request = inner
            request.tunnel = target
        }
        let answer = state.withLock { state in
            state.requests.append(request)
            return self.answer(request)
        }
        guard let answer else { return }
        for part in answer.bytes {
            guard Self.write(part, to: connection) else { return state.withLock { $0.abandoned += 1 } }
            state.withLock { $0.sent += part.count }
        }
        if answer.ending == .held {
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
            state.withLock { $0.abandoned += 1 }
        }
    }

    private static func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                send(connection, buffer.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private static func read(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        func more() -> Bool {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            bytes.append(contentsOf: buffer[..<count])
            return true
        }
        let blank = Array("\r\n\r\n".utf8)
        var head: Int?
        while head == nil {
            guard more() else { return nil }
            head = bytes.indices.first { bytes[$0...].starts(with: blank) }
        }
        guard let head else { return nil }
        let lines = String(decoding: bytes[..<head], as: UTF8.self).components(separatedBy: "\r\n")
        let first = lines[0].components(separatedBy: " ")
        guard first.count == 3 else { return nil }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = headers["content-length"].flatMap(Int.init) ?? 0
        while bytes.count < head + 4 + length { guard more() else { return nil } }
        return Request(
            method: first[0], path: first[1], headers: headers,
            body: String(decoding: bytes[(head + 4)..<(head + 4 + length)], as: UTF8.self))
    }
}
