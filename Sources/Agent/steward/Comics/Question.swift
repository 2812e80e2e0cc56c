import AgentKit
import ArgumentParser
import ComicArchive
import Foundation
import Glibc
import Platform
import TKCommands

/// A question to the user at the terminal.
enum Question {
    /// - Returns: true for `y` and `yes`; false for everything else, including end of input.
    static func ask(_ text: String) -> Bool {
        Output.ask("\(text) [y/N] ")
        let answer = readLine()?.trimmingCharacters(in: .whitespaces).lowercased()
        return answer == "y" || answer == "yes"
    }
}
