import Platform

/// An advisor described by a user (docs/design/advisors.md, "Roles"); ``role`` turns it into a complete one.
public struct CustomRole: Codable, Sendable, Hashable, Identifiable {
    /// Letters, digits, spaces and hyphens.
    public var name: String
    /// The field, in a few words.
    public var expertise: String
    /// The advisor's focus areas, 1 to 5.
    public var focusAreas: [String]
    /// The advisor's perspective, in the user's words.
    public var perspective: String
    /// How this advisor gives advice, 1 to 5.
    public var guidelines: [String]
    /// Writing that this advisor likes.
    public var exampleGood: String?
    /// Writing that this advisor would change.
    public var exampleBad: String?

    /// An unvalidated description; see ``complaints()``.
    public init(
        name: String, expertise: String, focusAreas: [String], perspective: String, guidelines: [String],
        exampleGood: String? = nil, exampleBad: String? = nil
    ) {
        (self.name, self.expertise, self.focusAreas, self.perspective) = (name, expertise, focusAreas, perspective)
        (self.guidelines, self.exampleGood, self.exampleBad) = (guidelines, exampleGood, exampleBad)
    }

    /// `custom_my-role` for "My Role".
    public var id: String { Self.id(forName: name) }

    /// The id derived from a name: lower case, with `-` for each run of spaces and hyphens.
    public static func id(forName name: String) -> String {
        let parts = name.lowercased().split { $0 == " " || $0 == "-" }
        return Role.customPrefix + parts.joined(separator: "-")
    }

    /// The advisor with a prompt from the template.
    public var role: Role {
        let hasExample = exampleGood != nil || exampleBad != nil
        return Role(
            id: id, name: name, icon: "👤", color: "#607D8B", expertise: expertise, description: perspective,
            voiceAndTone: "You are \(name), an advisor whose field is: \(expertise).\nYour perspective: \(perspective)",
            focusAreas: focusAreas, guidelines: guidelines,
            example: hasExample ? Role.Example(bad: exampleBad, good: exampleGood) : nil)
    }

    /// A problem with one field.
    public struct Complaint: Sendable, Hashable {
        /// The key in the file: `focusAreas`.
        public let field: String
        /// The valid values, and the actual one.
        public let message: String
    }

    /// All problems: a name has letters, digits, spaces and hyphens; there are 1 to 5 focus areas, 1 to 5 guidelines, a
    /// perspective of 10 to 200 characters. Control characters are not allowed, except line breaks in the examples.
    public func complaints() -> [Complaint] {
        var found: [Complaint] = []
        func complain(_ field: String, _ message: String) { found.append(Complaint(field: field, message: message)) }
        if name.wholeMatch(of: /[a-zA-Z0-9 \-]+/) == nil || !name.contains(where: { $0.isLetter || $0.isNumber }) {
            complain(
                "name", "`name` may hold letters a to z, digits, spaces and hyphens, and at least one letter or digit")
        } else if name.count > 64 {
            complain("name", "`name` has \(name.count) characters; at most 64 are allowed")
        }
        if isBlank(expertise) || expertise.count > 200 {
            complain("expertise", "`expertise` must have 1 to 200 characters; it has \(expertise.count)")
        }
        for (field, list, noun) in [
            ("focusAreas", focusAreas, "focus areas"), ("guidelines", guidelines, "guidelines"),
        ] {
            if !(1...5).contains(list.count) {
                complain(field, "there must be 1 to 5 \(noun); there are \(list.count)")
            }
            for entry in list where isBlank(entry) || entry.count > 300 {
                complain(field, "each of the \(noun) must have 1 to 300 characters; one has \(entry.count)")
            }
        }
        let length = perspective.count
        if !(10...200).contains(length) || isBlank(perspective) {
            complain("perspective", "`perspective` must have 10 to 200 characters; it has \(length)")
        }
        for (field, text) in [("exampleGood", exampleGood), ("exampleBad", exampleBad)] {
            if let text, text.count > 2000 {
                complain(field, "`\(field)` has \(text.count) characters; at most 2000 are allowed")
            }
            if let text, hasControls(text, allowingLines: true) {
                complain(field, "`\(field)` holds control characters; remove them")
            }
        }
        let oneLine = [("expertise", [expertise]), ("perspective", [perspective])]
        for (field, texts) in oneLine + [("focusAreas", focusAreas), ("guidelines", guidelines)]
        where texts.contains(where: { hasControls($0, allowingLines: false) }) {
            complain(field, "`\(field)` holds a line end or another control character; write it in one line")
        }
        return found
    }

    private func isBlank(_ text: String) -> Bool { text.allSatisfy(\.isWhitespace) }

    private func hasControls(_ text: String, allowingLines: Bool) -> Bool {
        text.unicodeScalars.contains {
            $0.properties.generalCategory == .control && !(allowingLines && ($0 == "\n" || $0 == "\t"))
        }
    }
}

/// The storage of a user's advisors.
public protocol CustomRoleStore: Sendable {
    /// All readable ones, in the order of their ids. A broken one does not hide the others.
    func load() throws -> [CustomRole]
    /// Stores a new one; refuses one with ``CustomRole/complaints()``, or whose id is taken.
    func create(_ role: CustomRole) throws
    /// Removes it; refuses an unknown id.
    func delete(id: String) throws
}
