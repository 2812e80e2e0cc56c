import ComicVault
import Foundation
import Platform

/// A request about a vault, over its own connection: it may carry passwords and whole comics.
package protocol VaultRequest: Codable, Sendable {
    associatedtype Answer: Codable & Sendable

    /// On the wire and in messages.
    static var name: String { get }

    /// The agent's answer.
    ///
    /// - Throws: `Fault` or `VaultError`.
    func answer(_ call: VaultCall) async throws -> Answer
}

/// A command on an unlocked vault: a value that holds its arguments, does the work, and formats the answer. It is run
/// by the agent if that has the keys, otherwise by the command that opened the vault.
package protocol VaultCommand: VaultRequest {
    associatedtype Answer

    /// Performs the command. May block for long.
    ///
    /// - Throws: `Fault` or `VaultError`; `.usage` if the arguments name something that does not exist.
    func run(on vault: VaultContext) throws -> Answer

    /// The answer for the terminal. As JSON it is encoded as is.
    func lines(_ answer: Answer, on screen: Screen) -> [String]
}

/// A command that destroys something and can list beforehand what that is.
package protocol VaultDestruction: VaultCommand where Answer == VaultChange {
    /// Whether it only says what it would do.
    var isDryRun: Bool { get set }

    /// Limits the command to the items that were shown, excluding any that came to match since.
    ///
    /// - Parameter items: the items of the dry run; not empty.
    mutating func narrow(to items: [VaultChange.Item])
}

/// Where an answer is shown.
package struct Screen {
    /// Columns; nil if it is not a terminal.
    let width: Int?
    let zone: Zone

    package init(width: Int?, zone: Zone) { (self.width, self.zone) = (width, zone) }
}

/// A command's changes to comics, objects or slots.
package struct VaultChange: Codable, Sendable {
    package struct Item: Codable, Sendable {
        package let id: String
        package let name: BytePath?
        /// Additional information.
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
