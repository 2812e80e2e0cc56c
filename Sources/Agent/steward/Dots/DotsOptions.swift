import AgentKit
import ArgumentParser
import Foundation
import Glibc
import JSONText
import OwnFiles
import Platform
import TKCommands

/// Options of every dot command.
struct DotsOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions

    /// For tests, whose grids must be the same every day.
    @Option(name: .long, help: ArgumentHelp("Use this time as the present.", visibility: .hidden))
    var now: String?

    var json: Bool { common.json }

    /// Opens the store, passes it to `body`, and closes it. A missing configuration is fine; one with errors is
    /// reported.
    func with(_ body: (DotContext) async throws -> Void) async throws {
        try await Output.guarding {
            let directories = try common.directories()
            let isConfigured = try FileStatus.of(directories.configuration) != nil || common.config != nil
            let configuration = isConfigured ? try common.configuration(directories) : nil
            let present = try now.map { text in
                guard let date = try? Date(text, strategy: .iso8601) else {
                    throw Fault(.usage, "`\(text)` is not a time in ISO 8601")
                }
                return date
            }
            let context = try await DotContext.open(directories, configuration, now: present, notice: Self.notice)
            try await DotContext.faulting { try await body(context) }
            try await context.close()
        }
    }

    /// Runs a command in this process and shows its answer.
    ///
    /// - Returns: the answer, for the exit code.
    @discardableResult
    func carryOut<C: DotCommand>(_ command: C, in dots: DotContext) async throws -> C.Answer {
        let answer = try await command.run(in: dots)
        try show(answer, of: command, in: dots)
        return answer
    }

    func show<C: DotCommand>(_ answer: C.Answer, of command: C, in dots: DotContext) throws {
        if json { return Output.json(try JSONText.shown(answer)) }
        for line in command.lines(answer, on: Self.display(dots)) { Output.coloured(line + "\n") }
    }

    /// Standard output, in the time zone of the store's days.
    static func display(_ dots: DotContext) -> DotDisplay {
        DotDisplay(timeZone: dots.timeZone, width: ComicsOptions.width, hasColour: hasColour)
    }

    private static func notice(_ text: String) { Output.complain("steward: \(text)") }

    /// Whether standard output is a terminal with colours enabled.
    private static var hasColour: Bool {
        let environment = ProcessInfo.processInfo.environment
        let term = environment["TERM"] ?? ""
        return isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty && !term.isEmpty && term != "dumb"
    }
}
