import NoteActions
import Platform
import Rules
import Synchronization
import TKCore
import TestSupport
import Testing

/// Reviews of a draft that an editor's language server has open. The test is the server.
@Suite("Drafts that a language server has open") struct ReviewServedTests {
    /// What the server does when answers are sent to it, and what the review makes of that.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// The draft as it was saved before the answers arrive.
        var saved = ReviewSample.draft
        /// The text that the server replies about; nil for no reply.
        var buffer: String? = ReviewSample.accepted
        var isRefused = false
        /// Whether the step waits.
        var waits = false
        var draft: String
        /// What the sidecar says then.
        var says: String
    }

    static let cases = [
        Case(
            testDescription: "the buffer has the words, the file not yet", waits: true, draft: ReviewSample.draft,
            says: "- [x] **"),
        Case(
            testDescription: "the file has them as well", saved: ReviewSample.accepted, draft: ReviewSample.accepted,
            says: "No findings, 1 accepted, 1 skipped."),
        Case(
            testDescription: "the writer has gone on from them", saved: "We talked.\n\nIt rained.\n",
            buffer: "We talked.\n\nIt rained.\n", draft: "We talked.\n\nIt rained.\n",
            says: "No findings, 1 accepted, 1 skipped."),
        Case(
            testDescription: "the writer has undone them", buffer: ReviewSample.draft, isRefused: true,
            draft: ReviewSample.draft, says: "It was taken back."),
        Case(
            testDescription: "the server has gone", buffer: nil, waits: true, draft: ReviewSample.draft,
            says: "- [x] **"),
    ]

    @Test("What an editor replies is recorded, and the file is left to it", arguments: cases)
    func replies(_ given: Case) async throws {
        let scene = try ActionScene()
        let path = try scene.home.write("dropbox/Idea 1.md", ReviewSample.draft)
        var options = ActionWorld.Options()
        let open = OpenDrafts()
        options.openDrafts = open
        let world = try scene.open(options)
        try await world.run("review", on: "Idea 1.md")
        let requests = Mutex<[EditorRequest]>([])
        let server = Mutex<ConnectedEditor?>(nil)
        let editor = ConnectedEditor { news in
            guard let request = news.wanted else { return }
            requests.withLock { $0.append(request) }
            guard let editor = server.withLock({ $0 }) else { return }
            guard let buffer = given.buffer else { return open.remove(editor) }
            editor.take(Self.reply(to: request, given, buffer))
        }
        server.withLock { $0 = editor }
        open.set([path], of: editor)
        let sidecar = try scene.home.read("dropbox/Idea 1.review.md")
        // An answer that counts at once, where an editor does not make the change.
        try scene.home.write("dropbox/Idea 1.review.md", ReviewSample.answer(sidecar, ["x!", "-"]))
        try scene.home.write("dropbox/Idea 1.md", given.saved)
        var fault: Fault?
        do {
            fault = try await world.run("review", on: "Idea 1.review.md", step: "job.1").receipt.wait?.fault
        } catch let found as Fault {
            fault = found
        }
        #expect((fault != nil) == given.waits, "\(String(describing: fault))")
        if let fault { #expect(fault.kind == .transient && fault.code == Fault.inEditor, "\(fault)") }
        #expect(try scene.home.read("dropbox/Idea 1.md") == given.draft)
        let after = try scene.home.read("dropbox/Idea 1.review.md").replacing("[x!]", with: "[x]")
        #expect(after.contains(given.says), "\(after)")
        #expect(after.contains("1 skipped") == (given.buffer != nil), "a skip does not wait: \(after)")
        let request = try #require(requests.withLock { $0.first })
        #expect(request.draft == path && request.accepted.count == 1 && request.skipped.count == 1)
        guard given.buffer == nil else { return }
        // As before, it is the rule's to write.
        try await world.run("review", on: "Idea 1.review.md", step: "job.2")
        #expect(try scene.home.read("dropbox/Idea 1.md") == ReviewSample.accepted)
    }

    @Test("What is ticked beside a `[?]` goes into the buffer, and neither waits for the other")
    func besideAQuestion() async throws {
        let scene = try ReviewModelScene { request in
            .message(
                ReviewJourneyTests.isAsking(request)
                    ? #"{"replacement":"historic town","answer":""}"#
                    : ReviewModelScene.list([ReviewModelScene.item("old town", "old city", by: "editor")]))
        }
        let entry = "review: { passes: [quick, advisors], advisors: [editor] }"
        var options = ActionWorld.Options()
        options.models = scene.variables
        let open = OpenDrafts()
        options.openDrafts = open
        let world = try scene.scene.open(options)
        try await world.run(entry, on: ReviewModelScene.file)
        let buffer = ReviewModelScene.draft.replacing("in order to", with: "to")
        let accepted = Mutex<[[String]]>([])
        let server = Mutex<ConnectedEditor?>(nil)
        let editor = ConnectedEditor { news in
            guard let request = news.wanted, let editor = server.withLock({ $0 }) else { return }
            accepted.withLock { $0.append(request.accepted.map(\.key)) }
            var reply = EditorReply()
            reply.serial = request.serial
            reply.content = ContentHash(of: Array(buffer.utf8))
            reply.taken = request.accepted.map { EditorReply.Taken(key: $0.key, applied: nil) }
            editor.take(reply)
        }
        server.withLock { $0 = editor }
        open.set([scene.scene.path("dropbox/Idea 1.md")], of: editor)
        let blocks = SidecarAnswers(try scene.sidecar).byKey
        let ticked = try #require(blocks.first { $0.value.proposal == "to" }?.key)
        let asked = try #require(blocks.first { $0.value.proposal == "old city" }?.key)
        let answered = try scene.sidecar.replacing("- [ ] **\(ticked)**", with: "- [x] **\(ticked)**")
            .replacing("- [ ] **\(asked)**", with: "- [?] **\(asked)**")
        try scene.scene.home.write("dropbox/Idea 1.review.md", answered)
        let first = try await world.run(entry, on: "Idea 1.review.md", step: "ask.0")
        #expect(first.receipt.wait != nil, "the file lacks the words")
        #expect(accepted.withLock { $0.allSatisfy { $0 == [ticked] } && !$0.isEmpty })
        let shown = try scene.sidecar
        #expect(shown.contains("  historic town\n") && shown.contains("- [x] **\(ticked)**"), "\(shown)")
        #expect(try scene.text == ReviewModelScene.draft)
        try scene.scene.home.write("dropbox/Idea 1.md", buffer)
        let second = try await world.run(entry, on: "Idea 1.review.md", step: "ask.1")
        #expect(second.receipt.wait == nil && scene.server.requests.count == 2)
        #expect(try scene.sidecar.contains("1 accepted") && scene.text == buffer)
    }

    private static func reply(to request: EditorRequest, _ given: Case, _ buffer: String) -> EditorReply {
        var reply = EditorReply()
        reply.serial = request.serial
        reply.content = ContentHash(of: Array(buffer.utf8))
        reply.skipped = request.skipped
        for answer in request.accepted {
            if given.isRefused {
                reply.refused.append(
                    EditorReply.Refused(key: answer.key, state: .pending, note: "It was taken back."))
            } else {
                let text = DraftText(ReviewSample.accepted)
                let place = (text.string.firstRange(of: "to talk")).map {
                    text.string.unicodeScalars.distance(from: text.string.startIndex, to: $0.lowerBound)
                }
                reply.taken.append(
                    EditorReply.Taken(key: answer.key, applied: place.map { text.anchor(of: $0..<$0 + 2) }))
            }
        }
        return reply
    }
}
