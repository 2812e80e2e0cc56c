import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL
import Platform
import ServiceLifecycle
import UnixSignals

/// An app plane for development and tests: the routes that the original gateway's tests proxy, those in the SDKs'
/// examples, an idempotent sink for events, and every possible fault of a network or node (`docs/ron.md`).
package final class MockPlane: Sendable {
    /// The port it listens on.
    package let port: Int
    /// `http://host:port`, or `https://` with a certificate.
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

    /// The last requests, oldest first, including those that ended in a fault.
    package var requests: [RecordedRequest] { recorder.requests }

    /// How often a client disconnected before its answer was complete.
    package var abandoned: Int { connections.abandoned }

    /// The number of open connections that have sent a request.
    package var openConnections: Int { connections.count }

    /// The accepted events, in order of arrival.
    package var events: [ReceivedEvent] { sink.events }

    /// Serves until the task is cancelled or one of `signals` arrives.
    ///
    /// - Parameters:
    ///   - options: the plane's options.
    ///   - signals: process signals to stop on; connections then have two seconds to end.
    ///   - onRunning: called once it listens.
    /// - Throws: `Fault` if a file cannot be used; NIO's errors for an unusable address or certificate.
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

    /// Accepts no more connections, and closes the open ones.
    private func stop() async {
        await server.triggerGracefulShutdown()
        connections.closeAll()
    }

    /// Serves while `body` runs; stopped on return.
    ///
    /// - Parameters:
    ///   - options: the plane's options.
    ///   - body: receives the running plane.
    /// - Returns: the result of `body`.
    /// - Throws: the errors of `body`, and as ``run(_:until:onRunning:)``.
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
                // It ended before it listened, usually with an error.
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

/// State shared by a plane's routes.
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
