//! Adding, removing and renaming tokens of a head's sentence.

use crate::json::{Unreadable, Value};
use crate::state::{HeadState, MOST_TOKENS, token_name};

/// Makes the change, or says to the reader why it cannot be made.
pub(crate) fn change(
    state: HeadState,
    change: &Value,
) -> Result<Result<HeadState, String>, Unreadable> {
    if let Some(add) = change.get("add") {
        return added(state, add.whole("after")?);
    }
    if change.get("remove").is_some() {
        return removed(state, change.index("remove")?);
    }
    if change.get("rename").is_some() {
        return renamed(state, change.index("rename")?, change.text("to")?);
    }
    Err("The change is neither to add, to remove nor to rename.".to_owned())
}

/// A new token means what its neighbour means: the one before it, or the first
/// where it comes in front of all. So it takes part from the start.
fn added(mut state: HeadState, after: i64) -> Result<Result<HeadState, String>, Unreadable> {
    if state.tokens.len() == MOST_TOKENS {
        return Ok(Err(format!("There are {MOST_TOKENS} tokens already; remove one first.")));
    }
    let place = usize::try_from(after.saturating_add(1)).unwrap_or(usize::MAX);
    if place > state.tokens.len() {
        return Err(format!("There is no token {after} to add another after."));
    }
    let neighbour = state.x[place.saturating_sub(1)].clone();
    state.tokens.insert(place, new_name(&state.tokens));
    state.x.insert(place, neighbour);
    Ok(Ok(state))
}

/// “new”, or “new 2” and so on where there is one already.
fn new_name(tokens: &[String]) -> String {
    let names =
        (1..).map(|count| if count == 1 { "new".to_owned() } else { format!("new {count}") });
    let mut free = names.filter(|name| !tokens.contains(name));
    free.next().unwrap_or_default()
}

fn removed(mut state: HeadState, token: usize) -> Result<Result<HeadState, String>, Unreadable> {
    exists(&state, token)?;
    if state.tokens.len() == 1 {
        return Ok(Err("A sentence has at least one token; this is the last.".to_owned()));
    }
    state.tokens.remove(token);
    state.x.remove(token);
    Ok(Ok(state))
}

fn renamed(
    mut state: HeadState,
    token: usize,
    to: &str,
) -> Result<Result<HeadState, String>, Unreadable> {
    exists(&state, token)?;
    Ok(token_name(to).map(|name| {
        name.clone_into(&mut state.tokens[token]);
        state
    }))
}

fn exists(state: &HeadState, token: usize) -> Result<(), Unreadable> {
    if token < state.tokens.len() { Ok(()) } else { Err(format!("There is no token {token}.")) }
}
