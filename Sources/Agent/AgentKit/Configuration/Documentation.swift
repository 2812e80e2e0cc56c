import Platform
import Rules

/// The registry for what documents it, whatever is configured.
package enum Documentation {
    package static func registry() throws -> ActionRegistry {
        let directories = try Directories(environment: ["HOME": "/nonexistent"])
        return try AgentCore.forPlanning(Configuration(), directories).registry
    }
}
