//! What a session holds and what it cost, over all its branches.

use std::io;

use serde::Serialize;

use super::kind::{EntryType, Role};
use super::script_json::Value;
use super::tree::{Index, Tree};

/// Where the usage of tools and summaries is counted.
const TOOLS: &str = "Tools/summaries";

/// Counts, tokens and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Messages of the user.
    pub user_messages: usize,
    /// Messages of the model.
    pub assistant_messages: usize,
    /// Tool calls in them.
    pub tool_calls: usize,
    /// Tool results.
    pub tool_results: usize,
    /// Messages of every role.
    pub total_messages: usize,
    /// Tokens of messages, tools, summaries and usage entries.
    pub tokens: Tokens,
    /// Their cost.
    pub cost: f64,
}

/// Tokens by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Sent and not cached.
    pub input: f64,
    /// Generated.
    pub output: f64,
    /// Read from a provider's cache.
    pub cache_read: f64,
    /// Written to it.
    pub cache_write: f64,
    /// All of them.
    pub total: f64,
}

/// The share of one model, or of tools and summaries.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// `provider/model`, or what tools and summaries are counted under.
    pub key: String,
    /// Its cost.
    pub cost: f64,
    /// Its tokens.
    pub tokens: f64,
}

impl Tree {
    /// Counts everything once.
    pub fn stats(&self) -> io::Result<Stats> {
        let mut stats = Stats::default();
        self.each_usage(|tree, index, root, usage| {
            if tree.entry_type(index) == EntryType::Message {
                stats.total_messages += 1;
                match tree.role(index) {
                    Role::User => stats.user_messages += 1,
                    Role::Assistant => {
                        stats.assistant_messages += 1;
                        let content = root.get("message").and_then(|message| message.get("content"));
                        let blocks = content.into_iter().flat_map(Value::elements);
                        stats.tool_calls += blocks.filter(is_tool_call).count();
                    }
                    Role::ToolResult => stats.tool_results += 1,
                    _ => {}
                }
            }
            if let Some((_, usage)) = usage {
                let tokens = Tokens::of(usage);
                let sum = &mut stats.tokens;
                sum.input += tokens.input;
                sum.output += tokens.output;
                sum.cache_read += tokens.cache_read;
                sum.cache_write += tokens.cache_write;
                stats.cost += cost(usage);
            }
        })?;
        stats.tokens.total = stats.tokens.sum();
        Ok(stats)
    }

    /// Who used how much, the most expensive first.
    pub fn shares(&self) -> io::Result<Vec<Share>> {
        let mut shares: Vec<Share> = Vec::new();
        self.each_usage(|_, _, _, usage| {
            let Some((key, usage)) = usage else { return };
            let (cost, tokens) = (cost(usage), Tokens::of(usage).sum());
            if cost == 0.0 && tokens == 0.0 {
                return;
            }
            match shares.iter_mut().find(|share| share.key == key) {
                Some(share) => {
                    share.cost += cost;
                    share.tokens += tokens;
                }
                None => shares.push(Share { key, cost, tokens }),
            }
        })?;
        shares.sort_by(|left, right| right.cost.total_cmp(&left.cost));
        Ok(shares)
    }

    /// Every entry, with its usage where it has one.
    fn each_usage(
        &self,
        mut visit: impl FnMut(&Tree, Index, Value<'_>, Option<(String, Value<'_>)>),
    ) -> io::Result<()> {
        for index in 0..self.len() {
            let (entry_type, role) = (self.entry_type(index), self.role(index));
            let entry = self.entry(index)?;
            let root = entry.root();
            let holder = match entry_type {
                EntryType::Message => root.get("message"),
                _ => Some(root),
            };
            let Some(holder) = holder else { continue };
            let text = |name| holder.get(name).and_then(Value::lossy).unwrap_or_default().into_owned();
            let key = match (entry_type, role) {
                (EntryType::Message, Role::Assistant) => {
                    let actual = text("responseModel");
                    let model = if actual.is_empty() { text("model") } else { actual };
                    Some(format!("{}/{model}", text("provider")))
                }
                (EntryType::Usage, _) => Some(format!("{}/{}", text("provider"), text("model"))),
                (EntryType::Message, Role::ToolResult)
                | (EntryType::Compaction | EntryType::BranchSummary, _) => Some(TOOLS.to_owned()),
                _ => None,
            };
            let usage = key.zip(holder.get("usage").filter(|usage| usage.is_truthy()));
            visit(self, index, root, usage);
        }
        Ok(())
    }
}

impl Tokens {
    fn of(usage: Value<'_>) -> Self {
        let number = |name| usage.get(name).and_then(Value::number).unwrap_or(0.0);
        let mut tokens = Self {
            input: number("input"),
            output: number("output"),
            cache_read: number("cacheRead"),
            cache_write: number("cacheWrite"),
            total: 0.0,
        };
        tokens.total = tokens.sum();
        tokens
    }

    fn sum(&self) -> f64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

fn cost(usage: Value<'_>) -> f64 {
    usage.get("cost").and_then(|cost| cost.get("total")).and_then(Value::number).unwrap_or(0.0)
}

fn is_tool_call(block: &Value<'_>) -> bool {
    block.get("type").is_some_and(|kind| kind.is_str("toolCall"))
}
