import Glibc
import Platform

/// Standard input of a server.
enum StandardInput {
    /// What comes in, read by a thread of its own.
    static func chunks() throws -> AsyncStream<[UInt8]> {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        _ = try OwnerThread {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                continuation.yield(Array(buffer[..<count]))
            }
            continuation.finish()
        }
        return stream
    }
}
