import Foundation
import Glibc
import Platform

/// Protects drafts and keys from other listeners on this machine: any user may open a port, including a model's usual
/// one. A local server is asked only if it is the same user's, or if ``allowsAnyUser`` permits it.
package struct LoopbackGuard: Sendable {
    /// Why a request was not sent: `notAllowed`, `notAvailable` if there is no listener, `network` for a name without
    /// an address.
    package struct Refusal: Error, Sendable, Hashable {
        package let kind: LLMError.Kind
        /// The problem, its reason, and the next step.
        package let message: String
    }

    private let allowsAnyUser: Bool
    private let user: uid_t
    private let lookUp: @Sendable (String) -> [HostAddress]
    private let listeners: @Sendable () throws -> [LocalListener]

    /// - Parameters:
    ///   - allowsAnyUser: the setting `local.allow`.
    ///   - lookUp: the addresses of a name; may block.
    ///   - listeners: those of this machine; may block.
    package init(
        allowsAnyUser: Bool, user: uid_t = geteuid(),
        lookUp: @escaping @Sendable (String) -> [HostAddress] = { HostAddress.lookUp($0) },
        listeners: @escaping @Sendable () throws -> [LocalListener] = { try LocalListener.all() }
    ) {
        self.allowsAnyUser = allowsAnyUser
        self.user = user
        self.lookUp = lookUp
        self.listeners = listeners
    }

    /// The address to which a request to `url` must be sent, so that it reaches the checked listener; nil if the host
    /// is another machine, or any local server is allowed. Blocks.
    ///
    /// - Throws: ``Refusal``.
    package func address(for url: URL) throws -> HostAddress? {
        let host = (url.host ?? "").trimmingCharacters(in: ["[", "]"])
        let port = url.port ?? (url.scheme?.lowercased() == "https" ? 443 : 80)
        let addresses = lookUp(host).map(\.reached)
        guard let first = addresses.first else {
            throw Refusal(kind: .network, message: "the name of the server cannot be resolved")
        }
        let here = addresses.filter(\.isLoopback)
        guard !here.isEmpty else {
            // The rules for this machine (no proxy, a key without TLS, `fallback local`) were applied by name alone.
            guard !ProxySettings.isLoopback(host) else {
                throw Refusal(
                    kind: .notAllowed,
                    message: "\(host) should be this machine, but the name leads to \(first), so the draft was not "
                        + "sent. Name the server by its address.")
            }
            return nil
        }
        return try served(here, port, "\(url.host ?? host):\(port)")
    }

    private func served(_ addresses: [HostAddress], _ port: Int, _ place: String) throws -> HostAddress? {
        let all: [LocalListener]
        do {
            all = try listeners()
        } catch {
            if allowsAnyUser { return nil }
            throw Refusal(
                kind: .notAllowed,
                message: "who listens at \(place) cannot be found out (\(explain(error))), so the draft was not sent. "
                    + Self.advice)
        }
        let found = addresses.map { address in (address, all.filter { $0.serves(address, port) }) }
            .filter { !$0.1.isEmpty }
        if let own = found.first(where: { $0.1.allSatisfy { $0.user == user } }) { return own.0 }
        if allowsAnyUser { return nil }
        guard let stranger = found.first?.1.first(where: { $0.user != user }) else {
            throw Refusal(
                kind: .notAvailable,
                message:
                    "nothing runs at \(place) (nobody listens there), so the draft was not sent. Start the server, "
                    + "or set the base URL; one of another user's also wants `tk config set local.allow yes`.")
        }
        throw Refusal(
            kind: .notAllowed,
            message: "the server at \(place) is run by \(Self.name(stranger.user)), not by \(Self.name(user)), so the "
                + "draft was not sent. " + Self.advice)
    }

    private static let advice = "If you trust that server, allow it: `tk config set local.allow yes`."

    /// `root (uid 0)`.
    private static func name(_ user: uid_t) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name
        else { return "uid \(user)" }
        return "\(String(cString: name)) (uid \(user))"
    }
}
