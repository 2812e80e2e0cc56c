import Glibc
import OwnFiles
import Platform

/// Leftovers of an interrupted rekey beside the vault.
package enum RekeyRemains: Sendable, Equatable {
    /// A copy with the new keys, perhaps incomplete; the vault itself is unchanged.
    case copy(BytePath)
    /// The old vault: the new one is already in place.
    case old(BytePath)

    /// Instructions for the person.
    package var advice: String {
        switch self {
        case .copy(let path):
            "a rekey was interrupted: `steward vault rekey` with the same new password resumes it; to abandon it remove "
                + "\(path), the vault is complete without it"
        case .old(let path):
            "a rekey has given the vault new keys, and was interrupted before it removed the old one at \(path): "
                + "unlocking with the new password does that"
        }
    }
}

extension SealedVault {
    /// - Returns: nil if no rekey was begun, or one is running.
    package func rekeyRemains() throws -> RekeyRemains? {
        let beside = Self.siblingPath(folder.path)
        let pins = try host.pins()
        let isExchanged = pins.count == 2 && pins[1].vault == id
        let next = (isExchanged ? folder.path : beside).appending(VaultLayout.description)
        guard try FileStatus.of(next)?.kind == .file else { return nil }
        // A running rekey holds the new vault's lock.
        guard try FileLock.acquireSoon(.exclusive, on: Descriptor(next, O_RDWR)) else { return nil }
        return isExchanged ? .old(beside) : .copy(beside)
    }
}
