import A4CoreSwift
import FileActions
import Foundation
import Platform
import Rules

/// A question in a note: an anchored block of one task, whose box is the answer.
struct QuestionBlock: Sendable {
    private static let prefix = "ask"

    private let arguments: Arguments
    private let services: NoteServices
    private let target: NoteTarget

    var vault: PlaceInfo { target.vault }

    init(_ arguments: Arguments, _ services: NoteServices) throws {
        self.arguments = arguments
        self.services = services
        target = try NoteTarget(arguments, services, of: "confirm")
    }

    func request(for input: StepInput) async throws -> NoteRequest {
        let date = NoteTarget.date(of: input)
        let note = try await target.note(input, date)
        let (files, source) = (input.files, input.file.absolute)
        let starter = try await target.starter(for: note, date, files)
        let status = try await services.files.run { try files.status(source) }
        let token = try AnchorToken(
            prefix: Self.prefix, hhmm: Dates.localHHMM(from: date, zone: services.timeZone))
        let question = try arguments.blockText("text", values: input.values).split(whereSeparator: \.isNewline)
            .joined(separator: " ")
        return NoteRequest(
            step: input.stepID, note: note, root: vault.root,
            heading: try arguments.headingText("heading", values: input.values).trimmingCharacters(in: .whitespaces),
            token: token.description, content: "- [ ] \(question)", atEndOfFile: false, starter: starter,
            mode: status.map { $0.mode & 0o666 } ?? 0o600, order: input.arrival.nanoseconds)
    }
}
