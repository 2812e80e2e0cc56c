import DotLifeDomain
import Foundation
import Testing

@Suite("Sentences of captures")
struct SentenceTemplateTests {
    @Test("A template has both placeholders; otherwise the error says which is missing")
    func validity() throws {
        let cases: [(String, SentenceTemplateError, String)] = [
            ("I am glad", .missingBoth, "Template must include [moment] and [experience]"),
            ("I like [experience]", .missingMoment, "Template must include [moment]"),
            ("I like it [moment]", .missingExperience, "Template must include [experience]"),
            ("[Moment] [Experience]", .missingBoth, "Template must include [moment] and [experience]"),
            ("", .missingBoth, "Template must include [moment] and [experience]"),
            ("[moment [experience]]", .missingMoment, "Template must include [moment]"),
        ]
        for (text, error, message) in cases {
            #expect(throws: error) { try SentenceTemplate(text) }
            #expect(error.description == message)
            #expect(error.localizedDescription == message)
        }
        #expect(try SentenceTemplate("[moment][experience]").text == "[moment][experience]")
    }

    @Test("Every placeholder is replaced, and values are not scanned again")
    func rendering() throws {
        #expect(
            SentenceTemplate.standard.render(moment: "today", experience: "tea") == "I appreciate tea for today")
        let template = try SentenceTemplate("[experience] and [moment], [experience]! [else] [[moment]")
        #expect(
            template.render(moment: "[experience]", experience: "[moment]")
                == "[moment] and [experience], [moment]! [else] [[experience]")
        let accented = try SentenceTemplate("[moment]\u{301} 🇫🇷[experience]e\u{301}")
        #expect(accented.render(moment: "a", experience: "b") == "a\u{301} 🇫🇷be\u{301}")
    }

    @Test("A capture's text becomes one line; without text its kind is named")
    func records() {
        func sentence(_ type: ExperienceType, note: String? = nil, link: String? = nil) -> String {
            SentenceTemplate.standard.render(
                ExperienceRecord(
                    id: UUID(), timestamp: .now, createdAt: .now, momentType: .thisWeek, experienceType: type,
                    noteText: note, linkURL: link))
        }
        #expect(sentence(.note, note: "the light\n  on the wall") == "I appreciate the light on the wall for this week")
        #expect(sentence(.note, note: "[moment]") == "I appreciate [moment] for this week")
        #expect(sentence(.link, link: "https://a.org/b") == "I appreciate https://a.org/b for this week")
        #expect(sentence(.photo) == "I appreciate a photo for this week")
        #expect(sentence(.dot) == "I appreciate a dot for this week")
    }

    @Test("Decoding applies the same checks")
    func coding() throws {
        let bytes = try JSONEncoder().encode(["I like [experience] [moment]"])
        let templates = try JSONDecoder().decode([SentenceTemplate].self, from: bytes)
        #expect(templates.map(\.text) == ["I like [experience] [moment]"])
        #expect(try JSONEncoder().encode(templates) == bytes)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([SentenceTemplate].self, from: Data(#"["I like it"]"#.utf8))
        }
    }
}
