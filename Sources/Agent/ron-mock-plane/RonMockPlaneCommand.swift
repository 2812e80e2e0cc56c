import ArgumentParser
import Glibc
import Logging
import Platform
import UnixSignals

@main
struct RonMockPlaneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ron-mock-plane",
        abstract: "An app plane to develop and test against: /app/hello, /app/events and every fault (docs/ron.md).",
        discussion: """
            Prints its address when it listens, and ends by SIGINT or SIGTERM.

                ron-mock-plane --port 5304 &
                RON_SDK_GATEWAY_ADDR=http://127.0.0.1:5304 ron-hello
            """)

    @Option(help: "The name or address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free one.")
    var port = 5304

    @Option(help: ArgumentHelp("A PEM file with the certificate chain; with --tls-key.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("A PEM file with the certificate's key.", valueName: "file"))
    var tlsKey: String?

    @Option(help: "The token required as `Authorization: Macro TOKEN`; otherwise 401 or 403, as from a Micronode.")
    var token: String?

    @Option(help: ArgumentHelp("Append each request to this file, as a line of JSON.", valueName: "file"))
    var record: String?

    @Option(help: ArgumentHelp("Keep the received events in this file.", valueName: "file"))
    var store: String?

    func validate() throws {
        if (tlsCert == nil) != (tlsKey == nil) {
            throw ValidationError("give both --tls-cert and --tls-key, or neither")
        }
        if !(0...65_535).contains(port) { throw ValidationError("--port must be from 0 to 65535") }
    }

    func run() async throws {
        var options = MockPlaneOptions()
        options.host = host
        options.port = port
        options.token = token
        options.record = record.map { BytePath($0) }
        options.store = store.map { BytePath($0) }
        if let tlsCert, let tlsKey { options.tls = (BytePath(tlsCert), BytePath(tlsKey)) }
        // The log goes to standard error: standard output contains only the address.
        LoggingSystem.bootstrap(StreamLogHandler.standardError)
        do {
            try await MockPlane.run(options, until: [.sigterm, .sigint]) { plane in
                print("ron-mock-plane listens at \(plane.url)")
                fflush(nil)
            }
        } catch {
            throw CleanFailure(explanation: "cannot serve at \(host):\(port): \(explain(error))")
        }
    }
}

/// Printed as is, after `Error:`.
struct CleanFailure: Error, CustomStringConvertible {
    let explanation: String
    var description: String { ShownText.line(explanation) }
}
