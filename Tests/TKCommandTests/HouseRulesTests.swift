import Platform
import TestSupport
import Testing

@Suite("tk with a project's styles")
struct HouseRulesTests {
    @Test(
        "The nearest .vale.ini applies, unless another or none is named",
        arguments: [
            ([], "notes/draft.md:1:5: “one” → “two”: Use 'two' instead of 'one'. [House.One]\n", 0),
            (["--no-styles"], "", 0), (["--ignore", "House.One"], "", 0), (["--styles", "other.ini"], "", 0),
            (["--styles", "missing.ini"], "", 1), (["--styles", "other.ini", "--no-styles"], "", 64),
        ])
    func styles(options: [String], expected: String, status: Int32) throws {
        let fixture = try CommandFixture()
        let rule = "extends: substitution\nmessage: Use '%s' instead of '%s'.\nswap: {one: two}\n"
        try fixture.write("styles/House/One.yml", rule)
        try fixture.write(".vale.ini", "StylesPath = styles\n[*]\nBasedOnStyles = House\n")
        try fixture.write("other.ini", "StylesPath = styles\n[*.txt]\nBasedOnStyles = House\n")
        try fixture.write("notes/draft.md", "Say one word.\n")
        let result = try fixture.tk(["suggest", "notes/draft.md", "--quick", "--format", "line"] + options)
        #expect(result.output == expected)
        #expect(result.status == status)
    }
}
