import TKCore
import TestSupport
import Testing

@Suite("The shipped rule of reviews") struct ReviewFormatTests {
    @Test("It knows the names of all drafts, arriving and removed, and listens to renames") func formats() throws {
        let text = try ShippedRules.read("31-review.yaml")
        let globs = text.matches(of: /name: "\*\.\{(.*)\}"/).map {
            Set($0.output.1.split(separator: ",").map(String.init))
        }
        #expect(globs == [DraftSyntax.draftEndings, DraftSyntax.draftEndings])
        #expect(text.contains("on: [arrived, changed, renamed]"))
    }
}
