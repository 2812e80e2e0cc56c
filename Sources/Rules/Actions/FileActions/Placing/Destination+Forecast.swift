import Platform
import Rules

extension Destination {
    /// What happens if the name is taken, for forecasts.
    package var ifTaken: Forecast.IfTaken {
        switch exists {
        case .rename: .takesAnotherName
        case .skip: .leaves
        case .same: .leavesSame
        case .replace: .replaces
        }
    }

    /// A new file appears there.
    package func making(_ content: ContentHash) -> Forecast {
        Forecast(skips ? [] : [.makes(target, ifTaken, content)])
    }
}

extension FilePlacement {
    /// The file moves there.
    package var moving: Forecast {
        Forecast(destination.skips ? [] : [.moves(to: destination.target, destination.ifTaken)])
    }

    /// A copy of its content appears there.
    package var copying: Forecast { destination.making(hash) }
}
