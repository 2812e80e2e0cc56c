import Platform
import Rules

/// The action registry for generated documentation, independent of any configuration.
package enum Documentation {
    package static func registry() throws -> ActionRegistry {
        let directories = try Directories(environment: ["HOME": "/nonexistent"])
        return try AgentCore.forPlanning(Configuration(), directories).registry
    }
}
