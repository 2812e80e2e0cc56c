import Glibc
import Platform

/// A listening socket of this machine.
package struct LocalListener: Sendable, Hashable {
    package var address: HostAddress
    package var port: Int
    /// Its owner.
    package var user: uid_t

    package init(address: HostAddress, port: Int, user: uid_t) {
        self.address = address
        self.port = port
        self.user = user
    }

    /// Whether a connection to that address and port may reach this socket. An IPv6 wildcard socket may accept IPv4 as
    /// well.
    package func serves(_ wanted: HostAddress, _ port: Int) -> Bool {
        guard self.port == port else { return false }
        return address == wanted || address.isAny && address.bytes.count >= wanted.bytes.count
    }

    /// All current listeners. Blocks.
    ///
    /// - Throws: `Fault` if the system does not provide the list.
    package static func all() throws -> [LocalListener] {
        // In the process's own folder, which exists even in sandboxes that hide the rest of /proc.
        guard let first = try TKFile.read("/proc/self/net/tcp", limit: 64 << 20) else {
            throw Fault(.failed, "/proc/self/net/tcp is not there", path: "/proc/self/net/tcp")
        }
        // A machine without IPv6 has no such list.
        let second = try TKFile.read("/proc/self/net/tcp6", limit: 64 << 20) ?? []
        return listeners(in: first) + listeners(in: second)
    }

    /// Parses the kernel's list: column two of each line is the address with its port, column four the state, column
    /// eight the user.
    package static func listeners(in list: [UInt8]) -> [LocalListener] {
        list.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap { line in
            let columns = line.split(separator: UInt8(ascii: " "))
            guard columns.count > 7, columns[3].elementsEqual("0A".utf8),
                let user = uid_t(String(decoding: columns[7], as: UTF8.self))
            else { return nil }
            let parts = String(decoding: columns[1], as: UTF8.self).split(separator: ":")
            guard parts.count == 2, [8, 32].contains(parts[0].utf8.count), let port = Int(parts[1], radix: 16) else {
                return nil
            }
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: parts[0].count, by: 8) {
                // Each four bytes are printed as a number in host byte order.
                guard let word = UInt32(parts[0].dropFirst(start).prefix(8), radix: 16) else { return nil }
                withUnsafeBytes(of: word) { bytes += $0 }
            }
            return LocalListener(address: HostAddress(bytes), port: port, user: user)
        }
    }
}
