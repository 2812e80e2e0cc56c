/// All actions available to rules, and the instances created so far.
package struct ActionRegistry: Sendable {
    package let definitions: [ActionDefinition]
    let made = MadeActions()
    private let byName: [String: ActionDefinition]

    /// - Precondition: the names of the definitions are unique.
    package init(_ definitions: [ActionDefinition]) {
        self.definitions = definitions.sorted { $0.declaration.name < $1.declaration.name }
        byName = Dictionary(uniqueKeysWithValues: definitions.map { ($0.declaration.name, $0) })
    }

    package subscript(name: String) -> ActionDefinition? { byName[name] }
    package var names: [String] { definitions.map(\.declaration.name) }
}

/// An action as the loader sees it: its declaration, and a factory that takes checked arguments.
package struct ActionDefinition: Sendable {
    package let declaration: ActionDeclaration
    /// - Throws: ``ArgumentFault`` if the arguments, each valid by itself, conflict.
    package let make: @Sendable (Arguments) throws -> any RuleAction

    package init<A: RuleAction>(_ type: A.Type, make: @escaping @Sendable (Arguments) throws -> A) {
        declaration = A.declaration
        self.make = make
    }
}

/// An error about one parameter; the loader adds file, line and column.
package struct ArgumentFault: Error, Sendable {
    package let parameter: String
    package let message: String
    /// Whether the configuration lacks something it needs, such as a vault or permission to run programs.
    package let isLack: Bool

    package init(_ parameter: String, _ message: String, isLack: Bool = false) {
        self.parameter = parameter
        self.message = message
        self.isLack = isLack
    }
}
