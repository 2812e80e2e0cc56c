import ArgumentParser
import Glibc
import Platform
import TKCore

/// `tk lsp`: the language server on standard input and output.
struct LSP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lsp",
        abstract: "Serve an editor by the Language Server Protocol, on standard input and output.",
        discussion: """
            Editors start this by themselves; docs/editors.md has the few lines of configuration for each. Findings of \
            the quick pass appear while you write; advisors are asked only on request. Settings are those of \
            `tk config`, and `advisors`, `ignore`, `strictStyle` and `longSentence` in the editor's settings for `tk`.
            """)

    @Flag(name: .long, help: "Accepted because editors pass it; there is no other way.")
    var stdio = false

    @Option(
        name: .long,
        help: ArgumentHelp(
            "How long a draft must be unchanged before it is examined, in milliseconds.", valueName: "milliseconds"))
    var debounce = 250

    func validate() throws {
        guard (0...60_000).contains(debounce) else { throw ValidationError("--debounce is 0 to 60000 milliseconds") }
    }

    func run() async throws {
        // Reads, examinations and writes each have their thread, and pass large texts on.
        SharedHeap.use()
        try await Terminal.guarding {
            let wiring = try Wiring()
            let connection = ClientConnection { bytes in Terminal.send(bytes, STDOUT_FILENO) }
            let server = LanguageServer(
                wiring: wiring, examiner: try wiring.examiner(), connection: connection,
                debounce: .milliseconds(debounce))
            var reader = MessageReader()
            for await chunk in try StandardInput.chunks() {
                for message in try reader.take(chunk[...]) where await !server.receive(message) {
                    connection.close()
                    throw ExitCode(await server.phase == .shutDown ? 0 : 1)
                }
            }
            // The editor has gone without `exit`.
            connection.close()
            throw ExitCode(1)
        }
    }
}
