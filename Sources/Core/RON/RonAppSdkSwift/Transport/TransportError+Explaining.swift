import HTTPKit

extension TransportError {
    /// Converts any error of a transport or of its library.
    init(explaining error: any Error) {
        if let error = error as? TransportError {
            self = error
        } else {
            let failure = HTTPFailure(error)
            self.init(Kind(rawValue: failure.kind.rawValue) ?? .other, failure.description)
        }
    }
}
