import Glibc
import Platform

/// Errors of a vault; each needs a different response. A full disk and the like stay a `Fault`, wrapped in
/// ``encryptionFailed(underlying:)`` or ``decryptionFailed(underlying:)`` if a comic was being sealed or read.
package enum VaultError: Error, Sendable {
    /// No slot opens with this password or key file.
    case incorrectPassword
    case unusablePassword(PasswordProblem)
    /// A key file is not usable.
    case unusableKeyFile(String)
    /// There is no vault here, or its description is damaged.
    case notAVault(BytePath, why: String)
    /// There is no vault here although this host knows one: its disk may come back.
    case away(BytePath)
    /// Made by another version of the program, or by another program.
    case unsupportedFormat(BytePath, what: String)
    /// A file belongs to another vault.
    case wrongVault(BytePath, found: VaultID, expected: VaultID)
    /// There is a different vault where this host knows one.
    case strangeVault(expected: VaultID, found: VaultID)
    case damagedSlot(BytePath, why: String)
    case damagedObject(BytePath, ObjectDamage)
    /// A file size, in bytes, that the object cannot have; `expected` if that is known.
    case truncatedObject(BytePath, size: Int64, expected: Int64?)
    /// The bytes to seal are not the validated ones.
    case contentChanged(BytePath)
    case encryptionFailed(underlying: any Error)
    case decryptionFailed(underlying: any Error)
    case manifestCorrupted(ManifestDamage)
    case manifestMissing(BytePath)
    /// The host's own state file beside the vault has invalid content.
    case hostStateDamaged(BytePath)
    /// The manifest is neither the one that this host remembers nor a successor of it. Nothing is written until a
    /// person has decided.
    case rolledBack(mark: ManifestHead, disk: ManifestHead)
    /// The keys are not in memory.
    case locked
    /// Another process has the vault unlocked.
    case inUse(BytePath, holder: String)
    /// This host does not trust the key; nothing is sealed to an untrusted key.
    case notTrusted(BytePath, why: String)
    case noSuchComic(String)
    /// A file named by the manifest is missing.
    case missingObject(BytePath)
    /// The same bytes are in the vault under this name.
    case duplicate(ComicID, BytePath)
}

/// The kind of damage to an object. No byte of the damaged part has been returned.
package enum ObjectDamage: Hashable, Sendable, CustomStringConvertible {
    /// A fixed field of the first 256 bytes has the wrong value.
    case header(String)
    /// The object's name does not match its file name.
    case name(found: ObjectID)
    /// The object's key does not open: the header was changed, or it was sealed to another key.
    case key
    /// The key opens, but the header's tag does not match.
    case headerTag
    /// This 64 KiB chunk, counted from 0, does not verify; `of` is how many there are.
    case chunk(Int64, of: Int64)
    /// The object verifies, but its content is not valid for its kind.
    case content(String)

    package var description: String {
        switch self {
        case .header(let field): "its header is damaged (\(field))"
        case .name(let found): "its header names the object \(found)"
        case .key: "its key cannot be opened with this vault's keys"
        case .headerTag: "its header was changed"
        case .chunk(let index, let count): "part \(index + 1) of \(count) does not verify"
        case .content(let what): "its content is not what was sealed (\(what))"
        }
    }
}

/// Whether it failed for lack of space: a full disk or a quota.
func isFullDisk(_ error: any Error) -> Bool {
    let errno = (error as? Fault ?? (error as? VaultError)?.fault)?.errno
    return errno == ENOSPC || errno == EDQUOT
}

extension Fault {
    /// Whether it concerns the file itself: a read error will not go away later either.
    var isLasting: Bool { kind != .transient || errno == EIO }
}

/// Why a password is unusable.
package enum PasswordProblem: Hashable, Sendable {
    case empty
    /// Longer than 1,024 bytes.
    case tooLong
    case notUTF8
    case controlCharacter
}

extension VaultError: CustomStringConvertible {
    package var description: String { fault.message }

    /// The same error as a `Fault`, classified by what the agent must do.
    package var fault: Fault {
        switch self {
        case .incorrectPassword:
            Fault(
                .usage,
                "wrong password or key for this vault; nothing was changed, try again (if you are sure of it, its key "
                    + "slot may be damaged: restore keys/ from a backup)")
        case .unusablePassword(let problem): Fault(.usage, Self.text(problem))
        case .unusableKeyFile(let why): Fault(.usage, "this key file cannot be used: \(why)")
        case .notAVault(let path, let why):
            Fault(
                .failed, "\(path) is not a comic vault (\(why)); check the path, or restore the file from a backup",
                path: path)
        case .away(let path):
            Fault(
                .transient, "the vault \(path) is gone; mount its disk, or restore it from a backup", path: path,
                code: StandingFolder.displaced)
        case .unsupportedFormat(let path, let what):
            Fault(
                .failed,
                "\(path) has a format that this version cannot read (\(what)); update the program, or restore the file "
                    + "from a backup if it is damaged",
                path: path)
        case .wrongVault(let path, let found, let expected):
            Fault(
                .failed, "\(path) belongs to the vault \(found), not to \(expected); put it back where it came from",
                path: path)
        case .strangeVault(let expected, let found):
            Fault(
                .failed,
                "this is the vault \(found), but this host knows the vault \(expected) here; nothing was changed, see "
                    + "whether the right disk is mounted")
        case .damagedSlot(let path, let why):
            Fault(
                .failed,
                "the key slot \(path) is damaged (\(why)); unlock with another slot, or restore it from a backup",
                path: path)
        case .damagedObject(let path, let damage):
            Fault(.failed, "\(path) is damaged: \(damage); restore it from a backup", path: path)
        case .truncatedObject(let path, let size, let expected):
            Fault(.failed, Self.text(path, size, expected), path: path)
        case .contentChanged(let path):
            Fault(
                .transient, "\(path) changed while it was sealed; nothing was kept, and it is retried automatically",
                path: path)
        case .encryptionFailed(let cause):
            Self.wrap(cause, "the comic could not be sealed (\(explain(cause))); the original is unchanged")
        case .decryptionFailed(let cause):
            Self.wrap(cause, "the sealed comic could not be opened (\(explain(cause)))")
        case .manifestCorrupted(.strangeFile(let name)):
            Fault(
                .failed,
                "\(ManifestDamage.strangeFile(name)); nothing was changed, move it out of manifest/ and unlock again")
        case .manifestCorrupted(let damage):
            Fault(.failed, "\(damage); nothing was changed, restore the vault's manifest/ from a backup")
        case .manifestMissing(let path):
            Fault(
                .failed,
                "\(path) has no manifest, and a vault without one is damaged, not empty; restore it from a backup",
                path: path)
        case .hostStateDamaged(let path):
            Fault(
                .failed,
                "\(path) is not a valid record of the vault; restore it, or remove it to start again",
                path: path)
        case .rolledBack(let mark, let disk):
            Fault(
                .failed,
                "the vault differs from its last state on this host: it is at \(disk), and the host remembers \(mark); put the "
                    + "newer copy back, or accept this one with `steward vault accept-rollback`")
        case .locked: Fault(.failed, "the vault is locked; unlock it with `steward vault unlock`")
        case .inUse(let path, let holder):
            Fault(.transient, "\(path) is in use by \(holder); lock it there, or stop that process first", path: path)
        case .notTrusted(let path, let why):
            Fault(
                .failed,
                "\(path): \(why); nothing was sealed and nothing removed, see `steward vault trust`",
                path: path)
        case .missingObject(let path):
            Fault(.failed, "\(path) is gone, and the manifest needs it; restore it from a backup", path: path)
        case .noSuchComic(let name): Fault(.refused, "no comic “\(name)” is in the vault")
        case .duplicate(let id, let name):
            Fault(.refused, "the same comic is in the vault already, as \(name) (\(id))")
        }
    }

    private static func wrap(_ cause: any Error, _ message: String) -> Fault {
        let inner = cause as? Fault ?? (cause as? VaultError)?.fault
        return Fault(inner?.kind ?? .failed, message, path: inner?.path, errno: inner?.errno, code: inner?.code)
    }

    private static func text(_ path: BytePath, _ size: Int64, _ expected: Int64?) -> String {
        let what = expected.map { size < $0 ? "is truncated" : "has extra bytes" } ?? "is truncated or has extra bytes"
        let figures = expected.map { "\(size) bytes instead of \($0)" } ?? "\(size) bytes"
        return "\(path) \(what) (\(figures)); restore it from a backup"
    }

    private static func text(_ problem: PasswordProblem) -> String {
        switch problem {
        case .empty: "the password is empty; choose one of at least one character"
        case .tooLong: "the password is longer than 1,024 bytes; choose a shorter one"
        case .notUTF8: "the password is not valid UTF-8; type it in a terminal set to UTF-8, or use a key file"
        case .controlCharacter:
            "the password holds a control character (a line break, a tab, an escape); choose one without"
        }
    }
}
