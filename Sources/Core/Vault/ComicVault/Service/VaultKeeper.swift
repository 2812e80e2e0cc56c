import Platform

/// The configured vaults, by name.
package final class VaultKeeper: Sendable {
    /// The ``Fault/code`` for an unknown name.
    package static let unknown = "unknown-vault"

    package let services: [VaultService]

    package init(_ services: [VaultService] = []) { self.services = services }

    /// - Throws: `Fault(.usage)` if there is no vault of that name.
    package func service(_ name: String = VaultPlace.standardName) throws -> VaultService {
        if let found = services.first(where: { $0.place.name == name }) { return found }
        let names = services.map(\.place.name)
        throw Fault(
            .usage,
            names.isEmpty
                ? "no vault is configured; add `vaults: { \(name): { path: FOLDER } }` to steward.yaml"
                : "no vault is called “\(name)”; there are \(names.joined(separator: ", "))", code: Self.unknown)
    }

    /// Locks all vaults; returns when their keys are wiped.
    package func lock(_ reason: LockReason) async {
        for service in services { await service.lock(reason) }
    }
}
