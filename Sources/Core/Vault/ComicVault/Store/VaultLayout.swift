import Platform

/// The names in a vault's folder.
package enum VaultLayout {
    package static let description: BytePath = "vault.json"
    package static let publicKey: BytePath = "vault.pub"
    package static let slots: BytePath = "keys"
    package static let objects: BytePath = "objects"
    package static let drops: BytePath = "drop"
    package static let manifest: BytePath = "manifest"
    package static let quarantine: BytePath = "quarantine"
    package static let temporary: BytePath = "tmp"

    static let folders = [slots, objects, drops, manifest, quarantine, temporary]

    package static func object(_ id: ObjectID) -> BytePath {
        objects.appending(String(id.description.prefix(2))).appending(id.description)
    }

    package static func drop(_ id: ObjectID) -> BytePath { drops.appending(id.description) }

    package static func quarantined(_ id: ObjectID) -> BytePath { quarantine.appending(id.description) }

    package static func slot(_ id: String) -> BytePath { slots.appending("\(id).slot") }

    static func log(_ name: LogName) -> BytePath { manifest.appending(name.description) }

    static func snapshot(_ gen: UInt64) -> BytePath { manifest.appending("snap-\(gen)") }

    /// The generation in the name of a snapshot; nil for any other name.
    static func snapshotGeneration(_ name: BytePath) -> UInt64? {
        guard name.text.hasPrefix("snap-"), let gen = UInt64(name.text.dropFirst(5)), "snap-\(gen)" == name.text else {
            return nil
        }
        return gen
    }
}
