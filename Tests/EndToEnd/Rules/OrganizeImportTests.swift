import Foundation
import OwnFiles
import Platform
import TestSupport
import Testing

extension AgentFixture {
    /// Creates the places that an import asks for, where they belong.
    func addPlaces(of imported: Answer) throws {
        var lines = ""
        for place in imported["places"].items {
            lines += "\n  \(place["name"].text): { kind: folder, path: \"\(place["path"].text)\" }"
            let below = String(place["path"].text.dropFirst("~/".count))
            try Durable.makeDirectory(home.path.appending(BytePath(below)))
        }
        let file: BytePath = ".config/steward/steward.yaml"
        let text = try home.read(file)
        try home.write(file, text.replacingOccurrences(of: "\nplaces:\n", with: "\nplaces:\(lines)\n"))
    }
}

@Suite("steward rules import") struct OrganizeImportTests {
    private static let file = """
        # All of my folders
        rules:
          # pictures have a home
          - name: Pictures
            locations: ~/Downloads
            filters:
              - extension: [png, .JPG]
              - size: ">1mb, <10mb"
              - lastmodified
            actions:
              - echo: "{path}"
              - move:
                  dest: "~/Pictures/{lastmodified.year}/"
                  on_conflict: skip
          - name: Reports
            locations:
              - path: ~/Documents
                max_depth: null
            subfolders: true
            filter_mode: none
            filters:
              - name: { startswith: [Report, Memo], case_sensitive: false }
              - not empty
            actions:
              - copy: "~/Documents/kept/{name}.txt"
          - locations: ~/Downloads
            filters:
              - python: return True
            actions:
              - trash
        """

    @Test("Rules are imported with their comments, and unsupported parts are reported by line")
    func rules() throws {
        let steward = try AgentFixture()
        let file = try steward.home.write("organize.yaml", Self.file)
        let answer = try steward.json(["rules", "import", file.text])
        #expect(
            answer["text"].text == """
                # yaml-language-server: $schema=/usr/share/steward/rules.schema.json
                # Made from organize's organize.yaml; review it before use.

                # All of my folders
                # pictures have a home
                # line 11 of organize's file: `echo` is omitted: `steward log` shows what was done, `steward rules try` what would be
                - rule: Pictures
                  in: downloads
                  where:
                    all:
                      - depth: 0
                      - not: { name: [thumbs.db, desktop.ini, "~$*", ".DS_Store", ".localized"] }
                      - extension: [png, jpg]
                      - size: ["> 1 MB", "< 10 MB"]
                  do:
                    - move: { place: pictures, folder: "{{ file.modified | date: \\"%Y\\" }}", exists: skip }

                - rule: Reports
                  in: documents
                  where:
                    all:
                      - not: { name: [thumbs.db, desktop.ini, "~$*", ".DS_Store", ".localized"] }
                      - not: { path: ["**/.git/**", "**/.svn/**"] }
                      - not: { stem: ["[rR][eE][pP][oO][rR][tT]*", "[mM][eE][mM][oO]*"] }
                      - empty: true
                  do:
                    - copy: { place: documents, folder: kept, name: "{{ file.stem }}.txt" }

                # line 28 of organize's file: the rule `Rule 3 of organize` is omitted: the filter `python` cannot be imported

                """)
        #expect(answer["places"].items.map { $0["name"].text } == ["downloads", "documents", "pictures"])
        #expect(answer["rules"].number == 2)
        let shown = try steward.run(["rules", "import", file.text]).check()
        #expect(shown.errors.contains("  pictures: { kind: folder, path: \"~/Pictures\" }"))
        #expect(shown.errors.contains("2 of 3 rules were imported."))
    }

    /// The uncommented lines of the import for one rule.
    private func inForce(_ rule: String) throws -> [String] {
        let steward = try AgentFixture()
        let file = try steward.home.write("organize.yaml", "rules:\n  - name: A rule\n" + rule)
        let text = try steward.json(["rules", "import", file.text])["text"].text
        return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test(
        "A rule that was not fully understood is not in force",
        arguments: [
            "    locations: ~/Downloads\n    actions: [{ shell: 'cp {path} /backup' }, delete]",
            "    locations: ~/Downloads\n    tags: [never]\n    actions: [trash]",
            "    locations: ~/Downloads\n    enabled: no\n    actions: [trash]",
            "    locations: ~/Downloads\n    targets: folders\n    actions: [trash]",
            "    locations: ~/Downloads\n    filter_mode: non\n    filters: [empty]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filter_mode: any\n    actions: [trash]",
            "    locations: ~/Downloads\n    filterz: [empty]\n    actions: [trash]",
            "    locations: [~/Downloads, '{env.HOME}/x']\n    actions: [trash]",
            "    locations: Downloads\n    actions: [trash]",
            "    locations: [{ path: ~/Downloads, exclude_file: x }]\n    actions: [trash]",
            "    locations: [{ path: ~/Downloads, exclude_files: ['[a'], max_depth: deep }]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [{ lastmodified: { day: 30 } }]\n    actions: [delete]",
            "    locations: ~/Downloads\n    filters: [{ extension: pdf, name: x }]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [{ regex: 'a(?#b)' }]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [{ size: 1 parsec }]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [not hash]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [mimetype: image]\n    actions: [trash]",
            "    locations: ~/Downloads\n    filters: [extension: pdf, duplicate: name]\n    actions: [trash]",
            "    locations: ~/Downloads\n    actions: [{ copy: ~/Kept/ }, trash]",
            "    locations: ~/Downloads\n    actions: [{ move: '~/Kept/{lastmodified.year}/' }]",
            "    locations: ~/Downloads\n    actions: [{ move: { dest: ~/Kept/, on_conflict: rename_existing } }]",
            "    locations: ~/Downloads\n    actions: [{ move: { dest: ~/Kept/, when: later } }]",
        ]) func notInForce(_ rule: String) throws
    {
        #expect(try inForce(rule) == [])
    }

    @Test("Parts dropped from a rule are noted beside it, and the rest becomes a comment")
    func comment() throws {
        let steward = try AgentFixture()
        let file = try steward.home.write(
            "organize.yaml",
            """
            rules:
              - name: Keep a copy
                locations: ~/Downloads
                filters: [{ lastmodified: { days: 30 } }]
                actions:
                  - shell: cp "{path}" /backup
                  - delete
            """)
        let answer = try steward.json(["rules", "import", file.text])
        #expect(
            answer["text"].text.hasSuffix(
                """

                # line 6 of organize's file: the action `shell` is dropped: `run` starts a program with a list of arguments, without a shell
                # - rule: Keep a copy
                #   in: downloads
                #   where:
                #     all:
                #       - depth: 0
                #       - not: { name: [thumbs.db, desktop.ini, "~$*", ".DS_Store", ".localized"] }
                #       - age: "> 30d"
                #   do:
                #     - delete

                """))
        #expect(answer["rules"].number == 0)
        #expect(answer["notes"].items.contains { $0["message"].text.contains("written as a comment") })
        let unknown = try steward.home.write(
            "other.yaml", "rules:\n  - locations: ~/Downloads\n    filterz: [empty]\n    actions: [trash]\n")
        #expect(
            try steward.json(["rules", "import", unknown.text])["text"].text.hasSuffix(
                "# line 3 of organize's file: the rule `Rule 1 of organize` is omitted: the key `filterz` of a rule is not understood\n"
            ))
    }

    @Test("Exclusions of a location become conditions")
    func locations() throws {
        let rule = """
                locations:
                  - path: ~/Downloads
                    max_depth: 3
                    min_depth: 1
                    exclude_files: ['*.kdbx', 'a{b}']
                    exclude_dirs: keep
                    filter: ['*.txt']
                    filter_dirs: ['[a-c]*', old]
                  - path: ~/Documents
                    system_exclude_files: []
                    system_exclude_dirs: []
                actions: [trash]

            """
        let first = [
            #"{ depth: ">= 1" }"#, #"{ depth: "<= 3" }"#,
            #"{ path: ["*", "{[a-c]*,old}/*", "{[a-c]*,old}/{[a-c]*,old}/*", "{[a-c]*,old}/{[a-c]*,old}/{[a-c]*,old}/*"] }"#,
            #"{ name: "*.txt" }"#,
            #"{ not: { name: [thumbs.db, desktop.ini, "~$*", ".DS_Store", ".localized", "*.kdbx", "a\\{b\\}"] } }"#,
            #"{ not: { path: ["**/.git/**", "**/.svn/**", "**/keep/**"] } }"#,
        ]
        #expect(
            try inForce(rule) == [
                "- rule: A rule", "  in: [downloads, documents]", "  where:", "    all:",
                "      - any: [{ all: [{ place: downloads }, \(first.joined(separator: ", "))] }, "
                    + "{ all: [{ place: documents }, { depth: 0 }] }]",
                "  do:", "    - trash",
            ])
    }

    @Test("The rules are valid once the places exist, and no file is ever replaced")
    func valid() throws {
        let steward = try AgentFixture()
        let file = try steward.home.write("organize.yaml", Self.file)
        try steward.addPlaces(of: steward.json(["rules", "import", file.text]))
        let out = steward.home.path.appending(".config/steward/rules.d/60-organize.yaml")
        try steward.run(["rules", "import", file.text, "--out", out.text]).check()
        #expect(try steward.run(["check"]).output.contains("2 rules in 1 files, 0 errors"))
        #expect(try steward.run(["rules", "import", file.text, "--out", out.text]).status == 64)
    }

    @Test("Folder rules are imported as such: its own example for empty folders")
    func folders() async throws {
        let steward = try AgentFixture()
        let file = try steward.home.write(
            "organize.yaml",
            """
            rules:
              - name: Delete all empty subfolders
                locations:
                  - path: "~/Downloads"
                    max_depth: null
                targets: dirs
                filters:
                  - empty
                actions:
                  - delete
            """)
        let imported = try steward.json(["rules", "import", file.text])
        #expect(imported["text"].text.contains("  match: folders\n"))
        try steward.addPlaces(of: imported)
        try steward.rule("60-organize.yaml", imported["text"].text)
        try await steward.start()
        let downloads = steward.home.path.appending("Downloads")
        try steward.home.write("Downloads/kept/a.txt", "a")
        try Durable.makeDirectory(downloads.appending("kept/below"))
        try Durable.makeDirectory(downloads.appending("empty"))
        try await steward.until("the empty folders are gone") {
            try FileStatus.of(downloads.appending("empty")) == nil
                && FileStatus.of(downloads.appending("kept/below")) == nil
        }
        #expect(try steward.home.read("Downloads/kept/a.txt") == "a")
    }

    @Test("Anything but an organize configuration is rejected")
    func other() throws {
        let steward = try AgentFixture()
        let file = try steward.home.write("x.yaml", "- rule: A\n")
        let result = try steward.run(["rules", "import", file.text])
        #expect(result.status == 64)
        #expect(result.errors.contains("it has no list `rules`"))
    }
}
