import ArgumentParser
import Glibc
import OwnFiles
import Platform
import TKCore

/// `tk mcp`: the review of drafts for agents, on standard input and output.
struct MCP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Let an agent take part in reviews by the Model Context Protocol, on standard input and output.",
        discussion: """
            Agents start this by themselves; docs/editors.md has the few lines of configuration. An agent can list the \
            drafts in these folders, read them with their findings, and add proposals and comments of its own. It can \
            change no draft: what it proposes waits in the sidecar until you tick it.

            A client that tells its roots (the folders of a project, say) adds those to the ones named here.
            """)

    @Argument(
        help: "The folders with the drafts; by default the client's roots, or this one if it tells none.",
        completion: .directory)
    var folders: [PathArgument] = []

    @Option(
        name: .long,
        help: ArgumentHelp("The author of what is proposed; by default what the agent calls itself.", valueName: "name")
    )
    var author: String?

    func run() async throws {
        try await Terminal.guarding {
            let connection = ClientConnection(.lines) { bytes in Terminal.send(bytes, STDOUT_FILENO) }
            let server = ContextServer(
                folders: try ServedFolders(named: folders.map(\.absolute)), examiner: try Wiring().examiner(),
                author: author, connection: connection)
            var reader = MessageReader(.lines)
            for await chunk in try StandardInput.chunks() {
                for message in try reader.take(chunk[...]) { await server.receive(message) }
            }
            connection.close()
            await server.finish()
        }
    }
}
