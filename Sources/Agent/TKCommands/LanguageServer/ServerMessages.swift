import Platform

/// An error as the reply to a request.
struct ReplyError: Error {
    let code: Int
    let message: String

    static func invalid(_ message: String) -> ReplyError { ReplyError(code: -32602, message: message) }
    static func unknown(_ method: String) -> ReplyError {
        ReplyError(code: -32601, message: "`\(method)` is not supported")
    }
    /// The request was valid, and failed.
    static func failed(_ message: String) -> ReplyError { ReplyError(code: -32803, message: message) }
    static let notInitialized = ReplyError(code: -32002, message: "send `initialize` first")
    static let shutDown = ReplyError(code: -32600, message: "the server has been shut down")
    static let cancelled = ReplyError(code: -32800, message: "cancelled")

    var json: JSON { ["code": .integer(code), "message": .string(message)] }
}

extension JSON {
    /// A member of an object; nil for another value.
    subscript(_ name: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    var integer: Int? {
        guard case .integer(let value) = self else { return nil }
        return value
    }

    var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    /// An array's elements; empty for another value.
    var elements: [JSON] {
        guard case .array(let elements) = self else { return [] }
        return elements
    }
}

/// What the client supports and wants, from `initialize`.
struct ClientAbilities: Sendable {
    var encoding = PositionEncoding.utf16
    var showsProgress = false
    var linksRules = false
    var showsDocuments = false
    var hasConfiguration = false
    var tellsOfConfiguration = false
    var watchesFiles = false
    /// Whether the client pulls diagnostics, and can be told to do so.
    var pullsDiagnostics = false
    var refreshesLenses = false

    init() {}

    init(_ json: JSON?) {
        let (general, window, workspace) = (json?["general"], json?["window"], json?["workspace"])
        let encodings = general?["positionEncodings"]?.elements.compactMap(\.text) ?? []
        if encodings.contains(PositionEncoding.utf8.rawValue) { encoding = .utf8 }
        let diagnostics = json?["textDocument"]?["publishDiagnostics"]
        linksRules = diagnostics?["codeDescriptionSupport"]?.bool ?? false
        showsProgress = window?["workDoneProgress"]?.bool ?? false
        showsDocuments = window?["showDocument"]?["support"]?.bool ?? false
        hasConfiguration = workspace?["configuration"]?.bool ?? false
        tellsOfConfiguration = workspace?["didChangeConfiguration"]?["dynamicRegistration"]?.bool ?? false
        watchesFiles = workspace?["didChangeWatchedFiles"]?["dynamicRegistration"]?.bool ?? false
        pullsDiagnostics =
            json?["textDocument"]?["diagnostic"] != nil
            && workspace?["diagnostics"]?["refreshSupport"]?.bool ?? false
        refreshesLenses = workspace?["codeLens"]?["refreshSupport"]?.bool ?? false
    }
}
