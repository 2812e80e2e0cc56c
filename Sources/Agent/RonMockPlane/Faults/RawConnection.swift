import Glibc
import NIOCore
import NIOHTTP1

/// A connection below its HTTP: for what no HTTP server does by itself.
struct RawConnection {
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    /// Ends it by RST: what was not read at the other side is lost there.
    ///
    /// - Throws: NIO's errors.
    func reset() async throws {
        if let options = channel as? any SocketOptionProvider {
            try await options.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await close()
    }

    /// Ends it as a program does that has nothing more to say.
    ///
    /// - Throws: NIO's errors.
    func close() async throws {
        do {
            try await channel.close(mode: .all).get()
        } catch ChannelError.alreadyClosed {
            // By the other side, at the same moment.
        }
    }

    /// Sends bytes that no encoder has seen; below TLS where there is any.
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
