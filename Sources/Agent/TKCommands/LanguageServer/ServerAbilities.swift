import Platform

/// What the server says about itself.
enum ServerAbilities {
    static func reply(to client: ClientAbilities) -> JSON {
        var abilities: [(String, JSON)] = [
            ("positionEncoding", .string(client.encoding.rawValue)),
            // Incremental.
            ("textDocumentSync", ["openClose": true, "change": 2, "save": ["includeText": true]]),
            ("workspace", ["workspaceFolders": ["supported": true, "changeNotifications": true]]),
            ("codeActionProvider", ["codeActionKinds": ["quickfix"]]),
            ("hoverProvider", true),
            ("codeLensProvider", ["resolveProvider": false]),
            (
                "executeCommandProvider",
                [
                    "commands": .array(ServerCommand.allCases.map { .string($0.rawValue) }), "workDoneProgress": true,
                ]
            ),
        ]
        if client.pullsDiagnostics {
            abilities.append(
                (
                    "diagnosticProvider",
                    ["identifier": "tk", "interFileDependencies": false, "workspaceDiagnostics": false]
                ))
        }
        return [
            "capabilities": .object(abilities),
            "serverInfo": ["name": "tk", "version": .string(ProgramVersion.number)],
        ]
    }
}

/// The commands of code actions and lenses. Each takes the document's address first.
enum ServerCommand: String, CaseIterable {
    /// The finding's key, and `take` or `skip`.
    case answer = "tk.answer"
    /// The finding's key: takes all findings of that rule about the same words.
    case takeEverywhere = "tk.takeEverywhere"
    /// The finding's key, and `paragraph`, `draft` or `everywhere`.
    case ignore = "tk.ignore"
    /// The finding's key: adds its word to the user's list.
    case addWord = "tk.addWord"
    /// The finding's key, and a question, optional: asks its advisor for another proposal.
    case ask = "tk.ask"
    /// Advisors' ids, optional.
    case review = "tk.review"
    /// Has the advisors of the settings begin the draft's next cycle.
    case feedback = "tk.feedback"
    /// Advisors' ids, optional.
    case council = "tk.council"
    /// Moves the draft from revise to final.
    case final = "tk.final"
}
