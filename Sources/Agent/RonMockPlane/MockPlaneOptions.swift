import Logging
import Platform

/// How a ``MockPlane`` is to be started.
package struct MockPlaneOptions: Sendable {
    /// A name or an address to listen at.
    package var host = "127.0.0.1"
    /// 0 for one that is free.
    package var port = 0
    /// A certificate chain and its key, both PEM files; plain HTTP where nil.
    package var tls: (certificate: BytePath, key: BytePath)?
    /// What requests have to carry in `Authorization`, else they get 401 or 403 as from a Micronode: `Macro TOKEN`, or
    /// the value as it is where it names a scheme itself (`Bearer TOKEN`). Everybody is let in where nil.
    package var token: String?
    /// A file to which each request is appended as a line of JSON before it is answered.
    package var record: BytePath?
    /// A file in which the received events lie, so that they survive the plane's end; in memory alone where nil.
    package var store: BytePath?
    /// Bytes of a request's body; a larger one gets 413 in plain text, as from the gateway.
    package var bodyLimit = 2 << 20
    /// How many of the last requests are kept in memory for ``MockPlane/requests``.
    package var kept = 10_000
    /// Gets the server's own messages; warnings and worse where nobody gives another.
    package var logger: Logger = {
        var logger = Logger(label: "ron-mock-plane")
        logger.logLevel = .warning
        return logger
    }()

    package init() {}
}
