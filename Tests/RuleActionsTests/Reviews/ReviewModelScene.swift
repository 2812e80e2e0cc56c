import Foundation
import Platform
import Rules
import TestSupport

/// A draft that a model is asked about, and the model: a loopback server that speaks like Anthropic's.
struct ReviewModelScene {
    static let draft = "We met in order to talk.\n\nThe rain fell on the old town.\n"
    static let entry = "review: { passes: [quick, advisors, council], advisors: [editor, academic] }"
    static let file: BytePath = "Idea 1.md"
    static let key = "sk-ant-test-0815"

    let scene: ActionScene
    let server: ScriptedServer

    init(_ draft: String = Self.draft, answer: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer?)
        throws
    {
        scene = try ActionScene()
        try scene.home.write("dropbox/Idea 1.md", draft)
        server = try ScriptedServer { request in
            request.headers["x-api-key"] == Self.key ? answer(request) : .complaint(401, "authentication_error")
        }
    }

    /// Another draft of the same words, read by the same model.
    init(beside other: ReviewModelScene) throws {
        scene = try ActionScene()
        try scene.home.write("dropbox/Idea 1.md", Self.draft)
        server = other.server
    }

    /// With the answers of a sensible model.
    init(_ draft: String = Self.draft) throws { try self.init(draft, answer: Self.sensible) }

    var variables: [String: String] { ["TK_BASE_URL": server.url, "TK_API_KEY": Self.key] }

    func open(_ variables: [String: String]? = nil) throws -> ActionWorld {
        var options = ActionWorld.Options()
        options.models = variables ?? self.variables
        return try scene.open(options)
    }

    var sidecar: String { get throws { try scene.home.read("dropbox/Idea 1.review.md") } }
    var text: String { get throws { try scene.home.read("dropbox/Idea 1.md") } }
    var hasSidecar: Bool { get throws { try scene.exists("dropbox/Idea 1.review.md") } }

    /// Puts marks before the blocks of the sidecar, in order.
    func answer(_ marks: String...) throws {
        try write(scene.path("dropbox/Idea 1.review.md"), ReviewSample.answer(try sidecar, marks))
    }

    // MARK: What the model says

    static let sensible: @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer? = { request in
        .message(isCouncil(request) ? point("old town", isAcademic(request) ? 1 : -1) : suggestions())
    }

    static func isCouncil(_ request: ScriptedServer.Request) -> Bool { request.body.contains(#""points""#) }

    /// In a council's call: whether the academic is speaking.
    static func isAcademic(_ request: ScriptedServer.Request) -> Bool {
        request.body.contains("a senior researcher and a referee")
    }

    static func suggestions() -> String {
        list([
            item("in order to", "to", by: "editor", category: "wordiness"),
            item("old town", "old city", by: "editor"), item("old town", "historic town", by: "academic"),
            item("words that nobody wrote", "others", by: "academic"),
        ])
    }

    static func list(_ items: [String]) -> String { #"{"suggestions":[\#(items.joined(separator: ","))]}"# }

    static func item(
        _ quote: String, _ replacement: String, by advisor: String, category: String = "clarity",
        reason: String = "The plain word is shorter."
    ) -> String {
        let words = [quote, replacement, reason].map { ScriptedServer.Answer.quoted($0) }
        return #"{"advisor_id":"\#(advisor)","quote":\#(words[0]),"before":"","replacement":\#(words[1]),"#
            + #""type":"improve","category":"\#(category)","priority":2,"confidence":0.9,"reason":\#(words[2])}"#
    }

    static func point(_ quote: String, _ stance: Int) -> String {
        #"{"summary":"It is short.","points":[{"quote":"\#(quote)","before":"","aspect":"style","stance":\#(stance),"#
            + #""claim":"The word weighs \#(stance)."},{"quote":"We met","before":"","aspect":"opening","stance":1,"#
            + #""claim":"It begins at once."}]}"#
    }
}
