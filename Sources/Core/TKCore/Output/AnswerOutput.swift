/// An advisor's answer, as `tk ask` prints it.
package enum AnswerOutput {
    /// - Parameter isQuiet: the answer alone, without who gave it.
    package static func text(
        _ answer: QuestionAnswer, _ setting: ReviewSetting, _ style: TerminalStyle, isQuiet: Bool
    ) -> String {
        let text = Printable.text(answer.text)
        let body = text.hasSuffix("\n") ? text : text + "\n"
        if isQuiet { return body }
        let role = setting.advisors.first { $0.id == answer.advisorID }
        return style.coloured(Printable.line(setting.name(of: answer.advisorID)), role?.color ?? "") + ":\n\n" + body
    }

    /// - Parameter turns: questions of this conversation, this one included.
    package static func json(
        _ question: String, _ answer: QuestionAnswer, _ setting: ReviewSetting, turns: Int
    ) -> String {
        CatalogueOutput.document([
            ("question", .string(question)), ("answer", .string(answer.text)),
            ("advisor_id", .string(answer.advisorID)), ("advisor_name", .string(setting.name(of: answer.advisorID))),
            ("partial", .bool(answer.isPartial)), ("turns", .integer(turns)),
            (
                "metadata",
                .object([
                    ("story_type", .optional(setting.storyType?.id)), ("stage", .optional(setting.stage?.rawValue)),
                    ("provider", .string(answer.call.provider)), ("model", .string(answer.call.model)),
                    ("usage", SuggestionJSON.usage([answer.call], setting)), ("notices", .strings(answer.notices)),
                ])
            ),
        ])
    }
}
