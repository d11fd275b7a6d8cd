//! Arguments of a model: any JSON is either read into a tool's input or refused in words; what is
//! read once is read again the same way.

#![no_main]

use libfuzzer_sys::fuzz_target;
use pi_toolbox::json;
use pi_toolbox::tool::{Tool, arguments};
use pi_toolbox::tools::{bash::Bash, edit::Edit, find::Find, grep::Grep, ls::Ls, read::Read, write::Write};

fuzz_target!(|text: &[u8]| {
    let Ok(value) = json::parse(text) else { return };
    reads::<Read>(&value);
    reads::<Write>(&value);
    reads::<Edit>(&value);
    reads::<Bash>(&value);
    reads::<Ls>(&value);
    reads::<Find>(&value);
    reads::<Grep>(&value);
});

fn reads<T: Tool>(value: &serde_json::Value) {
    match arguments::read::<T>(value.clone()) {
        Ok(_) => assert!(arguments::read::<T>(value.clone()).is_ok()),
        Err(invalid) => {
            let words = invalid.to_string();
            assert!(words.starts_with(&format!("Validation failed for tool \"{}\":\n  - ", T::NAME)));
        }
    }
}
