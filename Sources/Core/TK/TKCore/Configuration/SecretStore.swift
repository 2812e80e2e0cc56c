import Foundation
import Glibc
import OwnFiles
import Platform

/// A source of providers' keys.
public protocol SecretStore: Sendable {
    /// The key for a provider, or nil if this store has none. Blocks briefly.
    func secret(for provider: String) throws -> Secret?
    /// A description of where ``secret(for:)`` gets the key, never the key itself. Nil if there is none.
    func origin(for provider: String) throws -> String?
}

/// Environment, then systemd's credentials, then the user's files: the first that has the key (`docs/tk.md`).
public struct SecretChain: SecretStore {
    private let stores: [any SecretStore]

    /// Queries the stores in this order.
    public init(_ stores: [any SecretStore]) { self.stores = stores }

    /// The default three.
    ///
    /// - Parameter configured: the provider for `TK_API_KEY`; the key is never sent to any other.
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

    /// The origin of the key in the first store that has one.
    public func origin(for provider: String) throws -> String? {
        for store in stores { if let found = try store.origin(for: provider) { return found } }
        return nil
    }
}

/// `TK_API_KEY` for the configured provider, then `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` and so on.
public struct EnvironmentSecrets: SecretStore {
    private let environment: [String: Secret]
    private let configured: String?

    /// Keeps the variables that may be keys.
    public init(environment: [String: String], configured: String?) {
        // Only possible keys are kept, and not as text.
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

    /// Finds the folder; ignores a path that is not absolute.
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
            // The folder belongs to systemd alone; links in it are systemd's own.
            guard let bytes = try TKFile.read(folder.appending(name), limit: 64 << 10) else { continue }
            let secret = Secret(trimmed(bytes))
            if !secret.isEmpty { return (name, secret) }
        }
        return nil
    }
}

/// One file per provider, `~/.tk/secrets/anthropic`, readable only by its user: mode 0600 in a folder of mode 0700. A
/// file that others can read is refused.
public struct FileSecretStore: SecretStore {
    package let folder: BytePath

    package init(home: TKHome) { self.init(folder: home.secrets) }

    /// For keys other than providers'.
    package init(folder: BytePath) { self.folder = folder }

    /// In the user's `.tk` folder, found by `TK_HOME` or `HOME`.
    public init(environment: [String: String]) throws { self.init(home: try TKHome(environment: environment)) }

    /// The file's content; throws if others can read it.
    public func secret(for provider: String) throws -> Secret? {
        let path = try self.path(provider)
        // Links are not followed: the mode of the file itself counts.
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

    /// Stores a key, replacing an earlier one. Blocks until it is durable.
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

    /// Removes the provider's key.
    ///
    /// - Returns: false if there was none.
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

/// Trims white space: keys are pasted, and files end with a line break.
private func trimmed(_ bytes: [UInt8]) -> [UInt8] {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
    return Array(bytes.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
}
