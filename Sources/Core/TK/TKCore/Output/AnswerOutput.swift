import Platform

/// An advisor's answer, as `tk ask` prints it.
package enum AnswerOutput {
    /// - Parameter isQuiet: only the answer, without the advisor's name.
    package static func text(
        _ answer: QuestionAnswer, _ setting: ReviewSetting, _ style: TerminalStyle, isQuiet: Bool
    ) -> String {
        let text = Printable.text(answer.text)
        let body = text.hasSuffix("\n") ? text : text + "\n"
        return isQuiet ? body : heading(answer.advisorID, setting, style) + body
    }

    /// The heading above the answer: the advisor's name.
    package static func heading(_ advisorID: String, _ setting: ReviewSetting, _ style: TerminalStyle) -> String {
        let role = setting.advisors.first { $0.id == advisorID }
        return style.coloured(Printable.line(setting.name(of: advisorID)), role?.color ?? "") + ":\n\n"
    }

    /// - Parameter turns: questions of this conversation, including this one.
    package static func json(
        _ question: String, _ answer: QuestionAnswer, _ setting: ReviewSetting, turns: Int
    ) -> String {
        CatalogueOutput.document([
            "question": .string(question), "answer": .string(answer.text),
            "advisor_id": .string(answer.advisorID), "advisor_name": .string(setting.name(of: answer.advisorID)),
            "partial": .bool(answer.isPartial), "turns": .integer(turns),
            "metadata": [
                "story_type": .optional(setting.storyType?.id), "stage": .optional(setting.stage?.rawValue),
                "provider": .string(answer.call.provider), "model": .string(answer.call.model),
                "usage": SuggestionJSON.usage([answer.call], setting), "notices": .strings(answer.notices),
            ],
        ])
    }
}
