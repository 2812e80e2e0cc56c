import Foundation
import Platform

/// The strategy that found the vault.
public typealias VaultOrigin = Vault.VaultOrigin

extension Vault {
    /// The strategies to find the vault, in the order in which they are tried.
    public enum VaultOrigin: String, Equatable, Sendable {
        /// The explicit path.
        case cli
        /// `A4_VAULT_DIR`.
        case env
        /// A folder `.a4` in the working directory or above it.
        case marker
        /// `$HOME/Documents/a4-core`.
        case fallback
    }

    /// Finds the vault by the standard order (docs/design/a4.md). Blocks.
    ///
    /// The first strategy that names a place decides: a path given explicitly or by `A4_VAULT_DIR` that is not a vault
    /// is an error, never a reason to write elsewhere.
    ///
    /// - Parameters:
    ///   - cliPath: an explicit path, if any.
    ///   - env: the environment; reads `A4_VAULT_DIR` (ignored if empty, relative to `cwd`) and `HOME`.
    ///   - cwd: the start of the search for `.a4`.
    /// - Throws: `A4Error.vaultNotFound` or `.invalidVault`; the message lists each strategy that was tried and its
    ///   result.
    public static func resolve(
        cliPath: URL?, env: [String: String], cwd: URL
    ) throws -> (vault: Vault, origin: VaultOrigin) {
        var tried: [String] = []
        if let cliPath {
            return (try open(cliPath, tried: &tried, "the explicit path"), .cli)
        }
        tried.append("the explicit path (none was given)")
        if let named = env["A4_VAULT_DIR"], !named.isEmpty {
            let folder = URL(fileURLWithPath: named, isDirectory: true, relativeTo: cwd).absoluteURL
            return (try open(folder, tried: &tried, "A4_VAULT_DIR"), .env)
        }
        tried.append("A4_VAULT_DIR (it is not set)")
        let start = try cwd.bytePath()
        if let marked = markedFolder(from: start) {
            let folder = URL(fileURLWithPath: marked.text, isDirectory: true)
            return (try open(folder, tried: &tried, "the marker .a4"), .marker)
        }
        tried.append("the marker .a4 (no such folder in \(start) or above it)")
        guard let home = env["HOME"], !home.isEmpty else {
            tried.append("$HOME/Documents/a4-core (HOME is not set)")
            throw A4Error.vaultNotFound("any of the known places. \(summary(tried))")
        }
        let fallback = URL(fileURLWithPath: home, isDirectory: true, relativeTo: cwd).absoluteURL
            .appendingPathComponent("Documents/a4-core", isDirectory: true)
        return (try open(fallback, tried: &tried, "$HOME/Documents/a4-core"), .fallback)
    }

    private static func open(_ folder: URL, tried: inout [String], _ strategy: String) throws -> Vault {
        do {
            return try Vault(root: folder)
        } catch A4Error.vaultNotFound {
            tried.append("\(strategy) (nothing is there)")
            throw A4Error.vaultNotFound("\(folder.path). \(summary(tried))")
        } catch A4Error.invalidVault(let reason) {
            tried.append("\(strategy) (\(reason))")
            throw A4Error.invalidVault("\(reason). \(summary(tried))")
        }
    }

    private static func summary(_ tried: [String]) -> String {
        "Tried in this order: \(tried.joined(separator: "; ")). Name an existing vault explicitly or in A4_VAULT_DIR."
    }

    private static func markedFolder(from start: BytePath) -> BytePath? {
        var folder = start
        while true {
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: folder.appending(".a4").text, isDirectory: &isFolder),
                isFolder.boolValue
            {
                return folder
            }
            if folder.components.isEmpty { return nil }
            folder = folder.parent
        }
    }
}
