//! SentencePiece C++, through the project's own thin shim.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr::{NonNull, null};

// Links the library.
use sentencepiece_sys as _;

use super::fairseq;
use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::fixture::Fixture;

unsafe extern "C" {
    fn shim_allocations() -> u64;
    fn shim_load(path: *const c_char, length: usize) -> *mut c_void;
    fn shim_free(processor: *mut c_void);
    fn shim_ids_new() -> *mut c_void;
    fn shim_ids_free(ids: *mut c_void);
    fn shim_encode(
        processor: *const c_void,
        text: *const c_char,
        length: usize,
        ids: *mut c_void,
        data: *mut *const c_int,
    ) -> isize;
}

/// A loaded processor, never changed after loading.
struct Peer(NonNull<c_void>);

// SAFETY: SentencePiece's encoding is const and documented as thread-safe.
unsafe impl Send for Peer {}
// SAFETY: as above.
unsafe impl Sync for Peer {}

/// `ids` is a C++ vector of its own.
struct Caller<'a> {
    peer: &'a Peer,
    ids: NonNull<c_void>,
    mapped: Vec<u32>,
}

pub(super) fn build(fixture: &Fixture) -> Result<Box<dyn Engine>> {
    let path = CString::new(fixture.model().display().to_string())?;
    // SAFETY: the path is valid for the length given, and ends with the NUL that the library relies on.
    let processor = unsafe { shim_load(path.as_ptr(), path.count_bytes()) };
    let processor = NonNull::new(processor).ok_or("SentencePiece does not load the model")?;
    Ok(Box::new(Peer(processor)))
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: made by `shim_load`, freed once.
        unsafe { shim_free(self.0.as_ptr()) };
    }
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        // SAFETY: takes nothing; C++'s new does not return null.
        let ids = unsafe { shim_ids_new() };
        let ids = NonNull::new(ids).unwrap_or(NonNull::dangling());
        Box::new(Caller {
            peer: self,
            ids,
            mapped: Vec::new(),
        })
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `shim_ids_new`, freed once.
        unsafe { shim_ids_free(self.ids.as_ptr()) };
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        let mut data = null();
        let text = &doc.text;
        // SAFETY: all pointers are live, and the vector is this caller's alone.
        let count = unsafe {
            shim_encode(
                self.peer.0.as_ptr(),
                text.as_ptr().cast(),
                text.len(),
                self.ids.as_ptr(),
                &mut data,
            )
        };
        self.mapped.clear();
        if count > 0 {
            // SAFETY: the shim returned that many ids at `data`, alive until the next call.
            let ids = unsafe { std::slice::from_raw_parts(data, count as usize) };
            self.mapped.extend(ids.iter().map(|&id| fairseq(id as u32)));
        }
        &self.mapped
    }

    fn foreign_allocations(&self) -> Option<u64> {
        // SAFETY: reads a thread-local counter.
        Some(unsafe { shim_allocations() })
    }
}
