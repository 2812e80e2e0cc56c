import Foundation
import GRDB
import OwnFiles
import Platform
import Synchronization
import TKCore
import TestSupport
import Testing

@Suite("Usage and cost")
struct UsageTests {
    private let folder: TemporaryFolder
    private let prices: ModelTable
    private var path: BytePath { folder.path.appending("usage.sqlite") }

    init() throws {
        folder = try TemporaryFolder()
        prices = try ModelTable.load(TKResources.locate())
    }

    private static let noon = Timestamp(seconds: 1_795_262_400)  // 2026-11-21T12:00:00Z

    private func open(
        budget: Cost? = nil, zone: String = "UTC", process: String? = nil,
        clock: @escaping @Sendable () -> Timestamp = { noon }
    ) async throws -> UsageLedger {
        let zone = try #require(Zone(identifier: zone))
        return try await UsageLedger.open(
            path, prices: prices, budget: budget, timeZone: zone, process: process, clock: clock
        ).ledger
    }

    private func call(_ ledger: UsageLedger, dollars: Double, model: String = "claude-sonnet-4-6") async throws {
        let (id, _) = try await ledger.begin(
            provider: "anthropic", model: model, purpose: "suggestions", estimate: Cost(dollars: dollars))
        // Sonnet 4.6 costs 3 dollars per million input tokens.
        try await ledger.finish(
            id, provider: "anthropic", model: model, usage: LLMUsage(inputTokens: Int((dollars / 3 * 1e6).rounded())))
    }

    @Test("Prices: input, output, cache read and write, and higher prices for long calls")
    func perMillion() throws {
        let usage = LLMUsage(
            inputTokens: 1_000_000, cacheReadTokens: 1_000_000, cacheWriteTokens: 1_000_000, outputTokens: 1_000_000)
        #expect(
            prices.cost(provider: "anthropic", model: "claude-sonnet-4-6", usage) == Cost(dollars: 3 + 0.3 + 3.75 + 15))
        let short = LLMUsage(inputTokens: 272_000, outputTokens: 1000)
        let long = LLMUsage(inputTokens: 272_001, outputTokens: 1000)
        #expect(prices.cost(provider: "openai", model: "gpt-6.1-sol", short) == Cost(dollars: 0.544 + 0.01))
        #expect(prices.cost(provider: "openai", model: "gpt-6.1-sol", long) == Cost(dollars: 1.088_004 + 0.015))
        #expect(prices.cost(provider: "ollama", model: "anything", usage) == .zero)
        #expect(prices.cost(provider: "openai", model: "gpt-unheard-of", usage) == nil)
        #expect(
            prices.cost(provider: "anthropic", model: "claude-haiku-5-5", LLMUsage(inputTokens: 1))
                == Cost(nanodollars: 100), "the cheapest token is a whole number")
    }

    @Test("A dated snapshot has its model's price; a name with only a common prefix does not")
    func snapshots() {
        #expect(prices.entry(provider: "anthropic", model: "claude-haiku-4-5-20251001")?.id == "claude-haiku-4-5")
        #expect(prices.entry(provider: "openai", model: "gpt-4o-2024-08-06")?.id == "gpt-4o")
        #expect(prices.entry(provider: "anthropic", model: "claude-sonnet-5@20260101")?.id == "claude-sonnet-5")
        #expect(prices.entry(provider: "openai", model: "gpt-4o-audio") == nil)
        #expect(prices.entry(provider: "openai", model: "claude-haiku-4-5") == nil)
        for (provider, model) in prices.defaults { #expect(prices.entry(provider: provider, model: model) != nil) }
    }

    @Test("A user's file replaces entries and adds others; a broken one is reported with its line")
    func userPrices() throws {
        let file = try folder.write(
            "models.json",
            """
            {"defaults": {"openai": "mine"}, "models": [
              {"provider": "openai", "id": "gpt-4o", "input": 1, "output": 2},
              {"provider": "openai", "id": "mine", "input": 0, "output": 0}
            ]}
            """)
        let table = try ModelTable.load(TKResources.locate(), user: file)
        let million = LLMUsage(inputTokens: 1_000_000, cacheReadTokens: 1_000_000)
        #expect(table.cost(provider: "openai", model: "gpt-4o", million) == Cost(dollars: 2))
        #expect(table.models.count == prices.models.count + 1 && table.defaults["openai"] == "mine")
        #expect(table.defaults["anthropic"] == "claude-sonnet-4-6")
        try folder.write("models.json", "{\"models\": [\n  {\"provider\": \"x\", \"id\": \"y\", \"inptu\": 1}]}")
        let fault = #expect(throws: Fault.self) { try ModelTable.load(TKResources.locate(), user: file) }
        #expect(fault?.message.contains("models.json:2:") == true)
        #expect(fault?.message.contains("did you mean `input`?") == true)
        #expect(try ModelTable.load(TKResources.locate(), user: folder.path.appending("none")).models == prices.models)
    }

    @Test("The estimate is words × 1.3, plus a guess of the answer")
    func estimate() {
        #expect(TokenEstimate.tokens("") == 0)
        #expect(TokenEstimate.tokens("one two three four five six seven eight nine ten") == 13)
        #expect(TokenEstimate.tokens("  one\n\ntwo ") == 3)
        #expect(TokenEstimate.tokens("日本語の文章") == 8, "scripts without spaces are not one word")
        let texts = [String(repeating: "word ", count: 1000)]
        #expect(
            prices.estimate(provider: "anthropic", model: "claude-sonnet-4-6", texts: texts, maxOutputTokens: 1000)
                == Cost(dollars: 1300 * 3e-6 + 1000 * 15e-6))
        #expect(prices.estimate(provider: "ollama", model: "x", texts: texts) == .zero)
    }

    @Test(
        "Money is formatted readably",
        arguments: [
            (0, "$0.00"), (0.00001, "<$0.0001"), (0.0123, "$0.0123"), (1.5, "$1.50"), (1234.567, "$1234.57"),
        ])
    func money(_ dollars: Double, _ text: String) {
        #expect(Cost(dollars: dollars).description == text)
    }

    @Test("Calls are summed up by day, month, model, provider and purpose, in the user's time zone")
    func summaries() async throws {
        let time = Mutex(Self.noon)
        let ledger = try await open(zone: "Asia/Tokyo") { time.withLock { $0 } }
        try await call(ledger, dollars: 0.3)
        // 15:00 UTC is midnight in Tokyo; nine days later it is December there.
        time.withLock { $0 = $0.adding(seconds: 3 * 3600) }
        try await call(ledger, dollars: 0.6, model: "claude-sonnet-4-6")
        time.withLock { $0 = $0.adding(seconds: 9 * 86400) }
        let (id, _) = try await ledger.begin(provider: "ollama", model: "gemma", purpose: "council", estimate: .zero)
        try await ledger.finish(
            id, provider: "ollama", model: "gemma", usage: LLMUsage(inputTokens: 7, cacheReadTokens: 3, outputTokens: 5)
        )
        #expect(try await ledger.summary(by: .day).map(\.key) == ["2026-11-21", "2026-11-22", "2026-12-01"])
        let months = try await ledger.summary(by: .month)
        #expect(months.map(\.key) == ["2026-11", "2026-12"] && months.map(\.calls) == [2, 1])
        #expect(months[0].cost == Cost(dollars: 0.9) && months[0].inputTokens == 300_000)
        let models = try await ledger.summary(by: .model)
        #expect(models.map(\.key) == ["anthropic/claude-sonnet-4-6", "ollama/gemma"])
        #expect(models[1].outputTokens == 5 && models[1].cacheReadTokens == 3 && models[1].cost == .zero)
        #expect(try await ledger.summary(by: .provider).map(\.key) == ["anthropic", "ollama"])
        #expect(try await ledger.summary(by: .purpose).map(\.key) == ["council", "suggestions"])
        let later = Date(timeIntervalSince1970: Self.noon.seconds + 86400)
        #expect(try await ledger.summary(by: .month, from: later).map(\.key) == ["2026-12"])
        #expect(try await ledger.summary(by: .month, to: later).map(\.key) == ["2026-11"])
        try await ledger.reset()
        #expect(try await ledger.summary(by: .day).isEmpty)
    }

    @Test("A warning at half the budget, and a stop before it is exceeded")
    func budget() async throws {
        let ledger = try await open(budget: Cost(dollars: 1))
        #expect(try await ledger.budgetState().warning == nil)
        try await call(ledger, dollars: 0.3)
        #expect(try await ledger.allow(estimate: Cost(dollars: 0.1)).warning == nil)
        try await call(ledger, dollars: 0.3)
        let half = try await ledger.allow(estimate: Cost(dollars: 0.4))
        #expect(half.warning?.contains("60 % of the budget of $1.00 for 2026-11") == true)
        let over = await #expect(throws: Fault.self) { try await ledger.allow(estimate: Cost(dollars: 0.41)) }
        #expect(over?.code == "budget" && over?.message.contains("tk config set monthly_budget") == true)
        try await call(ledger, dollars: 0.39)
        #expect(try await ledger.allow(estimate: .zero).spent == Cost(dollars: 0.99), "what costs nothing may go on")
        #expect(try await ledger.allow(estimate: nil).fraction == 0.99)
        try await call(ledger, dollars: 0.009)
        try await call(ledger, dollars: 0.0009)
        await #expect(throws: Fault.self) {
            try await ledger.begin(
                provider: "anthropic", model: "claude-sonnet-4-6", purpose: "x", estimate: Cost(dollars: 0.01))
        }
        #expect(try await ledger.summary(by: .month).first?.calls == 5, "a call that was stopped was not sent")
    }

    @Test("A new month begins with the full budget")
    func nextMonth() async throws {
        let time = Mutex(Self.noon)
        let ledger = try await open(budget: Cost(dollars: 1)) { time.withLock { $0 } }
        try await call(ledger, dollars: 0.9)
        await #expect(throws: Fault.self) { try await ledger.allow(estimate: Cost(dollars: 0.9)) }
        time.withLock { $0 = $0.adding(seconds: 10 * 86400) }
        #expect(try await ledger.allow(estimate: Cost(dollars: 0.9)).spent == .zero)
    }

    @Test("A call sent but never answered is recorded as unknown")
    func unknown() async throws {
        let gone = try await open(process: "former-boot 999999999 1")
        _ = try await gone.begin(
            provider: "anthropic", model: "claude-sonnet-4-6", purpose: "council", estimate: Cost(dollars: 0.4))
        try await gone.close()
        let ledger = try await open(budget: Cost(dollars: 1))
        #expect(try await ledger.budgetState().spent == Cost(dollars: 0.4), "it may have been billed")
        let summary = try #require(try await ledger.summary(by: .month).first)
        #expect(summary.unknownCalls == 1 && summary.unknownCost == Cost(dollars: 0.4) && summary.cost == .zero)
        let (id, _) = try await ledger.begin(provider: "anthropic", model: "m", purpose: "x", estimate: nil)
        try await ledger.fail(id, mayBeBilled: false)
        let (other, _) = try await ledger.begin(provider: "openai", model: "new", purpose: "x", estimate: nil)
        try await ledger.finish(other, provider: "openai", model: "new", usage: LLMUsage(outputTokens: 9))
        let all = try #require(try await ledger.summary(by: .month).first)
        #expect(all.failedCalls == 1 && all.unpricedCalls == 1 && all.calls == 3 && all.outputTokens == 9)
    }

    @Test("Concurrent calls do not exceed the budget together")
    func together() async throws {
        let ledgers = [
            try await open(budget: Cost(dollars: 1)), try await open(budget: Cost(dollars: 1)),
            try await open(budget: Cost(dollars: 1)),
        ]
        let begun = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<30 {
                group.addTask {
                    do {
                        _ = try await ledgers[index % 3].begin(
                            provider: "anthropic", model: "m", purpose: "x", estimate: Cost(dollars: 0.1))
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(begun == 10)
    }

    @Test("A corrupt database is set aside and reported")
    func corrupt() async throws {
        try folder.write("usage.sqlite", String(repeating: "no database ", count: 1000))
        let opened = try await UsageLedger.open(
            path, prices: prices, budget: nil, timeZone: try #require(Zone(identifier: "UTC")))
        #expect(opened.notices.count == 1)
        #expect(try await opened.ledger.summary(by: .day).isEmpty)
        let names = try listDirectory(folder.path).map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names.contains { $0.hasPrefix("usage.sqlite.corrupt-") })
    }

    // MARK: - As the recorder of calls

    private let planned = PlannedCall(
        purpose: .suggestions, advisors: ["editor"], provider: "anthropic", model: "claude-sonnet-4-6", key: "k",
        inputTokens: 30_000, maxOutputTokens: 4096)

    @Test("An answer is billed to whoever gave it; a server's refusal is not billed; a cut call is unknown")
    func recorder() async throws {
        let ledger = try await open()
        let recorder = UsageRecorder(ledger)
        #expect(try await recorder.before(planned) == nil)
        let usage = LLMUsage(inputTokens: 1_000_000)
        try await recorder.after(
            planned, .answered(LLMResponse(text: "", usage: usage, model: "gpt-4o", provider: "openai")))
        _ = try await recorder.before(planned)
        try await recorder.after(planned, .failed(LLMError(.rateLimited, "later")))
        _ = try await recorder.before(planned)
        try await recorder.after(planned, .failed(CancellationError()))
        _ = try await recorder.before(planned)
        let partial = LLMResponse(text: "x", usage: usage, model: "gpt-4o", provider: "openai")
        try await recorder.after(planned, .failed(LLMError(.truncated, "cut", partial: partial)))
        let models = try await ledger.summary(by: .model)
        #expect(models.map(\.key) == ["anthropic/claude-sonnet-4-6", "openai/gpt-4o"])
        #expect(models[0].failedCalls == 1 && models[0].unknownCalls == 1)
        #expect(models[1].cost == Cost(dollars: 5.000_02) && models[1].calls == 2, "with the word that had come")
    }

    @Test("An answer without a count, or cut before its count, still counts towards the budget")
    func uncounted() async throws {
        let ledger = try await open(budget: Cost(dollars: 1))
        let recorder = UsageRecorder(ledger)
        _ = try await recorder.before(planned)
        try await recorder.after(
            planned, .answered(LLMResponse(text: "x", usage: nil, model: planned.model, provider: planned.provider)))
        let guessed = try #require(
            prices.cost(
                provider: planned.provider, model: planned.model,
                LLMUsage(inputTokens: planned.inputTokens, outputTokens: planned.maxOutputTokens)))
        #expect(try await ledger.budgetState().spent == guessed)
        let summary = try #require(try await ledger.summary(by: .month).first)
        #expect(summary.unpricedCalls == 1 && summary.cost == .zero && summary.unknownCost == guessed)
        _ = try await recorder.before(planned)
        let partial = LLMResponse(
            text: String(repeating: "word ", count: 1_000), usage: LLMUsage(inputTokens: 1_000, outputTokens: 1),
            model: planned.model, provider: planned.provider, stopReason: .interrupted)
        try await recorder.after(planned, .failed(LLMError(.truncated, "cut", partial: partial)))
        #expect(try await ledger.summary(by: .model).first?.outputTokens == 1_300)
    }

    @Test("Half the budget is reported with the call that reaches it, and once a month")
    func monthlyWarning() async throws {
        let time = Mutex(Self.noon)
        let warnings = Mutex<[String]>([])
        let ledger = try await open(budget: Cost(dollars: 1)) { time.withLock { $0 } }
        let recorder = UsageRecorder(ledger) { warning in warnings.withLock { $0.append(warning) } }
        func spend() async throws {
            _ = try await recorder.before(planned)
            let usage = LLMUsage(inputTokens: 200_000)
            try await recorder.after(
                planned, .answered(LLMResponse(text: "", usage: usage, model: planned.model, provider: "anthropic")))
        }
        try await spend()
        #expect(warnings.withLock { $0.count } == 1)
        time.withLock { $0 = $0.adding(seconds: 31 * 86400) }
        try await spend()
        #expect(warnings.withLock { $0 }.map { $0.contains("2026-12") } == [false, true])
    }

    @Test("The recorder warns once, and stops a call before it is sent")
    func recorderBudget() async throws {
        // 30,000 input tokens and 4,096 output tokens are estimated at 0.15 dollars.
        let warnings = Mutex<[String]>([])
        let ledger = try await open(budget: Cost(dollars: 0.4))
        let recorder = UsageRecorder(ledger) { warning in warnings.withLock { $0.append(warning) } }
        for _ in 0..<2 { _ = try await recorder.before(planned) }
        #expect(warnings.withLock { $0.count } == 0)
        let stop = await #expect(throws: Fault.self) { try await recorder.before(planned) }
        #expect(stop?.code == "budget")
        let cheap = LLMUsage(inputTokens: 20_000)
        try await recorder.after(
            planned, .answered(LLMResponse(text: "", usage: cheap, model: planned.model, provider: "anthropic")))
        for _ in 0..<2 {
            _ = try await recorder.before(planned)
            try await recorder.after(
                planned, .answered(LLMResponse(text: "", usage: LLMUsage(), model: "m", provider: "ollama")))
        }
        #expect(warnings.withLock { $0.count } == 1)
        #expect(try await ledger.summary(by: .month).first?.calls == 4)
    }
}
