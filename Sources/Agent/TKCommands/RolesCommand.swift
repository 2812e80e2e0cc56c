import ArgumentParser
import Glibc
import OwnFiles
import Platform
import TKCore

struct RolesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roles", abstract: "The advisors: those that come with tk, and your own.",
        subcommands: [RolesList.self, RolesShow.self, RolesCreate.self, RolesDelete.self],
        defaultSubcommand: RolesList.self)
}

struct RolesList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the advisors.")

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let roles = try Wiring().catalogue().roles
            Terminal.write(json ? CatalogueOutput.rolesJSON(roles) : CatalogueOutput.rolesText(roles, Terminal.style))
        }
    }
}

struct RolesShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "show", abstract: "Show an advisor in full.")

    @Argument(help: "The advisor's id, as shown by `tk roles list`.", completion: Completions.advisors)
    var id: String

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let role = try Wiring().catalogue().role(id)
            Terminal.write(json ? CatalogueOutput.roleJSON(role) : CatalogueOutput.roleText(role, Terminal.style))
        }
    }
}

struct RolesCreate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create your own advisor, stored in ~/.tk/roles.",
        discussion: """
            Example: tk roles create --name "Plain Speaker" --expertise "Plain language" --focus "Jargon" \
            --perspective "A reader without training in the field" --guideline "Name the plain word"
            """)

    @Option(name: .long, help: "Letters, digits, spaces and hyphens; the id follows from it.")
    var name: String

    @Option(name: .long, help: "The advisor's field.")
    var expertise: String

    @Option(name: .long, help: "A focus of the advisor; once for each, 1 to 5.")
    var focus: [String]

    @Option(name: .long, help: "How the advisor looks at a text, in 10 to 200 characters.")
    var perspective: String

    @Option(name: .long, help: "A rule that the advisor follows; once for each, 1 to 5.")
    var guideline: [String]

    @Option(name: .long, help: "A passage as the advisor would write it.")
    var exampleGood: String?

    @Option(name: .long, help: "A passage that the advisor would change.")
    var exampleBad: String?

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let role = CustomRole(
                name: name, expertise: expertise, focusAreas: focus, perspective: perspective, guidelines: guideline,
                exampleGood: exampleGood, exampleBad: exampleBad)
            let home = try TKHome(environment: Terminal.environment)
            try FileSystemRoleStore(folder: home.roles).create(role)
            let place = home.roles.appending("\(role.id).json")
            if json {
                Terminal.json(
                    [
                        "version": .string(SuggestionJSON.version), "created": .string(role.id),
                        "path": .string(place.description),
                    ])
            } else {
                Terminal.line("Created \(role.id) in \(place). Try it: tk suggest draft.md --role \(role.id)")
            }
        }
    }
}

struct RolesDelete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete one of your own advisors.")

    @Argument(help: "The advisor's id; it begins with custom_.", completion: Completions.advisors)
    var id: String

    @Flag(name: .long, help: "Do not ask.")
    var force = false

    @Flag(name: .long, help: "Print JSON, for programs.")
    var json = false

    func run() async throws {
        try await Terminal.guarding {
            let folder = try TKHome(environment: Terminal.environment).roles
            let store = FileSystemRoleStore(folder: folder)
            // A missing entry is an error, not a question.
            if !force, try FileStatus.of(folder.appending("\(id).json")) != nil {
                guard Terminal.isTerminal(STDIN_FILENO) else {
                    throw Fault(.usage, "there is no terminal to ask; delete \(BytePath.escape(id.utf8)) with --force")
                }
                guard Terminal.confirms("Delete the advisor \(BytePath.escape(id.utf8))?") else {
                    throw Fault(.usage, "nothing was deleted")
                }
            }
            try store.delete(id: id)
            if json {
                Terminal.json(["version": .string(SuggestionJSON.version), "deleted": .string(id)])
            } else {
                Terminal.line("Deleted \(id).")
            }
        }
    }
}
