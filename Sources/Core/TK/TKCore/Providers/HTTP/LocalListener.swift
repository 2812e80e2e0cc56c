import Glibc
import Platform

/// A socket of this machine that waits for connections.
package struct LocalListener: Sendable, Hashable {
    package var address: HostAddress
    package var port: Int
    /// Who made it.
    package var user: uid_t

    package init(address: HostAddress, port: Int, user: uid_t) {
        self.address = address
        self.port = port
        self.user = user
    }

    /// Whether a connection to that address and port may arrive here. A socket for every address of IPv6 may take
    /// IPv4's as well.
    package func serves(_ wanted: HostAddress, _ port: Int) -> Bool {
        guard self.port == port else { return false }
        return address == wanted || address.isAny && address.bytes.count >= wanted.bytes.count
    }

    /// All there are now. Blocks.
    ///
    /// - Throws: `Fault` where the system does not tell.
    package static func all() throws -> [LocalListener] {
        // Below the process's own folder, which is there in cages that hide the rest of /proc.
        guard let first = try TKFile.read("/proc/self/net/tcp", limit: 64 << 20) else {
            throw Fault(.failed, "/proc/self/net/tcp is not there", path: "/proc/self/net/tcp")
        }
        // A machine without IPv6 has no list of it.
        let second = try TKFile.read("/proc/self/net/tcp6", limit: 64 << 20) ?? []
        return listeners(in: first) + listeners(in: second)
    }

    /// Those of a list as the kernel writes it: of each line the second column is the address with its port, the fourth
    /// the state, the eighth the user.
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
                // Each four bytes are printed as a number of this machine's.
                guard let word = UInt32(parts[0].dropFirst(start).prefix(8), radix: 16) else { return nil }
                withUnsafeBytes(of: word) { bytes += $0 }
            }
            return LocalListener(address: HostAddress(bytes), port: port, user: user)
        }
    }
}
