/// The moment that the person chose: a label and a filter, not a point in time (docs/design/dots.md, "Captures").
///
/// It neither moves a timestamp nor selects a bucket: buckets follow from timestamps alone.
public enum MomentType: Int16, Codable, CaseIterable, Sendable {
    /// "now"
    case now = 0
    /// "today"
    case today = 1
    /// "this week"
    case thisWeek = 2

    /// From a stored value; an unknown one, perhaps from a newer version, reads as ``now``.
    public init(stored raw: Int16) { self = MomentType(rawValue: raw) ?? .now }

    /// The word for display.
    public var label: String {
        switch self {
        case .now: "now"
        case .today: "today"
        case .thisWeek: "this week"
        }
    }

    /// The next one on a tap: now, today, this week, now.
    public var next: MomentType {
        switch self {
        case .now: .today
        case .today: .thisWeek
        case .thisWeek: .now
        }
    }
}

/// The kind of capture (docs/design/dots.md, "Captures").
public enum ExperienceType: Int16, Codable, CaseIterable, Sendable {
    /// A text.
    case note = 0
    /// A picture, stored as a file.
    case photo = 1
    /// A web address.
    case link = 2
    /// Only the moment itself.
    case dot = 3

    /// From a stored value; an unknown one reads as ``dot``.
    public init(stored raw: Int16) { self = ExperienceType(rawValue: raw) ?? .dot }

    /// The word for display.
    public var label: String {
        switch self {
        case .note: "note"
        case .photo: "photo"
        case .link: "link"
        case .dot: "dot"
        }
    }

    /// The next one on a tap: note, photo, link, dot, note.
    public var next: ExperienceType {
        switch self {
        case .note: .photo
        case .photo: .link
        case .link: .dot
        case .dot: .note
        }
    }
}

/// The kind of attachment.
public enum AttachmentType: Int16, Codable, CaseIterable, Sendable {
    /// A picture.
    case photo = 0
    /// Any other file.
    case file = 1

    /// From a stored value; an unknown one reads as ``photo``.
    public init(stored raw: Int16) { self = AttachmentType(rawValue: raw) ?? .photo }
}

/// The time that one dot of a grid represents (docs/design/dots.md, "Levels").
public enum GridScale: Int, Codable, CaseIterable, Sendable {
    /// One dot per hour.
    case hours = 0
    /// One dot per day.
    case days = 1
    /// One dot per week.
    case weeks = 2
    /// One dot per month.
    case months = 3

    /// The word for display.
    public var label: String {
        switch self {
        case .hours: "Hours"
        case .days: "Days"
        case .weeks: "Weeks"
        case .months: "Months"
        }
    }
}

/// The two views (docs/design/dots.md, "Levels").
public enum VisualizeViewType: String, Codable, CaseIterable, Sendable {
    /// The view that begins with the hours of a day.
    case today
    /// The view that begins with the days of a week.
    case week
}
