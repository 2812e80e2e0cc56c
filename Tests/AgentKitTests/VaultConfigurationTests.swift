import AgentKit
import ComicVault
import Foundation
import Platform
import Rules
import TestSupport
import Testing

@Suite("Vaults in the configuration")
struct VaultConfigurationTests {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private func load(_ yaml: String) throws -> (Configuration?, [String]) {
        try home.write(".config/steward/steward.yaml", yaml)
        let (configuration, found) = Configuration.load(try Directories(environment: ["HOME": home.path.text]))
        return (configuration, found.map(\.description))
    }

    @Test("A vault has a folder, and is locked after 15 minutes unless configured otherwise")
    func vaults() throws {
        let (read, problems) = try load(
            """
            places: { notes: { kind: notes, path: ~/notes } }
            vaults:
              main: { path: ~/vault }
              attic: { path: /srv/attic, lock-after: 2m }
              open: { path: /srv/open, lock-after: never }
            """)
        #expect(problems.isEmpty)
        let vaults = try #require(read).vaults
        #expect(vaults.map(\.name) == ["main", "attic", "open"])
        #expect(vaults.map(\.path) == [home.path.appending("vault"), "/srv/attic", "/srv/open"])
        #expect(vaults.map(\.idle) == [900, 120, nil])
        #expect(vaults[0].host == home.path.appending(".local/state/steward/vaults/main"))
    }

    @Test("The template of `steward init` names a vault that does not exist yet, without a warning")
    func template() throws {
        let (read, problems) = try load(ConfigurationTemplate.text(base: "~/Steward"))
        #expect(problems.isEmpty)
        let configuration = try #require(read)
        #expect(configuration.vaults.map(\.name) == ["main"])
        #expect(try configuration.vaultDiagnostics().isEmpty)
    }

    @Test("A vault must not overlap with a place or another vault: its files would be news")
    func overlaps() throws {
        for (yaml, what) in [
            ("places: { c: { path: /srv/c } }\nvaults: { main: { path: /srv/c/vault } }", "the place `c`"),
            ("places: { c: { path: /srv/v/c } }\nvaults: { main: { path: /srv/v } }", "the place `c`"),
            ("vaults: { main: { path: /srv/v }, b: { path: /srv/v/b } }", "the vault `main`"),
            ("vaults: { main: { path: ~/.local/state/steward/v } }", "the agent's own folder"),
        ] {
            let (_, problems) = try load(yaml)
            #expect(problems.contains { $0.contains(what) && $0.contains("overlap") }, "\(yaml): \(problems)")
        }
    }

    @Test("An invalid value is reported with its line")
    func mistakes() throws {
        for (yaml, what) in [
            ("vaults: { main: { } }", "has no `path`"), ("vaults: { \"a b\": { path: /x } }", "the name of a vault"),
            ("vaults: { main: { path: /x, lockafter: 1m } }", "lock-after"), ("vaults: {}", "`vaults` is empty"),
        ] {
            let (_, problems) = try load(yaml)
            #expect(problems.contains { $0.contains(what) && $0.contains("steward.yaml:1:") }, "\(yaml): \(problems)")
        }
    }

    @Test("A known vault that is gone, or whose folder others may enter, causes a warning")
    func diagnostics() throws {
        let (read, _) = try load(
            "places: { notes: { path: ~/notes } }\nvaults: { main: { path: ~/vault } }")
        let place = try #require(read?.vaults.first)
        let key = try Credential.keyFile(SecretBytes.random(64))
        try SealedVault.create(at: place.path, host: place.hostState(), credentials: [key]).lock()
        #expect(try #require(read).vaultDiagnostics().isEmpty)
        #expect(chmod(place.path.text, 0o755) == 0)
        #expect(try #require(read).vaultDiagnostics().contains { $0.message.contains("chmod 700") })
        #expect(rename(place.path.text, place.path.text + "-away") == 0)
        let found = try #require(read).vaultDiagnostics()
        #expect(found.contains { $0.message.contains("is gone") && $0.severity == .warning })
    }
}
