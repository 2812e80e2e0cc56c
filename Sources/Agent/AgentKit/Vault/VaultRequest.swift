import ComicVault
import Platform

/// What a command asks of an unlocked vault, wherever that is: in the daemon or in the command itself.
package struct VaultRequest: Codable, Sendable, Equatable {
    package enum Operation: String, Codable, Sendable {
        case unlock, lock, status
        case list, show, extract, page, thumbnail, progress, bookmark, rename, remove, verify, passwd
        case addSlot = "slots-add"
        case removeSlot = "slots-remove"
        case quarantine, adopt, discard
        case ingest = "take-in"
        case acceptRollback = "accept-rollback"
    }

    /// Bytes of a password or key file, which follow by themselves: they are never part of a text.
    package struct Secret: Codable, Sendable, Equatable {
        package let kind: Credential.Kind
        package let count: Int
    }

    /// What becomes of a comic's progress or of a bookmark.
    package enum Mark: String, Codable, Sendable {
        /// That page is being read.
        case page
        /// Read to its end.
        case done
        /// As if it had never been opened.
        case reset
        /// Sets the page's bookmark where there is none, removes it where there is one.
        case toggle
        case remove
    }

    package var operation: Operation
    package var vault: String
    /// An id, the beginning of one, or a name.
    package var comic: String?
    /// Counted from 1; nil for the cover.
    package var page: Int?
    /// nil only asks.
    package var mark: Mark?
    package var name: BytePath?
    package var ids: [String] = []
    package var dropsTornTail = false
    /// Only says what would be destroyed.
    package var isDryRun = false
    package internal(set) var secrets: [Secret] = []

    package init(
        _ operation: Operation, _ vault: String, comic: String? = nil, page: Int? = nil, mark: Mark? = nil,
        name: BytePath? = nil, ids: [String] = [], dropsTornTail: Bool = false
    ) {
        self.operation = operation
        self.vault = vault
        self.comic = comic
        self.page = page
        self.mark = mark
        self.name = name
        self.ids = ids
        self.dropsTornTail = dropsTornTail
    }
}

/// Where the answer's longer parts go while it is being made. Both may throw to end the work.
package struct VaultOutlet {
    package let progress: (_ done: Int64, _ total: Int64, _ text: String) throws -> Void
    /// Is given a comic's bytes, in order; they are valid during the call only.
    package let bytes: (UnsafeRawBufferPointer) throws -> Void

    package init(
        progress: @escaping (Int64, Int64, String) throws -> Void = { _, _, _ in },
        bytes: @escaping (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) {
        self.progress = progress
        self.bytes = bytes
    }
}

extension VaultOutlet {
    /// The same, asking first whether to go on.
    func ending(_ check: @escaping () throws -> Void) -> VaultOutlet {
        let (progress, bytes) = (progress, bytes)
        return VaultOutlet(
            progress: {
                try check()
                try progress($0, $1, $2)
            },
            bytes: {
                try check()
                try bytes($0)
            })
    }
}

/// What a command has to tell apart, in ``Fault/code``.
package enum VaultCode {
    /// The one that was asked does not hold the keys.
    package static let locked = "vault-locked"
    package static let incorrect = "incorrect-password"
    /// A person has to say whether an incomplete record may go.
    package static let tornTail = "torn-tail"
    package static let inUse = "vault-in-use"
}

extension VaultError {
    /// As ``fault``, with the code that commands look for.
    package var codedFault: Fault {
        let plain = fault
        let code: String? =
            switch self {
            case .locked: VaultCode.locked
            case .incorrectPassword: VaultCode.incorrect
            case .manifestCorrupted(.tornTail): VaultCode.tornTail
            case .inUse: VaultCode.inUse
            default: plain.code
            }
        return Fault(plain.kind, plain.message, path: plain.path, errno: plain.errno, code: code)
    }

    /// Runs `body`; errors of a vault become faults.
    package static func coded<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as VaultError {
            throw error.codedFault
        }
    }

    package static func coded<R>(_ body: () async throws -> R) async throws -> R {
        do {
            return try await body()
        } catch let error as VaultError {
            throw error.codedFault
        }
    }
}
