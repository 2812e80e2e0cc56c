/// How far a draft has come; it changes what an advisor speaks about (seed 001, stage 2).
public enum DraftStage: String, Codable, Sendable, CaseIterable {
    case early, middle, late
}
