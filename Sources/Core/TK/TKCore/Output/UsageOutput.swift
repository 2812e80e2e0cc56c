import Platform

/// Tokens and costs of calls, as `tk usage` prints them.
package enum UsageOutput {
    package static func text(
        _ summary: [UsageSummary], by grouping: UsageGrouping, _ state: BudgetState, _ style: TerminalStyle
    ) -> String {
        var lines: [String] = []
        if summary.isEmpty {
            lines.append("No model has been asked yet.")
        } else {
            var rows = [[grouping.rawValue.uppercased(), "CALLS", "TOKENS IN", "TOKENS OUT", "COST"]]
            for entry in summary {
                let input = entry.inputTokens + entry.cacheReadTokens + entry.cacheWriteTokens
                rows.append([
                    Printable.line(entry.key), "\(entry.calls)", "\(input)", "\(entry.outputTokens)",
                    entry.cost.description + remarks(entry),
                ])
            }
            lines = TerminalStyle.table(rows)
            lines[0] = style.bold(lines[0])
        }
        lines.append("")
        lines.append(budget(state))
        return lines.joined(separator: "\n") + "\n"
    }

    private static func remarks(_ entry: UsageSummary) -> String {
        var remarks: [String] = []
        if entry.failedCalls > 0 { remarks.append("\(entry.failedCalls) failed") }
        if entry.unpricedCalls > 0 { remarks.append("\(entry.unpricedCalls) without a known price") }
        if entry.unknownCalls > 0 { remarks.append("\(entry.unknownCalls) with unknown outcome") }
        if entry.unpricedCalls + entry.unknownCalls > 0 {
            remarks.append("about \(entry.unknownCost) more by estimate")
        }
        return remarks.isEmpty ? "" : "  (\(remarks.joined(separator: ", ")))"
    }

    private static func budget(_ state: BudgetState) -> String {
        guard let budget = state.budget else {
            return "\(state.spent) in \(state.month); no budget (`tk config set monthly_budget 5`)"
        }
        let share = Int(((state.fraction ?? 0) * 100).rounded(.down))
        return "\(state.spent) of \(budget) in \(state.month) (\(share) %)"
    }

    package static func json(_ summary: [UsageSummary], by grouping: UsageGrouping, _ state: BudgetState) -> String {
        CatalogueOutput.document([
            "by": .string(grouping.rawValue),
            "usage": .list(summary) { entry in
                [
                    "key": .string(entry.key), "calls": .integer(entry.calls),
                    "failed_calls": .integer(entry.failedCalls), "unknown_calls": .integer(entry.unknownCalls),
                    "unpriced_calls": .integer(entry.unpricedCalls), "input_tokens": .integer(entry.inputTokens),
                    "cache_read_tokens": .integer(entry.cacheReadTokens),
                    "cache_write_tokens": .integer(entry.cacheWriteTokens),
                    "output_tokens": .integer(entry.outputTokens), "cost_usd": .dollars(entry.cost),
                    "unknown_cost_usd": .dollars(entry.unknownCost),
                ]
            },
            "budget": [
                "month": .string(state.month), "spent_usd": .dollars(state.spent),
                "budget_usd": .dollars(state.budget), "fraction": state.fraction.map(JSON.number) ?? .null,
            ],
        ])
    }
}
