import OwnFiles
import Platform
import Rules
import TestSupport
import Testing

@Suite("Lookup tables") struct LookupTableTests {
    private func table(_ text: String, isTabbed: Bool = false) throws -> LookupTable {
        try LookupTable(Array(text.utf8), isTabbed: isTabbed)
    }

    @Test("A key returns the fields of its row")
    func fields() throws {
        let table = try table(
            "id,name,mail\n17,Ada Lovelace,ada@example.org\n 18 ,\"Hopper, \"\"Amazing\"\" Grace\",\n")
        #expect(table.columns == ["id", "name", "mail"])
        #expect(table.count == 2)
        #expect(table.value("name", of: "17") == "Ada Lovelace")
        #expect(table.value("id", of: "17") == "17")
        #expect(table.value("name", of: " 18") == "Hopper, \"Amazing\" Grace")
        #expect(table.value("mail", of: "18") == nil, "an empty field is nothing")
        #expect(table.value("name", of: "19") == nil)
        #expect(table.value("town", of: "17") == nil)
    }

    @Test(
        "Tables are accepted as programs write them",
        arguments: [
            ("\u{FEFF}id;name\r\n1;a, b\r\n", "a, b"), ("id,name\r\n1,\"a\r\nb\"\r\n", "a\r\nb"),
            ("id,name\n\n1,x", "x"),
            ("id,name\n1,a;b\n", "a;b"), ("id,name\n1,a\rb\n", "a\rb"),
        ])
    func dialects(_ text: String, _ expected: String) throws {
        #expect(try table(text).value("name", of: "1") == expected)
    }

    @Test("In a tab-separated table quotes are text")
    func tabs() throws {
        #expect(try table("id\tname\n1\t5\" disk, old\n", isTabbed: true).value("name", of: "1") == "5\" disk, old")
    }

    @Test("A key is the same regardless of Unicode composition")
    func keys() throws {
        #expect(try table("id,name\nA\u{308}rzte,x\n").value("name", of: "Ärzte") == "x")
    }

    @Test(
        "An error names its line, its column and the problem",
        arguments: [
            ("", 1, 1, "empty"), ("\n \n", 1, 1, "empty"), ("id,\n", 1, 1, "column 2 has no name"),
            ("id,a,a\n", 1, 1, "two columns `a`"), ("id,a\n1,x\n2\n", 3, 1, "1 fields, and there are 2 columns"),
            ("id,a\n1,x\n1,y\n", 3, 1, "that of line 2 as well"), ("id,a\n,x\n", 2, 1, "no key"),
            ("id,a\n1,x\"y\n", 2, 4, "inside a field"), ("id,a\n1,\"x\ny\n", 2, 3, "never closed"),
            ("id,a\n1,\"x\"y\n", 2, 6, "ends with its closing quote"),
        ])
    func faults(_ text: String, _ line: Int, _ column: Int, _ message: String) {
        do throws(LookupTable.Fault) {
            _ = try LookupTable(Array(text.utf8), isTabbed: false)
            Issue.record("\(text) was read")
        } catch {
            #expect(error.position == SourcePosition(line: line, column: column))
            #expect(error.message.contains(message), "\(error.message)")
        }
    }

    @Test("Invalid UTF-8 is reported with its line, and an oversized table is not read")
    func bytes() {
        #expect(throws: LookupTable.Fault.self) { try LookupTable([0x69, 0x0A, 0xFF], isTabbed: false) }
        do throws(LookupTable.Fault) {
            _ = try LookupTable(Array("id\n".utf8) + [0xFF, 0x0A], isTabbed: false)
        } catch {
            #expect(error.position.line == 2)
        }
        #expect(throws: LookupTable.Fault.self) {
            try LookupTable([UInt8](repeating: 0x61, count: LookupTable.limit + 1), isTabbed: false)
        }
    }

    @Test("Tables written as in RFC 4180 are read back unchanged")
    func written() throws {
        var random = SeededGenerator(for: "Tables")
        let alphabet = Array("ab,;\"\n\r\t é東🎉'\\{}".unicodeScalars)
        for _ in 0..<300 {
            let rows = (0..<Int.random(in: 1...8, using: &random)).map { row in
                ["k\(row)"]
                    + (0..<3).map { _ in
                        String(
                            String.UnicodeScalarView(
                                (0..<Int.random(in: 0...12, using: &random)).map { _ in
                                    alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                                }))
                    }
            }
            let text = ([["id", "x", "y", "z"]] + rows).map { row in
                row.map { "\"\($0.replacing("\"", with: "\"\""))\"" }.joined(separator: ",")
            }.joined(separator: "\r\n")
            let table = try table(text)
            for row in rows {
                for (column, field) in zip(["x", "y", "z"], row.dropFirst()) {
                    let found = table.value(column, of: row[0]) ?? ""
                    #expect(Array(found.unicodeScalars) == Array(field.unicodeScalars))
                }
            }
        }
    }

    // MARK: In rules

    private let files = RuleFileReader(names: ConfigurationFiles.names) {
        try ConfigurationFiles.read($0, limit: RuleFileReader.limit)
    }

    private func load(_ folder: TemporaryFolder) -> LoadedRules {
        RuleDirectories.load([folder.path], files, registry: registry, places: places(), timeZone: utc)
    }

    private func rule(_ text: String, values: String = "customers.csv", name: String = "R") -> String {
        """
        - rule: \(name)
          in: other
          values: \(values)
          do:
            - append-block: { text: '\(text)' }

        """
    }

    @Test("A table beside the rule file is read with it, and changing it does not change the rule")
    func beside() throws {
        let folder = try TemporaryFolder()
        let mail = "{{ lookup:customers.mail[file.stem] | default: nobody }}"
        try folder.write("10-a.yaml", rule(mail))
        try folder.write("customers.csv", "id,mail\n17,ada@example.org\n")
        let loaded = load(folder)
        #expect(loaded.diagnostics == [])
        let first = try #require(loaded.rules.first)
        #expect(first.tables["customers"]?.value("mail", of: "17") == "ada@example.org")
        try folder.write("customers.csv", "id,mail\n17,ada@example.com\n18,grace@example.org\n")
        let again = try #require(load(folder).rules.first)
        #expect(again.digest == first.digest)
        #expect(again.tables["customers"]?.count == 2)
        #expect(
            PlannedValues.lookups(of: again, in: ["file.stem": .text("18")]).values.first == .text("grace@example.org"))
        #expect(PlannedValues.lookups(of: again, in: ["file.stem": .text("19")]).isEmpty)
    }

    @Test("An invalid table is reported with its line, once, and no rule that uses it is accepted")
    func faulty() throws {
        let folder = try TemporaryFolder()
        try folder.write("10-a.yaml", rule("x") + rule("y", name: "S"))
        try folder.write("customers.csv", "id,mail\n17,a\n17,b\n")
        let loaded = load(folder)
        #expect(loaded.rules.isEmpty)
        #expect(loaded.diagnostics.count == 1)
        #expect(loaded.diagnostics.first?.file == folder.path.appending("customers.csv").description)
        #expect(loaded.diagnostics.first?.line == 3)
    }

    @Test(
        "An invalid system table is a warning for other agents, and its rules stay as they were")
    func others() throws {
        let folder = try TemporaryFolder()
        func loaded(_ before: [BytePath: [Rule]]?) -> LoadedRules {
            RuleDirectories.load(
                [folder.path], others: folder.path, before: before, files, registry: registry, places: places(),
                timeZone: utc)
        }
        try folder.write("10-a.yaml", rule("x"))
        try folder.write("20-b.yaml", rule("y", name: "S"))
        try folder.write("customers.csv", "id,mail\n17,a\n")
        let first = loaded(nil)
        #expect(first.diagnostics == [])
        try folder.write("customers.csv", "id,mail\n17,a\n17,b\n")
        let later = loaded(first.machineRules)
        #expect(later.rules.map { $0.tables["customers"]?.value("mail", of: "17") } == ["a", "a"])
        #expect(later.diagnostics.map(\.severity) == [.warning])
        let without = loaded(nil)
        #expect(without.rules.isEmpty)
        #expect(without.diagnostics.map(\.severity) == [.warning])
    }

    @Test(
        "A look-up that can never match is reported",
        arguments: [
            ("{{ lookup:customers.name[file.stem] }}", "customers.csv", "no column `name`"),
            ("{{ lookup:clients.mail[file.stem] }}", "customers.csv", "no table `clients`"),
            ("{{ lookup:customers.mail[note.path] }}", "customers.csv", "unknown value `note.path`"),
            ("{{ lookup:customers.mail[file.steam] }}", "customers.csv", "unknown value `file.steam`"),
            ("x", "missing.csv", "cannot be read"), ("x", "../customers.csv", "names a table beside this file"),
            ("x", "customers.txt", "names a table beside this file"),
            ("x", "[customers.csv, customers.csv]", "two tables are called"),
        ])
    func complaints(_ text: String, _ values: String, _ message: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("10-a.yaml", rule(text, values: values))
        try folder.write("customers.csv", "id,mail\n17,a\n")
        let loaded = load(folder)
        #expect(loaded.rules.isEmpty)
        #expect(loaded.diagnostics.contains { $0.message.contains(message) }, "\(loaded.diagnostics)")
    }

    @Test("A key provided by a step comes too late")
    func tooLate() throws {
        let folder = try TemporaryFolder()
        try folder.write(
            "10-a.yaml",
            """
            - rule: R
              in: other
              values: customers.csv
              do:
                - import-comic
                - append-block: { text: "{{ lookup:customers.mail[comic.title] }}" }
            """)
        try folder.write("customers.csv", "id,mail\n17,a\n")
        #expect(load(folder).diagnostics.contains { $0.message.contains("cannot use `comic.title` as its key") })
    }
}
