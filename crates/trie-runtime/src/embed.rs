//! Images inside the executable.

/// Embeds an image in the executable, on a 64-byte boundary, as a `&'static [u8]` for
/// [`Image::from_static`](crate::Image::from_static).
///
/// The path is that of `include_bytes!`: relative to the source file, or absolute, for example
/// `concat!(env!("OUT_DIR"), "/model.trie")`. The build fails if the file is not an image or is one of
/// another major format version.
#[macro_export]
macro_rules! include_image {
    ($path:expr $(,)?) => {{
        #[repr(C, align(64))]
        struct Aligned<Bytes: ?Sized>(Bytes);
        const _: () = assert!(
            $crate::__const_check_header(include_bytes!($path)),
            "include_image!: not a trie image of this format version; compile it again with `triec compile`",
        );
        static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!($path));
        &IMAGE.0
    }};
}

#[doc(hidden)]
#[must_use]
pub const fn __const_check_header(bytes: &[u8]) -> bool {
    trie_format::const_check_header(bytes)
}
