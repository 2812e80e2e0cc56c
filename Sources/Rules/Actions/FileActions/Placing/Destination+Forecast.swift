import Platform
import Rules

extension Destination {
    /// What is done where the name is taken, as forecasts say it.
    package var ifTaken: Forecast.IfTaken {
        switch exists {
        case .rename: .takesAnotherName
        case .skip: .leaves
        case .same: .leavesSame
        case .replace: .replaces
        }
    }

    /// A file that is made there.
    package func making(_ content: ContentHash) -> Forecast {
        Forecast(skips ? [] : [.makes(target, ifTaken, content)])
    }
}

extension FilePlacement {
    /// The file goes there.
    package var moving: Forecast {
        Forecast(destination.skips ? [] : [.moves(to: destination.target, destination.ifTaken)])
    }

    /// Another of its content comes to lie there.
    package var copying: Forecast { destination.making(hash) }
}
