import ControlSocket
import Foundation
import JSONText
import Platform

/// The commands that an agent answers, by name on the wire.
struct CommandTable: Sendable {
    /// A decoded request.
    enum Received: Sendable {
        /// - Parameter answer: runs the command and returns the line to send.
        case command(onlyLooks: Bool, answer: @Sendable () async throws -> String)
        case conversation(@Sendable (ControlConnection) async throws -> Void)
    }

    private var known: [String: @Sendable (Data) throws -> Received] = [:]

    mutating func add<C: Command>(_ type: C.Type, _ run: @escaping @Sendable (C) async throws -> C.Answer) {
        known[C.name] = { line in
            let command = try JSONDecoder().decode(C.self, from: line)
            return .command(onlyLooks: C.onlyLooks) {
                do {
                    return try JSONText.shownLine(ControlReply.answer(try await run(command)))
                } catch {
                    return try JSONText.line(ControlRefusal(error))
                }
            }
        }
    }

    mutating func add<C: Conversation>(
        _ type: C.Type, _ hold: @escaping @Sendable (C, ControlConnection) async throws -> Void
    ) {
        known[C.name] = { line in
            let asked = try JSONDecoder().decode(C.self, from: line)
            return .conversation { try await hold(asked, $0) }
        }
    }

    /// - Throws: `Fault` (`.usage`) that says what is wrong with a malformed request.
    func read(_ line: Data) throws -> Received {
        guard let name = try? JSONDecoder().decode(ControlRequest.Name.self, from: line).command else {
            throw Fault(
                .usage,
                "invalid request: it must be one line of JSON such as {\"command\":\"status\"}")
        }
        guard let read = known[name] else {
            throw Fault(
                .usage,
                "unknown request; the agent knows \(known.keys.sorted().joined(separator: ", ")). If a newer "
                    + "`steward` asked, restart the agent, so that it is of the same version")
        }
        do {
            return try read(line)
        } catch is DecodingError {
            throw Fault(
                .usage,
                "the request \(name) is invalid: a value is missing or has the wrong type"
            )
        }
    }
}

extension CommandTable {
    /// Lists all commands.
    init(_ agent: Agent) {
        let context = AgentContext(agent)
        let commands: [any Command.Type] = [
            ShowStatus.self, ShowHealth.self, ShowMetrics.self, ExamineCage.self, WaitUntilQuiet.self, SetPaused.self,
            ReloadRules.self, RetryJobs.self, UndoJob.self, ConfirmJobs.self, DeclineJob.self, ReprocessFiles.self,
            RebuildPlace.self, AcceptPlace.self, RestoreQuarantined.self, DropQuarantined.self, RestoreBlocks.self,
            RetryDelivery.self, RetryDeliveries.self, DropDelivery.self, SetCounter.self, AcknowledgeLosses.self,
            ShowHistory.self, ShowDue.self, ExplainFile.self, ListDeliveries.self, ListCounters.self,
            ListQuestions.self, ListLosses.self, ListMissingBlocks.self, ListQuarantine.self, ShowGrid.self,
            ShowCaptures.self, ShowCapture.self, SearchCaptures.self, AddCapture.self, DeleteCaptures.self,
        ]
        for type in commands { add(type, in: context) }
        add(HoldSteps.self, with: agent)
        add(OpenInEditor.self, with: agent)
        let requests: [any VaultRequest.Type] = [
            UnlockVault.self, LockVault.self, ShowVaultStatus.self, ListVaultComics.self, ShowVaultComic.self,
            ExtractVaultComic.self, ExtractVaultPage.self, ExtractVaultThumbnail.self, SetVaultProgress.self,
            SetVaultBookmark.self, RenameVaultComic.self, RemoveVaultComics.self, VerifyVault.self,
            ChangeVaultPassword.self, AddVaultSlot.self, RemoveVaultSlot.self, ListVaultQuarantine.self,
            TakeInDeposits.self, AdoptVaultObject.self, DiscardVaultObjects.self, AcceptVaultRollback.self,
        ]
        for type in requests { add(type, with: agent) }
    }

    private mutating func add<R: VaultRequest>(_ type: R.Type, with agent: Agent) {
        add(VaultConversation<R>.self, with: agent)
    }

    private mutating func add<C: Command>(_ type: C.Type, in context: AgentContext) {
        add(type) { command in
            defer { if !C.onlyLooks { context.agent?.changes.tell() } }
            return try await command.run(in: context)
        }
    }

    private mutating func add<C: Conversation>(_ type: C.Type, with agent: Agent) {
        add(type) { try await $0.hold(on: $1, with: agent) }
    }
}
