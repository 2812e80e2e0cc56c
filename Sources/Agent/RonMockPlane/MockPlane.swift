import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import Platform
import ServiceLifecycle
import UnixSignals

/// An app plane to develop and test against: the routes that the original gateway's tests proxy, those that the SDKs'
/// examples call, an idempotent sink for events, and every fault that a network or a node can have (`docs/ron.md`).
package final class MockPlane: Sendable {
    /// Where it listens.
    package let port: Int
    /// `http://host:port`, or `https://` where it has a certificate.
    package let url: String
    private let recorder: RequestRecorder
    private let sink: EventSink
    private let connections: OpenConnections
    private let server: ServiceGroup

    private init(_ parts: Parts, options: MockPlaneOptions, port: Int, server: ServiceGroup) {
        self.server = server
        self.port = port
        let host = options.host.contains(":") ? "[\(options.host)]" : options.host
        url = "\(options.tls == nil ? "http" : "https")://\(host):\(port)"
        (recorder, sink, connections) = (parts.recorder, parts.sink, parts.connections)
    }

    /// The last requests, oldest first, with those that ended in a fault.
    package var requests: [RecordedRequest] { recorder.requests }

    /// How many answers a client has walked away from.
    package var abandoned: Int { connections.abandoned }

    /// How many connections clients have open now, of those that have sent a request.
    package var openConnections: Int { connections.count }

    /// The events that count, in the order in which they were received.
    package var events: [ReceivedEvent] { sink.events }

    /// Serves until the task is cancelled or one of `signals` arrives.
    ///
    /// - Parameters:
    ///   - options: how.
    ///   - signals: of the process; connections then have two seconds to end.
    ///   - onRunning: called once it listens.
    /// - Throws: `Fault` where a file cannot be used; NIO's errors where the address or the certificate cannot.
    package static func run(
        _ options: MockPlaneOptions, until signals: [UnixSignal] = [],
        onRunning: @escaping @Sendable (MockPlane) async -> Void
    ) async throws {
        let parts = try await Parts(options)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let app = Application(
            router: PlaneRouter.build(options, parts),
            server: try server(options),
            configuration: ApplicationConfiguration(
                address: .hostname(options.host, port: options.port), serverName: "ron-mock-plane"),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? options.port) },
            logger: options.logger)
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: app)], gracefulShutdownSignals: signals, logger: options.logger)
        configuration.maximumGracefulShutdownDuration = .seconds(2)
        let group = ServiceGroup(configuration: configuration)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                defer { port.finish() }
                try await group.run()
            }
            if let port = await ports.first(where: { _ in true }) {
                await onRunning(MockPlane(parts, options: options, port: port, server: group))
            }
            try await tasks.next()
        }
    }

    /// Takes no more connections, and ends those that there are.
    private func stop() async {
        await server.triggerGracefulShutdown()
        connections.closeAll()
    }

    /// Serves while `body` runs, and has ended when this returns.
    ///
    /// - Parameters:
    ///   - options: how.
    ///   - body: is given the running plane.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and as ``run(_:until:onRunning:)``.
    package static func running<R>(
        _ options: MockPlaneOptions = MockPlaneOptions(), _ body: (MockPlane) async throws -> R
    ) async throws -> R {
        let (started, starting) = AsyncStream.makeStream(of: MockPlane.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { starting.finish() }
                try await run(options) { starting.yield($0) }
            }
            guard let plane = await started.first(where: { _ in true }) else {
                // It has ended before it listened, by an error as a rule.
                try await group.next()
                throw Fault(.failed, "the mock plane did not start at \(options.host):\(options.port)")
            }
            do {
                let result = try await body(plane)
                await plane.stop()
                try await group.waitForAll()
                return result
            } catch {
                await plane.stop()
                throw error
            }
        }
    }

    private static func server(_ options: MockPlaneOptions) throws -> HTTPServerBuilder {
        guard let (certificate, key) = options.tls else { return .http1() }
        let chain = try NIOSSLCertificate.fromPEMFile(certificate.text).map { NIOSSLCertificateSource.certificate($0) }
        let secret = try NIOSSLPrivateKey(file: key.text, format: .pem)
        return try .tls(
            tlsConfiguration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(secret)))
    }
}

/// What the routes of one plane share.
struct Parts: Sendable {
    let recorder: RequestRecorder
    let sink: EventSink
    let connections = OpenConnections()
    let faults = FaultCounts()

    init(_ options: MockPlaneOptions) async throws {
        recorder = try await RequestRecorder(options.record, kept: options.kept)
        sink = try await EventSink(options.store)
    }
}
