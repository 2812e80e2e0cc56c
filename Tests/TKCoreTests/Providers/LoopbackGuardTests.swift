import Foundation
import Glibc
import TKCore
import Testing

/// Which servers on this machine may be asked.
@Suite("Servers on this machine")
struct LoopbackGuardTests {
    private static let own: uid_t = 1000
    private static let here4 = HostAddress([127, 0, 0, 1])
    private static let here6 = HostAddress([UInt8](repeating: 0, count: 15) + [1])
    private static let any4 = HostAddress([0, 0, 0, 0])
    private static let any6 = HostAddress([UInt8](repeating: 0, count: 16))
    private static let away = HostAddress([203, 0, 113, 5])

    private func outcome(
        _ addresses: [HostAddress], _ listeners: [(HostAddress, uid_t)], allows: Bool = false,
        url: String = "http://box:11434"
    ) throws -> Result<String?, LoopbackGuard.Refusal> {
        let all = listeners.map { LocalListener(address: $0.0, port: 11434, user: $0.1) }
        let gate = LoopbackGuard(allowsAnyUser: allows, user: Self.own, lookUp: { _ in addresses }, listeners: { all })
        do {
            return .success(try gate.address(for: try #require(URL(string: url)))?.description)
        } catch let refusal as LoopbackGuard.Refusal {
            return .failure(refusal)
        }
    }

    @Test("The same user's server is asked at the checked address, even if the name has several")
    func own() throws {
        #expect(try outcome([Self.here4], [(Self.here4, Self.own)]) == .success("127.0.0.1"))
        #expect(try outcome([Self.here6, Self.here4], [(Self.here4, Self.own)]) == .success("127.0.0.1"))
        #expect(try outcome([Self.here6, Self.here4], [(Self.any6, Self.own)]) == .success("::1"))
        #expect(
            try outcome([Self.here6, Self.here4], [(Self.here6, 65_534), (Self.here4, Self.own)])
                == .success("127.0.0.1"))
        // A name that resolves to this machine and also elsewhere counts as this machine.
        #expect(try outcome([Self.away, Self.here4], [(Self.here4, Self.own)]) == .success("127.0.0.1"))
        #expect(try outcome([Self.any4], [(Self.here4, Self.own)]) == .success("127.0.0.1"))
    }

    @Test("Another user's server is not, including root's, nor one on a port that both may serve")
    func foreign() throws {
        let cases: [[(HostAddress, uid_t)]] = [
            [(Self.here4, 65_534)], [(Self.here4, 0)], [(Self.any4, 65_534)], [(Self.any6, 65_534)],
            [(Self.here4, Self.own), (Self.any6, 65_534)],
        ]
        for listeners in cases {
            guard case .failure(let refusal) = try outcome([Self.here4], listeners) else {
                Issue.record("let pass: \(listeners)")
                continue
            }
            #expect(refusal.kind == .notAllowed && refusal.message.contains("`tk config set local.allow yes`"))
            #expect(try outcome([Self.here4], listeners, allows: true) == .success(nil))
        }
    }

    @Test("Without a listener nothing is sent; other ports and addresses do not matter")
    func nobody() throws {
        let elsewhere = [(HostAddress([127, 0, 0, 2]), Self.own), (Self.here6, Self.own)]
        guard case .failure(let refusal) = try outcome([Self.here4], elsewhere) else {
            Issue.record("let pass")
            return
        }
        #expect(refusal.kind == .notAvailable && refusal.message.contains("nobody listens"))
        guard case .failure = try outcome([Self.here4], [(Self.here4, Self.own)], url: "http://box:80") else {
            Issue.record("another port")
            return
        }
    }

    @Test("A remote server is ignored, unless its name says that it is local")
    func away() throws {
        #expect(try outcome([Self.away], [(Self.here4, 65_534)]) == .success(nil))
        for host in ["localhost", "box.localhost"] {
            guard case .failure(let refusal) = try outcome([Self.away], [], allows: true, url: "http://\(host):11434")
            else {
                Issue.record("let pass: \(host)")
                continue
            }
            #expect(refusal.kind == .notAllowed && refusal.message.contains("203.0.113.5"))
        }
        guard case .failure(let unknown) = try outcome([], []) else {
            Issue.record("let pass")
            return
        }
        #expect(unknown.kind == .network)
    }

    @Test("The kernel's list: only listening sockets, including IPv4 addresses in IPv6 form")
    func list() throws {
        let list = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:2CAA 00000000:0000 0A 00000000:00000000 00:00000000 00000000   998        0 1 1 0 100 0 0 10 0
               1: 0100007F:2CAB 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1
               2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3 1 0 100 0 0 10 0
               3: 0000000000000000FFFF00000100007F:0051 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     7        0 4 1 0 100 0 0 10 0
            nonsense
            """
        // The words assume a little-endian machine.
        try #require(UInt32(1).littleEndian == 1)
        #expect(
            LocalListener.listeners(in: Array(list.utf8)) == [
                LocalListener(address: Self.here4, port: 11434, user: 998),
                LocalListener(address: Self.here6, port: 80, user: 0),
                LocalListener(address: Self.here4, port: 81, user: 7),
            ])
    }
}
