import Glibc
import NIOCore
import NIOHTTP1

/// A connection below the HTTP level, for things that no HTTP server does.
struct RawConnection {
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    /// Ends it with RST, so that the peer loses unread data.
    ///
    /// - Throws: NIO's errors.
    func reset() async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await close()
    }

    /// Closes it normally.
    ///
    /// - Throws: NIO's errors.
    func close() async throws {
        do {
            try await channel.close(mode: .all).get()
        } catch ChannelError.alreadyClosed {
            // The peer closed it at the same moment.
        }
    }

    /// Sends raw bytes past the HTTP encoder; still encrypted if TLS is used.
    ///
    /// - Throws: NIO's errors.
    func send(_ text: String) async throws {
        try await channel.eventLoop.submit { [channel] in
            let encoder = try channel.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            let sent = channel.eventLoop.makePromise(of: Void.self)
            encoder.writeAndFlush(NIOAny(ByteBuffer(string: text)), promise: sent)
            return sent.futureResult
        }.flatMap { $0 }.get()
    }
}
