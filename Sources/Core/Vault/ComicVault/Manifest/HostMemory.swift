import Platform

/// How far the manifest had progressed when this host last saw it.
package struct HighWaterMark: Hashable, Sendable {
    package let vault: VaultID
    package let head: ManifestHead

    package init(vault: VaultID, head: ManifestHead) {
        self.vault = vault
        self.head = head
    }
}

/// A vault that this host trusts: nothing is sealed to any other key.
package struct HostPin: Hashable, Sendable {
    package let vault: VaultID
    /// 32 bytes (X25519).
    package let publicKey: [UInt8]

    package init(vault: VaultID, publicKey: [UInt8]) {
        self.vault = vault
        self.publicKey = publicKey
    }

    init?(line: (name: String, value: String)) {
        guard let vault = VaultID(hex: line.name), let key = bytesOf(hexadecimal: line.value), key.count == 32 else {
            return nil
        }
        self.init(vault: vault, publicKey: key)
    }
}

/// A comic that this host has sealed while the vault was locked.
package struct HostDeposit: Hashable, Sendable {
    package let drop: ObjectID
    package let vault: VaultID
    /// Bytes of the content: envelope and archive.
    package let length: UInt64
    /// 32 bytes.
    package let headerMAC: [UInt8]
    /// Its stage, from sealing to removal.
    package let stage: Stage

    package enum Stage: String, Sendable {
        /// Its file may not have been renamed into place yet.
        case making
        case waiting
        /// It was ingested or rejected; its file is being removed, or is gone, and is not reported as missing.
        case resolved = "settled"
    }

    package init(
        drop: ObjectID, vault: VaultID, length: UInt64, headerMAC: [UInt8], stage: Stage = .waiting
    ) {
        self.drop = drop
        self.vault = vault
        self.length = length
        self.headerMAC = headerMAC
        self.stage = stage
    }

    package func at(_ stage: Stage) -> HostDeposit {
        HostDeposit(drop: drop, vault: vault, length: length, headerMAC: headerMAC, stage: stage)
    }
}
