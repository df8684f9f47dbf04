//! The pieces as an automaton over characters (Aho and Corasick 1975), which finds all pieces that end at a character
//! with one step, where the trie takes a walk from every character before.
//!
//! A state is the longest end of the text so far that a piece begins with. Its *fail* state is the next
//! shorter such end, so the pieces that end at a character are those of its state and of the states that fail leads to, the
//! longest first. Steps go by a character's *code*; that of a character which no piece has is 0. The step with code `c` leads to
//! the state `base + c`, if that has the code `c`: no two states with steps have the same base (Aoe 1989, with a code
//! for a check). A state without steps has the base of the first state behind it that has some.
//!
//! Where U+2581 only begins pieces, those that it begins are left out: they begin where a part does, and one walk
//! through the trie finds them.
//!
//! What is found is checked when it is used: the automaton of a damaged image gives wrong answers and nothing worse.
//! Whoever follows fail ends at a state that is not shorter than the one before, as the root is not.

use bytemuck::{Pod, Zeroable};

/// What the section begins with.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct AutomatonHeader {
    /// Number of states.
    pub states: u32,
    /// Number of blocks of codes.
    pub blocks: u32,
    /// Number of numbers of blocks: characters beyond have the code 0.
    pub index: u32,
    /// Zero.
    pub reserved: [u32; 13],
}

/// A state: the beginning of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    /// The step with code `c` leads to the state with this number plus `c`, modulo 2^32.
    pub base: u32,
    /// The longest other state that this one ends with: its number; the root's if there is none.
    pub fail: u32,
    /// The path score of the piece that the state is; negative infinity if it is none.
    pub score: f32,
    /// The code of its last character; 0 where there is no state.
    pub code: u16,
    /// Its length in bytes; [`State::ROOT_LEN`] for the root.
    pub len: u16,
}

impl State {
    /// The root has the greatest length of all, so that one comparison tells where fail comes to its end.
    pub const ROOT_LEN: u16 = u16::MAX;

    /// The state in which nothing has been read.
    pub const ROOT: Self = Self {
        base: 0,
        fail: 0,
        score: f32::NEG_INFINITY,
        code: 0,
        len: Self::ROOT_LEN,
    };
}

const _: () = assert!(size_of::<State>() == 16);

/// The automaton: where states are, and the ids of those that are pieces.
#[derive(Debug, Clone, Copy)]
pub struct Automaton<'a> {
    /// For each 64 characters the number of a block.
    index: &'a [u16],
    blocks: &'a [[u16; 64]],
    states: &'a [State],
    /// As many.
    ids: &'a [u32],
}

impl<'a> Automaton<'a> {
    /// The section that `bytes`, on a 16-byte boundary, are; `None` if the length cannot be right.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(size_of::<AutomatonHeader>())?;
        let header: &AutomatonHeader = bytemuck::try_from_bytes(header).ok()?;
        let (states, rest) =
            rest.split_at_checked(size_of::<State>().checked_mul(header.states as usize)?)?;
        let (ids, rest) =
            rest.split_at_checked(size_of::<u32>().checked_mul(header.states as usize)?)?;
        let (index, blocks) =
            rest.split_at_checked(size_of::<u16>().checked_mul(header.index as usize)?)?;
        let blocks: &[[u16; 64]] = bytemuck::try_cast_slice(blocks).ok()?;
        (blocks.len() == header.blocks as usize).then_some(())?;
        Some(Self {
            index: bytemuck::try_cast_slice(index).ok()?,
            blocks,
            states: bytemuck::try_cast_slice(states).ok()?,
            ids: bytemuck::try_cast_slice(ids).ok()?,
        })
    }

    /// The code of the character whose code point is `bits` (of which the last six bits are told apart) in the block
    /// `block` of 64; 0 if no piece has it.
    #[inline(always)]
    #[must_use]
    pub fn code(&self, block: usize, bits: u32) -> u16 {
        let block = self.index.get(block).copied().unwrap_or(u16::MAX);
        match self.blocks.get(usize::from(block)) {
            Some(block) => block[bits as usize % 64],
            None => 0,
        }
    }

    /// The code of `character`; 0 if no piece has it.
    #[must_use]
    pub fn code_of(&self, character: char) -> u16 {
        let number = u32::from(character);
        self.code(number as usize / 64, number % 64)
    }

    /// The state with this number; the root if there is none.
    #[inline(always)]
    #[must_use]
    pub fn state(&self, number: u32) -> &'a State {
        self.states.get(number as usize).unwrap_or(&State::ROOT)
    }

    /// The number of the state that a step with `code`, which is not 0, from `from` leads to.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, from: &State, code: u16) -> u32 {
        let mut from = from;
        loop {
            let to = from.base.wrapping_add(code.into());
            if self.state(to).code == code {
                return to;
            }
            let fail = self.state(from.fail);
            // From the root, the state of a single character has its code for number.
            if fail.len >= from.len {
                return code.into();
            }
            from = fail;
        }
    }

    /// All states, by number.
    #[must_use]
    pub const fn states(&self) -> &'a [State] {
        self.states
    }

    /// The id of the piece that the state with this number is.
    #[inline(always)]
    #[must_use]
    pub fn id(&self, number: u32) -> Option<u32> {
        self.ids.get(number as usize).copied()
    }

    /// Checks states and ids; names the state that breaks a rule, and the rule.
    pub(crate) fn validate(&self, piece_count: u32) -> Result<(), (usize, &'static str)> {
        if self.states.first() != Some(&State::ROOT) {
            return Err((0, "the first state must be the root"));
        }
        let count = self.states.len() as u32;
        for (index, (state, &id)) in self.states.iter().zip(self.ids).enumerate() {
            if state.fail >= count {
                return Err((index, "fail must lead to a state"));
            }
            if !(state.score.is_finite() || state.score == f32::NEG_INFINITY) {
                return Err((index, "a score must be finite, or negative infinity"));
            }
            if id >= piece_count {
                return Err((index, "ids must be below the piece count"));
            }
        }
        Ok(())
    }
}
