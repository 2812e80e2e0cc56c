import Foundation
import Logging
import NoteActions
import Platform

/// A command on the store of captures. Several processes may use one store: the command line runs it in its own, with or
/// without an agent, and a running agent answers it over the control socket.
///
/// What writes files for whoever asks is none (``DotContext/export(to:)``, pictures of grids): these are not the agent's to
/// open. Over the socket no files are added (``AddCapture``), and ``CheckCaptures``, which reads every file, is not answered.
package protocol DotCommand: Command {
    /// Does it.
    ///
    /// - Throws: `Fault`, or `ExperienceError`, of which ``DotContext/faulting(_:)`` makes one.
    func run(in dots: DotContext) async throws -> Answer

    /// The answer for a terminal, safe to print: text from outside has been through `ShownText`, colours are our own.
    func lines(_ answer: Answer, on display: DotDisplay) -> [String]
}

/// Where an answer is shown, and in which zone's time.
package struct DotDisplay: Sendable {
    package let timeZone: Zone
    /// Columns; nil where it is no terminal: nothing is shortened then.
    package let width: Int?
    package let hasColour: Bool

    package init(timeZone: Zone, width: Int? = nil, hasColour: Bool = false) {
        (self.timeZone, self.width, self.hasColour) = (timeZone, width, hasColour)
    }
}

extension DotCommand {
    package func run(in agent: AgentContext) async throws -> Answer { try await runInStore(of: agent) }

    /// With the agent's zone and sentence, at present.
    func runInStore(of agent: AgentContext) async throws -> Answer {
        let core = agent.core
        return try await core.captures.use { store in
            let dots = DotContext(store, core.configuration, core.directories) { core.log.warning("\($0)") }
            return try await DotContext.faulting { try await run(in: dots) }
        }
    }

    /// How many captures an answer of the agent may hold, which has it in memory as a whole.
    ///
    /// - Parameter asked: nil asks for all.
    /// - Throws: `Fault(.usage)` where it asks for none.
    static func limit(overSocket asked: Int?) throws -> Int {
        guard asked ?? 1 >= 1 else { throw Fault(.usage, "`limit` must be 1 or more; leave it out for all") }
        return min(asked ?? 500, 500)
    }

    /// Where nothing is known of the display.
    package func lines(_ answer: Answer) -> [String] { lines(answer, on: DotDisplay(timeZone: .current)) }
}
