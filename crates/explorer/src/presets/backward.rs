//! The heads to be followed backwards: that of the chapter, one that is sure and
//! wrong, and one that has not learned anything yet.

use super::{HeadState, Preset, owned, toy_head, typed, uniform};
use attention::ndarray::Axis;
use worked::backward_pass_by_hand::target;
use worked::queries_keys_values::SMALL_WORD;

/// Every preset with a target; the chapter's head is the first.
pub(crate) fn backward() -> Vec<Preset> {
    vec![chapters(), wrong(), fresh()]
}

/// The toy head, which should say what “cat” says.
fn chapters() -> Preset {
    let Preset { name, title, state, .. } = toy_head();
    Preset {
        name,
        title,
        about: "“the” should say what “cat” says and nothing else; follow its error back to every \
                number.",
        state: HeadState { target: Some(wanted()), ..state },
    }
}

/// The same, but “the” looks for an action with all its might: the chapter's
/// fifth exercise.
fn wrong() -> Preset {
    let mut preset = chapters();
    preset.state.w_q[SMALL_WORD] = owned(&["0", "8", "0"]);
    Preset {
        name: "wrong",
        title: "sure, and wrong",
        about: "“the” gives nearly all of its attention to “sat”: the loss is large, but hardly \
                anything of it comes back through softmax.",
        ..preset
    }
}

/// A head whose queries are 0: what learns first?
fn fresh() -> Preset {
    let Preset { state, .. } = uniform();
    Preset {
        name: "fresh",
        title: "not learned yet",
        about: "Every query is still zero, and “cheese” should say what “eat” says: its query \
                learns at once, the keys not before the queries are something.",
        state: HeadState { target: Some(owned(&["0", "1", "0", "1"])), ..state },
    }
}

/// The chapter's target, as it would be typed.
fn wanted() -> Vec<String> {
    typed(&target().insert_axis(Axis(0))).concat()
}
