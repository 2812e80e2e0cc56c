import Platform

/// Reads the built-in roles and story types. Everything here blocks.
enum RoleFiles {
    private static let roleKeys = [
        "order", "id", "name", "icon", "color", "expertise", "description", "voiceAndTone", "focusAreas", "guidelines",
        "example",
    ]
    private static let storyTypeKeys = [
        "order", "id", "name", "icon", "description", "defaultAdvisors", "genreContext",
    ]

    /// In the files' order.
    static func roles(_ resources: TKResources) throws -> [Role] {
        try inOrder(resources, "roles", keys: roleKeys) { file in
            Role(
                id: try file.requiredText("id"), name: try file.requiredText("name"),
                icon: try file.requiredText("icon"), color: try file.requiredText("color"),
                expertise: try file.requiredText("expertise"), description: try file.requiredText("description"),
                voiceAndTone: try requiredLines(file, "voiceAndTone").joined(separator: "\n"),
                focusAreas: try requiredLines(file, "focusAreas"), guidelines: try requiredLines(file, "guidelines"),
                example: try example(file))
        }
    }

    static func storyTypes(_ resources: TKResources) throws -> [StoryType] {
        try inOrder(resources, "story-types", keys: storyTypeKeys) { file in
            StoryType(
                id: try file.requiredText("id"), name: try file.requiredText("name"),
                icon: try file.requiredText("icon"), description: try file.requiredText("description"),
                defaultAdvisors: try requiredLines(file, "defaultAdvisors"),
                genreContext: try requiredLines(file, "genreContext").joined(separator: "\n"))
        }
    }

    private static func inOrder<T: Identifiable>(
        _ resources: TKResources, _ folder: String, keys: [String], _ make: (JSONFile) throws -> T
    ) throws -> [T] where T.ID == String {
        var found: [(order: Double, value: T)] = []
        for name in try resources.jsonFiles(in: folder) {
            let path = resources.folder.appending(name)
            do {
                let file = try JSONFile(try resources.read(name), path: path)
                try file.allowOnly(keys)
                let value = try make(file)
                if found.contains(where: { $0.value.id == value.id }) {
                    throw file.problem("id", "the id `\(value.id)` is in another file as well")
                }
                found.append((try file.number("order") ?? .infinity, value))
            } catch let problem as FileProblem {
                throw Fault(.failed, "\(problem). Install the package again, or fix the file.", path: path)
            }
        }
        return found.sorted { ($0.order, $0.value.id) < ($1.order, $1.value.id) }.map(\.value)
    }

    private static func requiredLines(_ file: JSONFile, _ key: String) throws -> [String] {
        let lines = try file.texts(key)
        if lines.isEmpty { throw file.problem(key, "`\(key)` is missing; it must be a list of texts") }
        return lines
    }

    static func example(_ file: JSONFile) throws -> Role.Example? {
        switch file.members["example"] {
        case nil, .null?: return nil
        case let value?:
            guard let members = value.members else {
                throw file.problem("example", "`example` must be an object, not \(value.kind)")
            }
            for key in members.keys.sorted() where !["bad", "good", "why"].contains(key) {
                throw file.problem(
                    key, "unknown key `\(BytePath.escape(key.utf8))` in `example`; known are bad, good, why")
            }
            func text(_ key: String) throws -> String? {
                switch members[key] {
                case nil, .null?: return nil
                case .string(let value)?: return value
                case let other?: throw file.problem(key, "`\(key)` must be a text, not \(other.kind)")
                }
            }
            return Role.Example(bad: try text("bad"), good: try text("good"), why: try text("why"))
        }
    }
}
