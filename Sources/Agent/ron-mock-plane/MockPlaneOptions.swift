import Logging
import Platform

/// Options of a ``MockPlane``.
package struct MockPlaneOptions: Sendable {
    /// The name or address to listen on.
    package var host = "127.0.0.1"
    /// 0 picks a free port.
    package var port = 0
    /// A certificate chain and its key, both as PEM files; nil for plain HTTP.
    package var tls: (certificate: BytePath, key: BytePath)?
    /// The required `Authorization`; other requests get 401 or 403 as from a Micronode. `Macro TOKEN`, or the value as
    /// is if it contains a scheme (`Bearer TOKEN`). nil admits everyone.
    package var token: String?
    /// A file to which each request is appended as a line of JSON before it is answered.
    package var record: BytePath?
    /// A file for the received events, so that they survive the plane; nil keeps them in memory.
    package var store: BytePath?
    /// Maximum size of a request's body in bytes; a larger one gets 413 in plain text, as from the gateway.
    package var bodyLimit = 2 << 20
    /// How many recent requests are kept in memory for ``MockPlane/requests``.
    package var kept = 10_000
    /// For the server's own messages; by default, warnings and worse.
    package var logger: Logger = {
        var logger = Logger(label: "ron-mock-plane")
        logger.logLevel = .warning
        return logger
    }()

    package init() {}
}
