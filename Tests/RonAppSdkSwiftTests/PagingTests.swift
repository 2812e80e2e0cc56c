import Foundation
import RonAppSdkSwift
import Synchronization
import TestSupport
import Testing

private func client(_ server: ScriptedServer) throws -> RonClient {
    try RonClient(config: RonConfig(baseUrl: URL(string: server.url), allowInsecureHttp: true))
}

/// A value of a request's query.
private func query(_ request: ScriptedServer.Request, _ name: String) -> String? {
    URLComponents(string: request.path)?.queryItems?.first { $0.name == name }?.value
}

private func page(_ items: [Int], _ next: String? = nil) -> ScriptedServer.Answer {
    .reply(200, #"{"items":\#(items)\#(next.map { ",\"next_page_token\":\"\($0)\"" } ?? "")}"#)
}

/// All items until the list ends or throws.
private func all(_ list: PagedItems<Int>) async -> (items: [Int], problem: RonProblem?) {
    var items: [Int] = []
    do {
        for try await item in list { items.append(item) }
        return (items, nil)
    } catch {
        return (items, error as? RonProblem)
    }
}

@Suite("Paged lists") struct PagingTests {
    @Test(
        "A page is read under every name of its token; a missing, null or empty token is the end",
        arguments: [
            (#"{"items":[1],"next_page_token":"a"}"#, "a"), (#"{"items":[1],"nextPageToken":"a"}"#, "a"),
            (#"{"items":[1],"next_cursor":"a"}"#, "a"), (#"{"items":[1],"nextCursor":"a","total":9}"#, "a"),
            (#"{"items":[1],"next_page_token":null,"next_cursor":"a"}"#, "a"), (#"{"items":[1]}"#, nil),
            (#"{"items":[1],"next_page_token":null}"#, nil), (#"{"items":[1],"next_page_token":""}"#, nil),
        ] as [(String, String?)])
    func onePage(_ json: String, _ token: String?) throws {
        let page = try JSONDecoder().decode(Page<Int>.self, from: Data(json.utf8))
        #expect(page == Page(items: [1], nextPageToken: token))
    }

    @Test(
        "Anything but a page is rejected",
        arguments: ["{}", #"{"items":1}"#, #"{"items":[],"next_page_token":5}"#, "[]", "null"])
    func noPage(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Page<Int>.self, from: Data(json.utf8)) }
    }

    @Test("A page is written with the schema's name; the last one has no token")
    func written() throws {
        func text(_ page: Page<Int>) throws -> String {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(page), as: UTF8.self)
        }
        #expect(try text(Page(items: [1, 2], nextPageToken: "t")) == #"{"items":[1,2],"next_page_token":"t"}"#)
        #expect(try text(Page(items: [], nextPageToken: "")) == #"{"items":[]}"#)
    }

    @Test("A page is requested by token and size, in the schema's names and in Python's")
    func asked() async throws {
        let server = try ScriptedServer(page([1], "n"))
        let client = try client(server)
        let response: AppResponse<Page<Int>> = await client.page(
            "/list", token: "a&b=c", query: ["q": "x"], paging: PageQuery(pageSize: 5))
        #expect(response.data == Page(items: [1], nextPageToken: "n"))
        let request = try #require(server.requests.last)
        #expect(query(request, "page_token") == "a&b=c")
        #expect(query(request, "page_size") == "5")
        #expect(query(request, "q") == "x")
        _ = await client.page("/list", as: Int.self, token: "t", paging: .cursors(pageSize: 7))
        let other = try #require(server.requests.last)
        #expect(query(other, "cursor") == "t")
        #expect(query(other, "limit") == "7")
        #expect(query(other, "page_size") == "7")
        #expect(query(other, "page_token") == nil)
        try await client.close()
    }

    @Test("All items come in order, and a page is requested when needed")
    func lazily() async throws {
        let server = try ScriptedServer { request in
            switch query(request, "page_token") {
            case nil: page([1, 2], "a")
            case "a": page([], "b")
            case "b": page([3], "c")
            default: page([4])
            }
        }
        let client = try client(server)
        let list = client.listAll("/list", as: Int.self)
        #expect(server.requests.isEmpty)
        var iterator = list.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        #expect(try await iterator.next() == 2)
        #expect(server.requests.count == 1)
        #expect(try await iterator.next() == 3)
        #expect(server.requests.count == 3)
        #expect(try await iterator.next() == 4)
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
        #expect(server.requests.count == 4)
        // And again from the beginning.
        #expect(await all(list).items == [1, 2, 3, 4])
        try await client.close()
    }

    @Test("If a page fails, the server's problem is thrown after the items before it")
    func failing() async throws {
        let server = try ScriptedServer { request in
            query(request, "page_token") == nil
                ? page([1], "a") : .reply(503, #"{"code":"too_busy","message":"m","retryable":true}"#)
        }
        let client = try client(server)
        var iterator = client.listAll("/list", as: Int.self).makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        let error = await #expect(throws: RonProblem.self) { try await iterator.next() }
        #expect(error?.code == "too_busy")
        #expect(try await iterator.next() == nil)
        #expect(server.requests.count == 2)
        try await client.close()
    }

    @Test("A list stops at its limit, and says so instead of ending")
    func bounded() async throws {
        let number = Mutex(0)
        let server = try ScriptedServer { _ in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return page([next, next], "t\(next)")
        }
        let client = try client(server)
        let pages = await all(client.listAll("/list", as: Int.self, paging: PageQuery(maxPages: 3)))
        #expect(pages.items.count == 6)
        #expect(pages.problem?.code == "local_too_many_pages")
        #expect(server.requests.count == 3)
        let items = await all(client.listAll("/list", as: Int.self, paging: PageQuery(maxItems: 5)))
        #expect(items.items.count == 5)
        #expect(items.problem?.code == "local_too_many_items")
        #expect(server.requests.count == 6)
        var first: [Int] = []
        for try await item in client.listAll("/list", as: Int.self).prefix(3) { first.append(item) }
        #expect(first.count == 3)
        try await client.close()
    }

    @Test("A list that ends exactly at its limit is complete")
    func atTheLimit() async throws {
        let server = try ScriptedServer { request in
            query(request, "page_token") == nil ? page([1], "a") : page([2])
        }
        let client = try client(server)
        let (items, problem) = await all(
            client.listAll("/list", as: Int.self, paging: PageQuery(maxPages: 2, maxItems: 2)))
        #expect(items == [1, 2])
        #expect(problem == nil)
        try await client.close()
    }

    @Test("Bad tokens end with an error, never in an endless loop")
    func lyingTokens() async throws {
        var generator = SeededGenerator(for: "lyingTokens")
        let next = Mutex<[String]>([])
        let server = try ScriptedServer { request in
            let place = query(request, "page_token").flatMap { Int($0) } ?? 0
            let token = next.withLock { $0[place] }
            return page([place], token.isEmpty ? nil : token)
        }
        let client = try client(server)
        for _ in 0..<40 {
            let count = Int.random(in: 1...8, using: &generator)
            let tokens = (0..<count).map { _ in
                Int.random(in: 0...6, using: &generator) == 0
                    ? "" : String(Int.random(in: 0..<count, using: &generator))
            }
            next.withLock { $0 = tokens }
            var expected: [Int] = []
            var seen: Set<String> = []
            var place: Int? = 0
            var isCircle = false
            while let now = place {
                expected.append(now)
                isCircle = !tokens[now].isEmpty && !seen.insert(tokens[now]).inserted
                place = isCircle ? nil : Int(tokens[now])
            }
            let (items, problem) = await all(client.listAll("/list", as: Int.self))
            #expect(items == expected, "\(tokens)")
            #expect(problem?.code == (isCircle ? "local_page_token_repeated" : nil), "\(tokens)")
        }
        try await client.close()
    }

    @Test("A token that a URL cannot contain is rejected")
    func longToken() async throws {
        let server = try ScriptedServer(page([1], String(repeating: "a", count: 8_193)))
        let client = try client(server)
        let (items, problem) = await all(client.listAll("/list", as: Int.self))
        #expect(items.isEmpty)
        #expect(problem?.code == "local_page_token_too_long")
        try await client.close()
    }

    @Test("A cancelled task gets CancellationError")
    func cancelled() async throws {
        let server = try ScriptedServer(ScriptedServer.Answer(bytes: [], ending: .held))
        let client = try client(server)
        let reader = Task { for try await _ in client.listAll("/list", as: Int.self) {} }
        try await waitUntil("it has asked") { server.requests.count == 1 }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await waitUntil("the server sees it") { server.abandoned == 1 }
        try await client.close()
    }
}
