import Foundation
import Logging
import NoteActions
import Platform

/// A command on the store of captures. A store can be shared by several processes: the command line runs the command in
/// its own, with or without an agent, and a running agent answers it over the control socket.
///
/// Operations that write files for the caller are not commands (``DotContext/export(to:)``, pictures of grids): the
/// agent must not open those paths. Over the socket, no files are added (``AddCapture``), and ``CheckCaptures``, which
/// reads every file, is not answered.
package protocol DotCommand: Command {
    /// Performs the command.
    ///
    /// - Throws: `Fault`, or `ExperienceError`, which ``DotContext/faulting(_:)`` converts.
    func run(in dots: DotContext) async throws -> Answer

    /// The answer for the terminal, safe to print: outside text has been escaped by `ShownText`; colours are our own.
    func lines(_ answer: Answer, on display: DotDisplay) -> [String]
}

/// Where an answer is shown, and the time zone for it.
package struct DotDisplay: Sendable {
    package let timeZone: Zone
    /// Columns; nil if it is not a terminal, so that nothing is shortened.
    package let width: Int?
    package let hasColour: Bool

    package init(timeZone: Zone, width: Int? = nil, hasColour: Bool = false) {
        (self.timeZone, self.width, self.hasColour) = (timeZone, width, hasColour)
    }
}

extension DotCommand {
    package func run(in agent: AgentContext) async throws -> Answer { try await runInStore(of: agent) }

    /// With the agent's time zone and sentence template, and the current time.
    func runInStore(of agent: AgentContext) async throws -> Answer {
        let core = agent.core
        return try await core.captures.use { store in
            let dots = DotContext(store, core.configuration, core.directories) { core.log.warning("\($0)") }
            return try await DotContext.faulting { try await run(in: dots) }
        }
    }

    /// The number of captures in an agent's answer, which is held in memory as a whole.
    ///
    /// - Parameter asked: nil asks for all.
    /// - Throws: `Fault(.usage)` if it is less than 1.
    static func limit(overSocket asked: Int?) throws -> Int {
        guard asked ?? 1 >= 1 else { throw Fault(.usage, "`limit` must be 1 or more; leave it out for all") }
        return min(asked ?? 500, 500)
    }

    /// Used if nothing is known about the display.
    package func lines(_ answer: Answer) -> [String] { lines(answer, on: DotDisplay(timeZone: .current)) }
}
