import Platform
import TestSupport
import Testing

/// The answers of a running agent about captures over its control socket.
@Suite("Dots over the control socket")
struct DotSocketTests: DotCommands {
    let steward: AgentFixture

    init() throws {
        steward = try AgentFixture(
            configuration: "time-zone: Europe/Berlin\ncaptures: { sentence: \"[moment]: [experience]\" }")
    }

    private func ask(_ request: String) throws -> Answer {
        let caller = try SocketCaller(home.appending("run/control.sock"))
        caller.say(Array("\(request)\n".utf8))
        return try Answer(parsing: caller.line())
    }

    /// The agent uses the real clock, so all of this is long past.
    private func fillPast() throws {
        for words in [
            ["note", "--time", "2024-03-05 07:10", "Swap the two chapters"],
            ["note", "--time", "2024-03-05 15:05", "--moment", "today", "Read the chapters aloud \u{202E}"],
            ["link", "--time", "2024-03-04 21:30", "example.org/a?b=c"], ["dot", "--time", "2024-03-31 03:30"],
        ] {
            try steward.run(["dots", "add"] + words).check()
        }
    }

    @Test("A command's JSON is what the agent answers")
    func answers() async throws {
        try steward.home.write("song.txt", "la la")
        try await steward.start()
        try fillPast()
        try steward.run(["dots", "add", "dot", "--time", "2024-03-06", "--attach", "song.txt"]).check()
        let id = try steward.json(["dots", "search", "swap"]).items[0]["capture"]["id"].text
        let asked: [(words: [String], request: String)] = [
            (["today", "--date", "2024-03-05"], #""dots","view":"today","zoom":[],"date":"2024-03-05""#),
            (["today", "--date", "2024-10-27"], #""dots","view":"today","zoom":[],"date":"2024-10-27""#),
            (["week", "--date", "2024-W10"], #""dots","view":"week","zoom":[],"date":"2024-W10""#),
            (["week", "--zoom", "out", "--date", "2024"], #""dots","view":"week","zoom":["out"],"date":"2024""#),
            (
                ["month", "--scale", "weeks", "--date", "2024-03"],
                #""dots","view":"month","zoom":[],"scale":"weeks","date":"2024-03""#
            ),
            (["year", "--date", "2024"], #""dots","view":"year","zoom":[],"date":"2024""#),
            (["show", "2024"], #""dots-show","bucket":"2024""#),
            (["show", "2024-03", "--limit", "2"], #""dots-show","bucket":"2024-03","limit":2"#),
            (["show", id], #""dots-capture","id":"\#(id)""#),
            (["search", "chapters"], #""dots-search","words":"chapters","limit":20"#),
        ]
        for (words, request) in asked {
            let reply = try ask("{\"command\":\(request)}")
            #expect(try reply["answer"] == steward.json(["dots"] + words), "\(words): \(reply)")
        }
        try await steward.stop()
    }

    @Test("Every command sees what the agent adds and deletes")
    func changes() async throws {
        try await steward.start()
        let request = #"""
            {"command":"dots-add","kind":{"note":{"text":"Two herons"}},"moment":"this week","time":"2024-03-05 09:30","attached":[]}
            """#
        let added = try ask(request)["answer"]
        let id = added["id"].text
        #expect(added["sentence"].text == "this week: Two herons" && added["time"].text == "2024-03-05T08:30:00Z")
        #expect(try steward.json(["dots", "show", id]) == added)
        let deleted = try ask("{\"command\":\"dots-delete\",\"ids\":[\"\(id)\",\"\(id.prefix(8))\"]}")
        #expect(deleted["answer"].items == [added])
        #expect(try steward.json(["dots", "show", "2024"])["captures"].items == [])
        try await steward.stop()
    }

    @Test("An invalid request gets the same message as from the command")
    func refusals() async throws {
        try await steward.start()
        let asked: [(words: [String], request: String)] = [
            (["show", "noon"], #""dots-show","bucket":"noon""#),
            (["show", "00000000"], #""dots-capture","id":"00000000""#),
            (["week", "--scale", "hours"], #""dots","view":"week","zoom":[],"scale":"hours""#),
            (["today", "--zoom", "in"], #""dots","view":"today","zoom":["in"]"#),
            (["add", "note", " "], #""dots-add","kind":{"note":{"text":" "}},"attached":[]"#),
            (["add", "link", "rain"], #""dots-add","kind":{"link":{"address":"rain"}},"attached":[]"#),
            (["add", "dot", "--time", "25:00"], #""dots-add","kind":{"dot":{}},"time":"25:00","attached":[]"#),
            (["delete", "--yes", "chapters"], #""dots-delete","ids":["chapters"]"#),
        ]
        for (words, request) in asked {
            let (reply, result) = (try ask("{\"command\":\(request)}"), try steward.run(["dots"] + words))
            #expect(result.status == 64 && reply["kind"].text == "usage", "\(words): \(reply)")
            #expect(result.errors == "steward: \(reply["problem"].text)\n")
        }
        try await steward.stop()
    }

    @Test("An answer of the agent holds at most 500 captures, and says how many there are")
    func bounded() async throws {
        try await steward.start()
        let add = #"{"command":"dots-add","kind":{"note":{"text":"wren"}},"time":"2024-03-05 09:30","attached":[]}"#
        for _ in 0..<501 { _ = try ask(add) }
        for limit in ["", #","limit":501"#] {
            let shown = try ask("{\"command\":\"dots-show\",\"bucket\":\"2024\"\(limit)}")["answer"]
            #expect(shown["captures"].items.count == 500 && shown["count"].number == 501)
        }
        #expect(try ask(#"{"command":"dots-search","words":"wren","limit":501}"#)["answer"].items.count == 500)
        #expect(try steward.json(["dots", "show", "2024"])["captures"].items.count == 501)
        for request in [#""dots-show","bucket":"2024","limit":0"#, #""dots-search","words":"wren","limit":-1"#] {
            let reply = try ask("{\"command\":\(request)}")
            #expect(reply["problem"].text.contains("`limit` must be 1 or more") && reply["kind"].text == "usage")
        }
        try await steward.stop()
    }

    @Test("The agent reads no file for a client: it may have more permissions than the client")
    func files() async throws {
        try steward.home.write("song.txt", "la la")
        try await steward.start()
        let path = home.appending("song.txt").text
        for kind in [#"{"dot":{}},"attached":["\#(path)"]"#, #"{"photo":{"pictures":["\#(path)"]}},"attached":[]"#] {
            let reply = try ask(#"{"command":"dots-add","kind":\#(kind)}"#)
            #expect(reply["problem"].text.contains("the agent does not add files") && reply["kind"].text == "usage")
        }
        #expect(try steward.json(["dots", "show", "year"])["captures"].items == [])
        try await steward.stop()
    }
}
