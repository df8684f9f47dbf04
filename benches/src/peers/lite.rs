//! SentencePiece Lite, if the library that `python/lite/build.sh` makes is there: `TRIE_BENCHES_LITE` names
//! its directory. Loaded at run time, because it needs a newer C++ and tools that few machines have.

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::ptr::{NonNull, null};

use super::fairseq;
use crate::Result;
use crate::corpus::Doc;
use crate::engine::{Engine, Session};
use crate::process::UNDER_VALGRIND;

type Load = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Make = unsafe extern "C" fn() -> *mut c_void;
type Free = unsafe extern "C" fn(*mut c_void);
type Encode = unsafe extern "C" fn(
    *const c_void,
    *const c_char,
    usize,
    c_int,
    *mut c_void,
    *mut *const c_int,
) -> isize;

/// Where the library and the converted model are.
pub(super) fn directory() -> Option<PathBuf> {
    std::env::var_os("TRIE_BENCHES_LITE").map(PathBuf::from)
}

/// A loaded processor and the functions over it. The library stays loaded.
struct Peer {
    processor: NonNull<c_void>,
    cached: bool,
    free: Free,
    caller_new: Make,
    caller_free: Free,
    encode: Encode,
}

// SAFETY: a processor is const after loading and documented as thread-safe.
unsafe impl Send for Peer {}
// SAFETY: as above.
unsafe impl Sync for Peer {}

/// `own` holds this caller's ids and cache.
struct Caller<'a> {
    peer: &'a Peer,
    own: NonNull<c_void>,
    mapped: Vec<u32>,
}

/// The address of a function of the library.
fn symbol(library: NonNull<c_void>, name: &std::ffi::CStr) -> Result<NonNull<c_void>> {
    // SAFETY: the handle is open and the name ends with a NUL.
    let address = unsafe { libc::dlsym(library.as_ptr(), name.as_ptr()) };
    Ok(NonNull::new(address)
        .ok_or_else(|| format!("the library has no {}", name.to_string_lossy()))?)
}

pub(super) fn build(cached: bool) -> Result<Box<dyn Engine>> {
    let directory = directory().ok_or("TRIE_BENCHES_LITE is not set")?;
    let path = |file: &str| CString::new(directory.join(file).display().to_string());
    let library = match std::env::var_os(UNDER_VALGRIND) {
        Some(_) => path("liblite-valgrind.so")?,
        None => path("liblite.so")?,
    };
    // SAFETY: the path ends with a NUL; the library has no constructors of its own.
    let handle = unsafe { libc::dlopen(library.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    let handle = NonNull::new(handle)
        .ok_or_else(|| format!("{} cannot be loaded", library.to_string_lossy()))?;
    // SAFETY: these are the signatures in `python/lite/lite.cpp`.
    let peer = unsafe {
        let load: Load = std::mem::transmute(symbol(handle, c"lite_load")?);
        let model = path("model.spm.fb")?;
        Peer {
            processor: NonNull::new(load(model.as_ptr())).ok_or("model.spm.fb cannot be loaded")?,
            cached,
            free: std::mem::transmute::<NonNull<c_void>, Free>(symbol(handle, c"lite_free")?),
            caller_new: std::mem::transmute::<NonNull<c_void>, Make>(symbol(
                handle,
                c"lite_caller_new",
            )?),
            caller_free: std::mem::transmute::<NonNull<c_void>, Free>(symbol(
                handle,
                c"lite_caller_free",
            )?),
            encode: std::mem::transmute::<NonNull<c_void>, Encode>(symbol(handle, c"lite_encode")?),
        }
    };
    Ok(Box::new(peer))
}

impl Drop for Peer {
    fn drop(&mut self) {
        // SAFETY: made by `lite_load`, freed once.
        unsafe { (self.free)(self.processor.as_ptr()) };
    }
}

impl Engine for Peer {
    fn session(&self) -> Box<dyn Session + '_> {
        // SAFETY: takes nothing; C++'s new does not return null.
        let own = unsafe { (self.caller_new)() };
        let own = NonNull::new(own).unwrap_or(NonNull::dangling());
        Box::new(Caller {
            peer: self,
            own,
            mapped: Vec::new(),
        })
    }
}

impl Drop for Caller<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `lite_caller_new`, freed once.
        unsafe { (self.peer.caller_free)(self.own.as_ptr()) };
    }
}

impl Session for Caller<'_> {
    fn encode(&mut self, doc: &Doc) -> &[u32] {
        let mut data = null();
        let (peer, text) = (self.peer, &doc.text);
        // SAFETY: all pointers are live, and `own` is this caller's alone.
        let count = unsafe {
            let text_start = text.as_ptr().cast();
            let cached = c_int::from(peer.cached);
            (peer.encode)(
                peer.processor.as_ptr(),
                text_start,
                text.len(),
                cached,
                self.own.as_ptr(),
                &mut data,
            )
        };
        self.mapped.clear();
        if count > 0 {
            // SAFETY: the library returned that many ids at `data`, alive until the next call.
            let ids = unsafe { std::slice::from_raw_parts(data, count as usize) };
            self.mapped.extend(ids.iter().map(|&id| fairseq(id as u32)));
        }
        &self.mapped
    }

    fn foreign_allocations(&self) -> Option<u64> {
        None
    }
}
