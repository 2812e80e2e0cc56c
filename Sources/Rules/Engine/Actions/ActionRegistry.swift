/// All actions that rules can name, and those that have been made for rules.
package struct ActionRegistry: Sendable {
    package let definitions: [ActionDefinition]
    let made = MadeActions()
    private let byName: [String: ActionDefinition]

    /// - Precondition: no two definitions share a name.
    package init(_ definitions: [ActionDefinition]) {
        self.definitions = definitions.sorted { $0.declaration.name < $1.declaration.name }
        byName = Dictionary(uniqueKeysWithValues: definitions.map { ($0.declaration.name, $0) })
    }

    package subscript(name: String) -> ActionDefinition? { byName[name] }
    package var names: [String] { definitions.map(\.declaration.name) }
}

/// An action as the loader sees it: its declaration, and how one is made from checked arguments.
package struct ActionDefinition: Sendable {
    package let declaration: ActionDeclaration
    /// - Throws: ``ArgumentFault`` where the arguments, each valid alone, do not go together.
    package let make: @Sendable (Arguments) throws -> any RuleAction

    package init<A: RuleAction>(_ type: A.Type, make: @escaping @Sendable (Arguments) throws -> A) {
        declaration = A.declaration
        self.make = make
    }
}

/// Says of one parameter what is wrong with it; the loader adds file, line and column.
package struct ArgumentFault: Error, Sendable {
    package let parameter: String
    package let message: String
    /// Whether it asks for what the configuration does not have, as a vault or leave to run programs.
    package let isLack: Bool

    package init(_ parameter: String, _ message: String, isLack: Bool = false) {
        self.parameter = parameter
        self.message = message
        self.isLack = isLack
    }
}
