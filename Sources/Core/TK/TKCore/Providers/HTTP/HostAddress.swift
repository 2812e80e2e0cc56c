import Glibc

/// An IP address, of a server or of a listener on this machine.
package struct HostAddress: Sendable, Hashable, CustomStringConvertible {
    /// Four or sixteen bytes, in network order.
    package let bytes: [UInt8]

    /// Converts an IPv4-mapped IPv6 address to IPv4.
    package init(_ bytes: some Collection<UInt8>) {
        let all = Array(bytes)
        let isMapped = all.count == 16 && all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
        self.bytes = isMapped ? Array(all.suffix(4)) : all
    }

    /// The wildcard address of a listener.
    package var isAny: Bool { bytes.allSatisfy { $0 == 0 } }

    package var isLoopback: Bool {
        bytes.count == 4 ? bytes[0] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
    }

    /// The destination of a connection to this address: the wildcard address connects to loopback.
    package var reached: HostAddress {
        guard isAny else { return self }
        return HostAddress(bytes.count == 4 ? [127, 0, 0, 1] : [UInt8](repeating: 0, count: 15) + [1])
    }

    /// `127.0.0.1`, `::1`.
    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let length = socklen_t(text.count)
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, length) != nil else { return "?" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The addresses of a name or a numeric address, in the system's order; empty if there are none. Blocks while the
    /// name servers answer.
    package static func lookUp(_ host: String) -> [HostAddress] { lookUp(host, flags: 0) }

    /// Whether it is a numeric address, which needs no lookup. Does not block.
    package static func isNumber(_ host: String) -> Bool { !lookUp(host, flags: AI_NUMERICHOST).isEmpty }

    private static func lookUp(_ host: String, flags: Int32) -> [HostAddress] {
        var wanted = addrinfo()
        wanted.ai_flags = flags
        wanted.ai_family = AF_UNSPEC
        wanted.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &wanted, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [HostAddress] = []
        var entry = list
        while let current = entry {
            if let address = HostAddress(current.pointee.ai_addr) { found.append(address) }
            entry = current.pointee.ai_next
        }
        return found
    }

    private init?(_ general: UnsafeMutablePointer<sockaddr>?) {
        guard let general else { return nil }
        switch Int32(general.pointee.sa_family) {
        case AF_INET:
            self.init(
                general.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
                })
        case AF_INET6:
            self.init(
                general.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                    withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
                })
        default: return nil
        }
    }
}
