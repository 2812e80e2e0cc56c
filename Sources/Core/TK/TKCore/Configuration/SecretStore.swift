import Foundation
import Glibc
import OwnFiles
import Platform

/// Where keys of providers come from.
public protocol SecretStore: Sendable {
    /// The key for a provider, or nil where this store has none. Blocks for a moment.
    func secret(for provider: String) throws -> Secret?
    /// Where ``secret(for:)`` takes it from, for people: never the key itself. Nil where it has none.
    func origin(for provider: String) throws -> String?
}

/// Environment, then systemd's credentials, then the user's files: the first that has the key (`docs/tk.md`).
public struct SecretChain: SecretStore {
    private let stores: [any SecretStore]

    /// Asks the stores in this order.
    public init(_ stores: [any SecretStore]) { self.stores = stores }

    /// The usual three.
    ///
    /// - Parameter configured: the provider that `TK_API_KEY` is meant for; no other is ever sent it.
    package init(home: TKHome, environment: [String: String], configured: String?) {
        self.init([
            EnvironmentSecrets(environment: environment, configured: configured),
            CredentialSecrets(environment: environment, configured: configured), FileSecretStore(home: home),
        ])
    }

    /// The key of the first store that has one.
    public func secret(for provider: String) throws -> Secret? {
        for store in stores { if let found = try store.secret(for: provider) { return found } }
        return nil
    }

    /// Where the first store that has a key takes it from.
    public func origin(for provider: String) throws -> String? {
        for store in stores { if let found = try store.origin(for: provider) { return found } }
        return nil
    }
}

/// `TK_API_KEY` for the configured provider, then `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` and so on.
public struct EnvironmentSecrets: SecretStore {
    private let environment: [String: Secret]
    private let configured: String?

    /// Takes the variables that may be keys.
    public init(environment: [String: String], configured: String?) {
        // Only what may be a key is kept, and not as text.
        self.environment = environment.filter { $0.key.hasSuffix("_API_KEY") && !$0.value.isEmpty }.mapValues {
            Secret(trimmed($0))
        }
        self.configured = configured
    }

    /// The variable's value.
    public func secret(for provider: String) throws -> Secret? { name(provider).flatMap { environment[$0] } }

    /// The variable's name.
    public func origin(for provider: String) throws -> String? { name(provider).map { "environment, \($0)" } }

    private func name(_ provider: String) -> String? {
        let names = (provider == configured ? ["TK_API_KEY"] : []) + ["\(variableStem(provider))_API_KEY"]
        return names.first { environment[$0]?.isEmpty == false }
    }
}

/// Files of `$CREDENTIALS_DIRECTORY`, which systemd fills (`LoadCredential=anthropic_api_key:…`): `tk_api_key` for the
/// configured provider, then `anthropic_api_key` and so on.
public struct CredentialSecrets: SecretStore {
    private let folder: BytePath?
    private let configured: String?

    /// Finds the folder; one that is not absolute counts as none.
    public init(environment: [String: String], configured: String?) {
        folder = environment["CREDENTIALS_DIRECTORY"].flatMap { $0.hasPrefix("/") ? BytePath($0) : nil }
        self.configured = configured
    }

    /// The credential's content.
    public func secret(for provider: String) throws -> Secret? { try find(provider)?.secret }

    /// The credential's name.
    public func origin(for provider: String) throws -> String? {
        try find(provider).map { "systemd credential \($0.name)" }
    }

    private func find(_ provider: String) throws -> (name: String, secret: Secret)? {
        guard let folder else { return nil }
        try checkProvider(provider)
        let names = (provider == configured ? ["tk_api_key"] : []) + ["\(variableStem(provider).lowercased())_api_key"]
        for name in names {
            // systemd keeps them in a folder that is nobody else's; links there are its own.
            guard let bytes = try TKFile.read(folder.appending(name), limit: 64 << 10) else { continue }
            let secret = Secret(trimmed(bytes))
            if !secret.isEmpty { return (name, secret) }
        }
        return nil
    }
}

/// One file for each provider, `~/.tk/secrets/anthropic`, which only its user may read: mode 0600 in a folder of mode
/// 0700. What others may read is refused.
public struct FileSecretStore: SecretStore {
    package let folder: BytePath

    package init(home: TKHome) { self.init(folder: home.secrets) }

    /// For keys of others' than providers.
    package init(folder: BytePath) { self.folder = folder }

    /// In the user's `.tk` folder, found by `TK_HOME` or `HOME`.
    public init(environment: [String: String]) throws { self.init(home: try TKHome(environment: environment)) }

    /// The file's content; throws where others may read it.
    public func secret(for provider: String) throws -> Secret? {
        let path = try self.path(provider)
        // Links are not followed: the mode that counts is that of the file here.
        guard let status = try FileStatus.of(path) else { return nil }
        guard status.kind == .file else {
            throw Fault(
                .usage, "\(path) is no plain file, so no key is read from it; put the key into a file", path: path)
        }
        try checkFolder()
        let file = try Descriptor(path)
        let opened = try file.status()
        guard opened.mode & 0o077 == 0 else {
            throw Fault(
                .usage,
                "other users may read the key in \(path), so it is not used; run `chmod 600 \(path)`, and have "
                    + "the provider issue a new key if anybody could have seen this one", path: path)
        }
        guard opened.owner == geteuid() || geteuid() == 0 else {
            throw Fault(
                .usage,
                "\(path) belongs to another user, so its key is not used; write your own, for a model with "
                    + "`tk config set api_key --stdin`", path: path)
        }
        let secret = Secret(trimmed(try file.readAll(limit: 64 << 10)))
        return secret.isEmpty ? nil : secret
    }

    /// The file's path.
    public func origin(for provider: String) throws -> String? {
        try secret(for: provider).map { _ in try path(provider).description }
    }

    /// Keeps a key in place of the former one. Blocks until it is on the disk.
    public func set(_ secret: Secret, for provider: String) throws {
        let text = trimmed(secret.reveal())
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault(
                .usage, "the key for \(provider) was not stored: a key is one word of printable ASCII characters")
        }
        let path = try self.path(provider)
        try Durable.makeDirectory(folder, mode: 0o700)
        try checkFolder()
        try Durable.replaceOwn(path, with: Array((text + "\n").utf8), mode: 0o600)
    }

    /// Forgets the provider's key.
    ///
    /// - Returns: false where there was none.
    public func remove(for provider: String) throws -> Bool {
        let path = try self.path(provider)
        guard try FileStatus.of(path) != nil else { return false }
        try Durable.remove(path)
        try Durable.syncDirectory(folder)
        return true
    }

    private func path(_ provider: String) throws -> BytePath {
        try checkProvider(provider)
        return folder.appending(provider)
    }

    private func checkFolder() throws {
        var found = stat()
        guard folder.withCString({ stat($0, &found) }) == 0 else { throw Fault.system("read the status of", folder) }
        guard found.st_mode & 0o077 == 0 else {
            throw Fault(
                .usage, "other users may enter \(folder), so the keys in it are not used; run `chmod 700 \(folder)`",
                path: folder)
        }
    }
}

/// A provider's name becomes part of a file's name and of a variable's.
private func checkProvider(_ provider: String) throws {
    guard provider.wholeMatch(of: /[a-z0-9][a-z0-9_-]{0,63}/) != nil else {
        throw Fault(
            .usage, "\"\(BytePath.escape(provider.utf8))\" is no provider's name: lower-case letters, digits, - and _")
    }
}

private func variableStem(_ provider: String) -> String {
    provider.uppercased().replacing("-", with: "_")
}

private func trimmed(_ text: String) -> String {
    String(decoding: trimmed(Array(text.utf8)), as: UTF8.self)
}

/// Without white space at either end: keys are pasted, and files end with a line end.
private func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
}
