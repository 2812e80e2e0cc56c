import Glibc
import Rules

/// Where metrics are served: a loopback address and a port.
package struct MetricsAddress: Sendable, Equatable, CustomStringConvertible {
    /// Why a text is not a valid address.
    package struct Complaint: Error {
        package let message: String
    }

    package let host: String
    package let port: Int

    /// - Parameter text: `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`.
    package init(_ text: String) throws(Complaint) {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (1...65_535).contains(port)
        else {
            throw Complaint(message: "`listen` must be an address and port, and `\(printable(text))` is not")
        }
        let host = String(text[..<colon])
        switch host {
        case "localhost": self.host = "127.0.0.1"
        case "[::1]": self.host = "::1"
        case _ where Self.isLoopback(host): self.host = host
        default:
            throw Complaint(
                message: "`listen` must be a loopback address, and `\(printable(host))` is not: anyone who can connect "
                    + "could read the names of places and rules. To scrape from elsewhere, use an authenticating proxy")
        }
        self.port = port
    }

    private static func isLoopback(_ host: String) -> Bool {
        var address = in_addr()
        return inet_pton(AF_INET, host, &address) == 1 && UInt32(bigEndian: address.s_addr) >> 24 == 127
    }

    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether a request's `Host` header names this machine. A web page that points its own name here (DNS rebinding)
    /// still sends that name.
    static func isHere(_ header: String) -> Bool {
        var host = header
        if let colon = header.lastIndex(of: ":"), header[header.index(after: colon)...].allSatisfy(\.isNumber) {
            host = String(header[..<colon])
        }
        return host.lowercased() == "localhost" || host == "[::1]" || isLoopback(host)
    }
}
