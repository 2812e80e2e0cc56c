import ComicTestSupport
import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

/// Operations on an agent's home for vault tests, through the commands.
extension AgentFixture {
    /// A home with a new vault `main`, and one rule for the comics inbox.
    static func withVault(
        password: String, rule: String, configuration: String = "log: { level: debug }"
    ) throws -> AgentFixture {
        let steward = try AgentFixture(configuration: configuration)
        try steward.rule(rule)
        try steward.vault(["init"], password: password).check()
        return steward
    }

    static let sealing = """
        - rule: Seal comics
          in: comics
          where: { extension: [cbz, cbt, cb7, cbr, pdf, epub] }
          settle: 200ms
          do:
            - import-comic: { vault: main }
        """

    /// Passes the password through standard input, as a script would.
    @discardableResult
    func vault(_ words: [String], password: String? = nil) throws -> Result {
        guard let password else { return try run(["vault"] + words) }
        let result = try shell(
            [Self.binary, "vault"] + words + ["--password-fd", "0"], input: password + "\n")
        // The fixture keeps the input of commands; a user's terminal would not.
        for entry in try listDirectory(home.path) where entry.name.starts(with: "out-".utf8) {
            try Durable.remove(home.path.appending(name: entry.name))
        }
        return result
    }

    func comicsInVault() throws -> [Answer] { try json(["vault", "list"])["comics"].items }

    func waitForDeposits(_ count: Int) async throws {
        try await until("\(count) comics are in the vault") { try self.comicsInVault().count == count }
    }

    func numberOfDrops() throws -> Int {
        try listDirectory(path("vault/drop")).count
    }
}
