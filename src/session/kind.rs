//! The kinds of entries and messages.

/// The entry types of pi, and the two cases for what is none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum EntryType {
    /// A message.
    Message,
    /// The model changed.
    ModelChange,
    /// The thinking level changed.
    ThinkingLevelChange,
    /// Tokens spent outside of messages.
    Usage,
    /// A summary in place of older history.
    Compaction,
    /// A summary of a branch that was left.
    BranchSummary,
    /// State of an extension, never sent to a model.
    Custom,
    /// A message of an extension.
    CustomMessage,
    /// Hides or replaces what an older entry contributes.
    ContextEdit,
    /// A bookmark on another entry.
    Label,
    /// The display name.
    SessionInfo,
    /// A header; no part of the tree.
    Session,
    /// A type this version does not know.
    Unknown,
    /// No type, or one that is no string.
    Untyped,
}

const TYPES: [(&str, EntryType); 12] = [
    ("message", EntryType::Message),
    ("model_change", EntryType::ModelChange),
    ("thinking_level_change", EntryType::ThinkingLevelChange),
    ("usage", EntryType::Usage),
    ("compaction", EntryType::Compaction),
    ("branch_summary", EntryType::BranchSummary),
    ("custom", EntryType::Custom),
    ("custom_message", EntryType::CustomMessage),
    ("context_edit", EntryType::ContextEdit),
    ("label", EntryType::Label),
    ("session_info", EntryType::SessionInfo),
    ("session", EntryType::Session),
];

impl EntryType {
    /// The type of that name.
    pub fn named(name: &[u8]) -> Self {
        TYPES.iter().find(|(known, _)| known.as_bytes() == name).map_or(Self::Unknown, |(_, kind)| *kind)
    }

    /// The name of a known type.
    pub fn name(self) -> Option<&'static str> {
        TYPES.iter().find(|(_, kind)| *kind == self).map(|(name, _)| *name)
    }
}

/// The roles of messages, and the two cases for what is none of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum Role {
    /// Instructions and tools for the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    ToolResult,
    /// A shell command of the user.
    BashExecution,
    /// A message of an extension.
    Custom,
    /// Made from a branch summary entry, never stored.
    BranchSummary,
    /// Made from a compaction entry, never stored.
    CompactionSummary,
    /// A role this version does not know.
    Unknown,
    /// No message, or one without a role.
    None,
}

const ROLES: [(&str, Role); 8] = [
    ("system", Role::System),
    ("user", Role::User),
    ("assistant", Role::Assistant),
    ("toolResult", Role::ToolResult),
    ("bashExecution", Role::BashExecution),
    ("custom", Role::Custom),
    ("branchSummary", Role::BranchSummary),
    ("compactionSummary", Role::CompactionSummary),
];

impl Role {
    /// The role of that name.
    pub fn named(name: &[u8]) -> Self {
        ROLES.iter().find(|(known, _)| known.as_bytes() == name).map_or(Self::Unknown, |(_, role)| *role)
    }

    /// The name of a known role.
    pub fn name(self) -> Option<&'static str> {
        ROLES.iter().find(|(_, role)| *role == self).map(|(name, _)| *name)
    }
}
