import Platform

/// All advisors and story types: the built-in ones, and the user's own.
public struct RoleCatalogue: Sendable {
    /// The built-in ones in their order, then the user's by id.
    public let roles: [Role]
    /// In their order.
    public let storyTypes: [StoryType]
    /// A sentence for each of the user's invalid files: file, line, reason.
    public let problems: [String]

    /// A catalogue with these contents.
    public init(roles: [Role], storyTypes: [StoryType], problems: [String] = []) {
        (self.roles, self.storyTypes, self.problems) = (roles, storyTypes, problems)
    }

    /// Blocks briefly.
    ///
    /// - Parameter custom: nil for the built-in ones only.
    package static func load(_ resources: TKResources, custom: FileSystemRoleStore? = nil) throws -> RoleCatalogue {
        let own = try custom?.loadAll() ?? (roles: [], problems: [])
        return RoleCatalogue(
            roles: try RoleFiles.roles(resources) + own.roles.map(\.role),
            storyTypes: try RoleFiles.storyTypes(resources), problems: own.problems.map(\.description))
    }

    /// The catalogue with any store of the user's own advisors. Blocks briefly.
    public static func load(custom: some CustomRoleStore) throws -> RoleCatalogue {
        let resources = try TKResources.locate()
        return RoleCatalogue(
            roles: try RoleFiles.roles(resources) + custom.load().map(\.role),
            storyTypes: try RoleFiles.storyTypes(resources))
    }

    /// - Throws: an error that suggests similar names, or lists all.
    public func role(_ id: String) throws -> Role {
        if let found = roles.first(where: { $0.id == id }) { return found }
        throw Fault(
            .usage, "there is no advisor `\(BytePath.escape(id.utf8))`; \(hint(id, roles.map(\.id))) (`tk roles list`)")
    }

    /// The advisors of a list, each once, in its order.
    public func roles(_ ids: [String]) throws -> [Role] {
        var seen: Set<String> = []
        return try ids.filter { seen.insert($0).inserted }.map { try role($0) }
    }

    /// - Throws: an error that suggests similar names, or lists all.
    public func storyType(_ id: String) throws -> StoryType {
        if let found = storyTypes.first(where: { $0.id == id }) { return found }
        throw Fault(
            .usage,
            "there is no story type `\(BytePath.escape(id.utf8))`; \(hint(id, storyTypes.map(\.id))) "
                + "(`tk story-types list`)")
    }

    private func hint(_ id: String, _ known: [String]) -> String { NearMiss.hint(for: id, among: known) }
}
