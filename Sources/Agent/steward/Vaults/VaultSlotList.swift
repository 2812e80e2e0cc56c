import AgentKit
import ArgumentParser
import ComicVault
import Glibc
import Platform

/// `steward vault slots list`
struct VaultSlotList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the slots; needs no password.",
        discussion: "Ends with 2 where one is damaged.")

    struct Line: Encodable {
        let id: SlotID
        /// `password` or `key file`; nil if it is damaged.
        let kind: String?
        let problem: String?
    }

    @OptionGroup var options: VaultOptions

    func run() async throws {
        try await VaultOptions.guarding {
            let slots = try options.place().open().slots().map {
                Line(id: $0.id, kind: $0.kind?.description, problem: $0.damage?.description)
            }
            let lines = slots.map { "\($0.id)  \($0.kind ?? $0.problem ?? "")" }
            try Output.show(slots, lines: lines, json: options.json)
            if slots.contains(where: { $0.problem != nil }) { throw ExitCode(2) }
        }
    }
}
