import Foundation
import Glibc
import OwnFiles
import Platform
import TKCore
import TestSupport
import Testing

@Suite("Advisors")
struct RoleTests {
    private let folder: TemporaryFolder
    private var store: FileSystemRoleStore { FileSystemRoleStore(folder: folder.path.appending("roles")) }

    init() throws { folder = try TemporaryFolder() }

    private func poet(_ name: String = "Night Poet") -> CustomRole {
        CustomRole(
            name: name, expertise: "Short forms", focusAreas: ["Sound", "Line breaks"],
            perspective: "Reads everything aloud first.", guidelines: ["Cut the last line."], exampleGood: "Frost.")
    }

    @Test("There are eleven, each complete and distinct")
    func builtIn() throws {
        let roles = try RoleCatalogue.load(TKResources.locate()).roles
        #expect(
            roles.map(\.id) == [
                "general", "technical_writer", "editor", "creative_writer", "ux_writer", "product_executive",
                "business_analyst", "recent_graduate", "academic", "data_scientist", "copywriter",
            ])
        for role in roles {
            #expect(role.voiceAndTone.hasPrefix("You are"), "\(role.id)")
            #expect(role.voiceAndTone.count > 300, "\(role.id)")
            #expect((3...5).contains(role.focusAreas.count) && (3...5).contains(role.guidelines.count), "\(role.id)")
            #expect(role.color.wholeMatch(of: /#[0-9A-F]{6}/) != nil, "\(role.id)")
            #expect(role.icon.unicodeScalars.first?.properties.isEmoji == true, "\(role.id)")
            #expect(role.description.count > 60 && !role.isCustom, "\(role.id)")
            let example = try #require(role.example)
            #expect(example.bad != nil && example.good != nil && example.why != nil && example.bad != example.good)
        }
        for texts in [roles.map(\.name), roles.map(\.icon), roles.map(\.color), roles.map(\.expertise)] {
            #expect(Set(texts).count == roles.count)
        }
        let lines = roles.flatMap { $0.guidelines + $0.focusAreas }
        #expect(Set(lines).count == lines.count, "no advisor borrows a line from another")
    }

    @Test("An unknown advisor is rejected with a suggestion or the list")
    func unknown() throws {
        let catalogue = try RoleCatalogue.load(TKResources.locate())
        let near = #expect(throws: Fault.self) { try catalogue.role("editr") }
        #expect(near?.message.contains("did you mean `editor`?") == true)
        #expect(near?.kind == .usage)
        let far = #expect(throws: Fault.self) { try catalogue.role("zzz") }
        #expect(far?.message.contains("`business_analyst`") == true)
        #expect(try catalogue.role("technical_writer").name == "Technical Writer")
        #expect(try catalogue.roles(["editor", "general", "editor"]).map(\.id) == ["editor", "general"])
        #expect(throws: Fault.self) { try catalogue.role("\u{1B}[31m") }
    }

    @Test("A user's advisor is stored as a file, found again, and used like the others")
    func custom() throws {
        try store.create(poet())
        #expect(try store.load() == [poet()])
        let text = try folder.read("roles/custom_night-poet.json")
        #expect(text.contains("\"id\" : \"custom_night-poet\""))
        let catalogue = try RoleCatalogue.load(TKResources.locate(), custom: store)
        let role = try catalogue.role("custom_night-poet")
        #expect(role.isCustom && role.name == "Night Poet" && catalogue.roles.count == 12)
        #expect(role.voiceAndTone.contains("Reads everything aloud first."))
        #expect(role.example?.good == "Frost.")
        #expect(catalogue.problems.isEmpty)
    }

    @Test("Names with the same id are not created twice; the first stays as it was")
    func twice() throws {
        try store.create(poet())
        let before = try folder.read("roles/custom_night-poet.json")
        var other = poet("night  poet")
        other.perspective = "Something else altogether."
        let fault = #expect(throws: Fault.self) { try store.create(other) }
        #expect(fault?.message.contains("tk roles delete custom_night-poet") == true)
        #expect(try folder.read("roles/custom_night-poet.json") == before)
        #expect(try listDirectory(store.folder).count == 1, "nothing unfinished is left")
    }

    @Test("Deleting removes the file; built-in and unknown ones are rejected")
    func delete() throws {
        try store.create(poet())
        #expect(throws: Fault.self) { try store.delete(id: "editor") }
        let near = #expect(throws: Fault.self) { try store.delete(id: "custom_night-poe") }
        #expect(near?.message.contains("did you mean `custom_night-poet`?") == true)
        #expect(throws: Fault.self) { try store.delete(id: "custom_../../x") }
        try store.delete(id: "custom_night-poet")
        #expect(try store.load().isEmpty)
        #expect(throws: Fault.self) { try store.delete(id: "custom_night-poet") }
    }

    @Test("Without a folder there are no user-defined advisors")
    func none() throws {
        #expect(try store.load().isEmpty)
    }

    struct Rule: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let field: String
        let change: @Sendable (inout CustomRole) -> Void
    }

    @Test(
        "An invalid advisor is rejected, naming the field",
        arguments: [
            Rule(testDescription: "name with a slash", field: "name") { $0.name = "a/b" },
            Rule(testDescription: "name with an umlaut", field: "name") { $0.name = "Müller" },
            Rule(testDescription: "name with a line end", field: "name") { $0.name = "a\nb" },
            Rule(testDescription: "empty name", field: "name") { $0.name = "" },
            Rule(testDescription: "name of hyphens", field: "name") { $0.name = "- -" },
            Rule(testDescription: "no focus area", field: "focusAreas") { $0.focusAreas = [] },
            Rule(testDescription: "six focus areas", field: "focusAreas") {
                $0.focusAreas = (1...6).map { "\($0)" }
            },
            Rule(testDescription: "blank focus area", field: "focusAreas") { $0.focusAreas = [" "] },
            Rule(testDescription: "no guideline", field: "guidelines") { $0.guidelines = [] },
            Rule(testDescription: "six guidelines", field: "guidelines") { $0.guidelines = (1...6).map { "\($0)" } },
            Rule(testDescription: "perspective of 9", field: "perspective") {
                $0.perspective = String(repeating: "x", count: 9)
            },
            Rule(testDescription: "perspective of 201", field: "perspective") {
                $0.perspective = String(repeating: "x", count: 201)
            },
            Rule(testDescription: "perspective in two lines", field: "perspective") {
                $0.perspective = "0123456789\nCONSTRAINTS: none"
            },
            Rule(testDescription: "no expertise", field: "expertise") { $0.expertise = "" },
            Rule(testDescription: "escape in an example", field: "exampleBad") { $0.exampleBad = "\u{1B}[2J" },
        ])
    func rules(_ rule: Rule) throws {
        var role = poet()
        rule.change(&role)
        #expect(role.complaints().map(\.field) == [rule.field])
        #expect(throws: Fault.self) { try store.create(role) }
        #expect(try store.load().isEmpty)
    }

    @Test("Values at the limits are accepted", arguments: [10, 200])
    func bounds(_ length: Int) throws {
        var role = poet("A-1 b")
        role.perspective = String(repeating: "ö", count: length)
        role.focusAreas = (1...5).map { "focus \($0)" }
        role.guidelines = ["one"]
        #expect(role.complaints().isEmpty)
        #expect(role.id == "custom_a-1-b")
    }

    @Test("A broken file is reported with its line and does not hide the others")
    func broken() throws {
        try store.create(poet())
        try folder.write("roles/custom_a.json", "{\n  \"name\": \"a\",\n  \"expertise\" \"x\"\n}\n")
        try folder.write(
            "roles/custom_b.json",
            """
            {
              "name": "b", "expertise": "x", "focusAreas": ["x"],
              "guidelines": ["x"],
              "perspektive": "Looks from far away."
            }
            """)
        try folder.write(
            "roles/custom_c.json",
            """
            {
              "name": "c", "expertise": "x",
              "focusAreas": ["x"], "guidelines": ["x"],
              "perspective": "short"
            }
            """)
        try folder.write("roles/custom_d.json", [0xFF, 0xFE])
        try folder.write(
            "roles/poet.json",
            "{\"name\": \"poet\", \"expertise\": \"x\", \"focusAreas\": [\"x\"], "
                + "\"guidelines\": [\"x\"], \"perspective\": \"Looks from far away.\"}")
        try folder.write("roles/.custom_hidden.json", "no JSON at all")
        try folder.write("roles/notes.txt", "not looked at")
        let (roles, problems) = try store.loadAll()
        #expect(roles.map(\.id) == ["custom_night-poet"])
        let found = problems.map { "\($0.path.nameText):\($0.line.map(String.init) ?? "-")" }
        #expect(found == ["custom_a.json:3", "custom_b.json:4", "custom_c.json:4", "custom_d.json:-", "poet.json:1"])
        #expect(problems[1].message.contains("unknown key `perspektive`; did you mean `perspective`?"))
        #expect(problems[2].message.contains("10 to 200 characters; it has 5"))
        #expect(problems[4].message.contains("custom_poet.json"))
        let catalogue = try RoleCatalogue.load(TKResources.locate(), custom: store)
        #expect(catalogue.roles.count == 12 && catalogue.problems.count == 5)
    }

    @Test("Any file yields an advisor or an error, never a crash")
    func hostile() throws {
        var generator = SeededGenerator(for: "hostile role files")
        let good = Array(
            #"{"name": "x", "expertise": "x", "focusAreas": ["x"], "guidelines": ["x"], "perspective": "0123456789"}"#
                .utf8)
        let perspective = try #require(good.firstIndex(of: UInt8(ascii: "0")))
        var (taken, refused) = (0, 0)
        for number in 0..<200 {
            var bytes = good
            if number.isMultiple(of: 4) {
                // A different letter there gives a different perspective.
                bytes[perspective + Int.random(in: 0..<10, using: &generator)] = .random(
                    in: 0x61...0x7A, using: &generator)
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(
                        in: 0...255, using: &generator)
                }
            }
            try folder.write("roles/custom_x.json", bytes)
            let (roles, problems) = try store.loadAll()
            #expect(roles.count + problems.count == 1)
            taken += roles.count
            refused += problems.count
        }
        // Of the others one in a hundred is accepted.
        #expect(taken >= 50 && refused > 100, "\(taken) taken, \(refused) refused")
    }

    @Test("The data files are searched in three places, and an error names them")
    func resources() throws {
        let here = try TKResources.locate().folder
        let named = try TKResources.locate(environment: ["STEWARD_TK_RESOURCES": here.text], program: "/nowhere/bin/tk")
        #expect(named.folder == here)
        try folder.write("usr/share/steward/tk/roles/x.json", "{}")
        let shared = try TKResources.locate(environment: [:], program: folder.path.appending("usr/bin/tk"))
        #expect(shared.folder == folder.path.appending("usr/share/steward/tk"))
        let miss = #expect(throws: Fault.self) { try TKResources.locate(environment: [:], program: "/nowhere/bin/tk") }
        #expect(miss?.message.contains("/nowhere/bin/steward_TKCore.resources/Resources") == true)
        #expect(miss?.message.contains("/nowhere/share/steward/tk") == true)
        let wrong = #expect(throws: Fault.self) {
            try TKResources.locate(environment: ["STEWARD_TK_RESOURCES": "/nowhere"], program: "/nowhere/bin/tk")
        }
        #expect(wrong?.kind == .usage)
    }
}
