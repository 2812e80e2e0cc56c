import ComicVault
import Foundation
import Platform

/// What is asked of a vault, over a connection of its own: passwords go over it, and whole comics.
package protocol VaultRequest: Codable, Sendable {
    associatedtype Answer: Codable & Sendable

    /// On the wire, and in messages about it.
    static var name: String { get }

    /// The agent's answer.
    ///
    /// - Throws: `Fault` or `VaultError`.
    func answer(_ call: VaultCall) async throws -> Answer
}

/// What is done with an unlocked vault: a value that holds its arguments, does the work, and says how the answer is shown.
/// The agent runs it where it holds the keys, else the command that has opened the vault itself.
package protocol VaultCommand: VaultRequest {
    associatedtype Answer

    /// Does it. Blocks for as long as it takes.
    ///
    /// - Throws: `Fault` or `VaultError`; `.usage` where the arguments name nothing that there is.
    func run(on vault: VaultContext) throws -> Answer

    /// The answer for a terminal. As JSON it is what it encodes to.
    func lines(_ answer: Answer, on screen: Screen) -> [String]
}

/// A command that destroys something, and can say before what that would be.
package protocol VaultDestruction: VaultCommand where Answer == VaultChange {
    /// Whether it only says what it would do.
    var isDryRun: Bool { get set }

    /// Means what was shown, and nothing that has come to be called so meanwhile.
    ///
    /// - Parameter items: what the dry run has named; not empty.
    mutating func narrow(to items: [VaultChange.Item])
}

/// Where an answer is shown.
package struct Screen {
    /// Columns; nil where it is no terminal.
    let width: Int?
    let zone: Zone

    package init(width: Int?, zone: Zone) { (self.width, self.zone) = (width, zone) }
}

/// What a command has done to comics, objects or slots.
package struct VaultChange: Codable, Sendable {
    package struct Item: Codable, Sendable {
        package let id: String
        package let name: BytePath?
        /// What is said about it beyond that it is done.
        package let note: String?

        init(_ id: some CustomStringConvertible, name: BytePath? = nil, note: String? = nil) {
            (self.id, self.name, self.note) = (id.description, name, note)
        }
    }

    package let done: String
    package let items: [Item]

    init(done: String, items: [Item]) { (self.done, self.items) = (done, items) }

    package init(slot: SlotID, done: String) { self.init(done: done, items: [Item(slot)]) }

    package var lines: [String] {
        if items.isEmpty { return [done] }
        return items.map { "\(done) \($0.name?.description ?? $0.id)" + ($0.note.map { "; \($0)" } ?? "") }
    }
}

extension VaultCommand where Answer == VaultChange {
    package func lines(_ answer: VaultChange, on screen: Screen) -> [String] { answer.lines }
}
