/// What the person meant by the moment: a label and a filter, never a place in time
/// (docs/design/dots.md, "Captures").
///
/// It neither moves a timestamp nor chooses a bucket: buckets follow from timestamps alone.
public enum MomentType: Int16, Codable, CaseIterable, Sendable {
    /// "now"
    case now = 0
    /// "today"
    case today = 1
    /// "this week"
    case thisWeek = 2

    /// From a stored value; an unknown one, as a newer version may have written, reads as ``now``.
    public init(stored raw: Int16) { self = MomentType(rawValue: raw) ?? .now }

    /// The word shown to people.
    public var label: String {
        switch self {
        case .now: "now"
        case .today: "today"
        case .thisWeek: "this week"
        }
    }

    /// The one that a tap goes on to: now, today, this week, now.
    public var next: MomentType {
        switch self {
        case .now: .today
        case .today: .thisWeek
        case .thisWeek: .now
        }
    }
}

/// What was captured (docs/design/dots.md, "Captures").
public enum ExperienceType: Int16, Codable, CaseIterable, Sendable {
    /// A text.
    case note = 0
    /// A picture, kept as a file.
    case photo = 1
    /// An address on the web.
    case link = 2
    /// Nothing but the moment itself.
    case dot = 3

    /// From a stored value; an unknown one reads as ``dot``.
    public init(stored raw: Int16) { self = ExperienceType(rawValue: raw) ?? .dot }

    /// The word shown to people.
    public var label: String {
        switch self {
        case .note: "note"
        case .photo: "photo"
        case .link: "link"
        case .dot: "dot"
        }
    }

    /// The one that a tap goes on to: note, photo, link, dot, note.
    public var next: ExperienceType {
        switch self {
        case .note: .photo
        case .photo: .link
        case .link: .dot
        case .dot: .note
        }
    }
}

/// What an attachment is.
public enum AttachmentType: Int16, Codable, CaseIterable, Sendable {
    /// A picture.
    case photo = 0
    /// What is no picture.
    case file = 1

    /// From a stored value; an unknown one reads as ``photo``.
    public init(stored raw: Int16) { self = AttachmentType(rawValue: raw) ?? .photo }
}

/// How much time one dot of a grid stands for (docs/design/dots.md, "Levels").
public enum GridScale: Int, Codable, CaseIterable, Sendable {
    /// One dot an hour.
    case hours = 0
    /// One dot a day.
    case days = 1
    /// One dot a week.
    case weeks = 2
    /// One dot a month.
    case months = 3

    /// The word shown to people.
    public var label: String {
        switch self {
        case .hours: "Hours"
        case .days: "Days"
        case .weeks: "Weeks"
        case .months: "Months"
        }
    }
}

/// Which of the two grids is looked at (docs/design/dots.md, "Levels").
public enum VisualizeViewType: String, Codable, CaseIterable, Sendable {
    /// The grid that begins with the hours of a day.
    case today
    /// The grid that begins with the days of a week.
    case week
}
