//! What the command line can say.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trie_compiler::{IdMap, Reference};
use trie_runtime::Backing;

const EXAMPLES: &str = "\
Examples:
  triec encode \"Hello World!\"                     35378 6661 38
  triec encode < corpus.txt > corpus.ids          one line of ids per line of text
  triec decode 35378 6661 38                      Hello World!
  triec compile spiece.model -o spiece.trie       a model of your own
  triec verify spiece.trie --model spiece.model   is it what it should be?
  triec encode --image spiece.trie < corpus.txt

Exit codes:
  0  done
  1  a difference, or an image that failed verification
  2  the command line is wrong
  3  bad input: an unreadable file, a bad model, a bad line, a damaged image
  4  an image of another format version";

/// Compiles SentencePiece Unigram models into tokenizer images, checks them, and runs them.
#[derive(Debug, Parser)]
#[command(name = "triec", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Compile(CompileArgs),
    Inspect(InspectArgs),
    Verify(VerifyArgs),
    Encode(EncodeArgs),
    Decode(DecodeArgs),
    Normalize(NormalizeArgs),
}

/// Compile a SentencePiece Unigram model into an image
///
/// The same model and options give the same bytes everywhere. The image is written to a temporary file
/// and renamed, so that processes that use an old image of that name keep it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec compile spiece.model -o spiece.trie
  triec compile xlm-roberta.model -o xlm-roberta.trie --ids fairseq")]
pub(crate) struct CompileArgs {
    /// The `.model` file as sentencepiece writes it
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Where to write the image
    #[arg(short, long, value_name = "IMAGE")]
    pub(crate) output: PathBuf,
    /// How ids are numbered: as in the model, or as in fairseq's XLM-RoBERTa
    #[arg(long, value_enum, default_value_t = Ids::Sentencepiece)]
    pub(crate) ids: Ids,
    /// Whose ids are reproduced: those of sentencepiece 0.2.2 and later, or up to 0.2.1
    #[arg(long, value_enum, default_value_t = ReferenceArg::SentencePiece023)]
    pub(crate) reference: ReferenceArg,
    /// Overwrite the output even if it is not an image
    #[arg(long)]
    pub(crate) force: bool,
    /// Print nothing unless something is wrong
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Show what an image says of itself
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec inspect                          the embedded image
  triec inspect spiece.trie
  triec inspect spiece.trie --json | jq .trie.nodes")]
pub(crate) struct InspectArgs {
    /// The image; without one, the image embedded in this executable
    #[arg(value_name = "IMAGE", conflicts_with = "option")]
    pub(crate) image: Option<PathBuf>,
    /// The same, as an option
    #[arg(id = "option", long = "image", value_name = "IMAGE")]
    pub(crate) image_option: Option<PathBuf>,
    /// One JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check an image completely, one line per step
///
/// With --model, also that the image is byte for byte what compiling that model gives. Exit code 1 if
/// not, or if the file is damaged or no image at all; 4 if it is of another format version.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec verify spiece.trie
  triec verify spiece.trie --model spiece.model")]
pub(crate) struct VerifyArgs {
    /// The image
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,
    /// The model that the image should have been compiled from
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<PathBuf>,
}

/// Turn text into ids or pieces
///
/// Each argument, or else each line of the input, is a text; each gives one line of output. Lines end
/// at LF only and may be any bytes, as for spm_encode.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec encode \"Hello World!\"
  triec encode --format pieces \"Hello World!\"
  triec encode --special -i corpus.txt -o corpus.ids
  echo '{\"text\": \"two\\nlines\"}' | triec encode --jsonl")]
pub(crate) struct EncodeArgs {
    /// Texts; without any, --input or standard input is read. Never parsed as JSON
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub(crate) texts: Vec<OsString>,
    /// Put the model's begin and end ids, those it has, around each text's
    #[arg(long)]
    pub(crate) special: bool,
    /// What to print for a text
    #[arg(long, value_enum, default_value_t = Format::Ids)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// Turn ids or pieces back into text
///
/// The arguments together, or else each line of the input, are the ids of one text.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec decode 35378 6661 38
  triec decode -i corpus.ids -o corpus.txt
  triec encode --jsonl < in.jsonl | triec decode --jsonl")]
pub(crate) struct DecodeArgs {
    /// Ids, or pieces with --format pieces, of one text; without any, --input or standard input is read
    #[arg(
        value_name = "ID",
        conflicts_with = "input",
        allow_negative_numbers = true
    )]
    pub(crate) ids: Vec<OsString>,
    /// What a line holds: ids separated by whitespace, or pieces separated by single spaces
    #[arg(long, value_enum, default_value_t = Format::Ids)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// Show text as the model sees it
///
/// Input is read as by `encode`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec normalize \"ﬁne  print\"
  triec normalize -i corpus.txt -o normalized.txt")]
pub(crate) struct NormalizeArgs {
    /// Texts; without any, --input or standard input is read. Never parsed as JSON
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub(crate) texts: Vec<OsString>,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// What the commands over lines have in common.
#[derive(Debug, Args)]
pub(crate) struct StreamArgs {
    /// The image; without one, the image embedded in this executable
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<PathBuf>,
    /// What memory to put the image into: a private copy of some kind, or (the default) none: the file is
    /// mapped, the embedded image used in place
    #[arg(long, value_enum)]
    pub(crate) load: Option<Load>,
    /// Files to read, in this order; `-` is standard input
    #[arg(short, long, value_name = "FILE", num_args = 1..)]
    pub(crate) input: Vec<PathBuf>,
    /// Where to write; complete or not at all. Without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Lines are JSON: texts as a string or an object with `text` or `base64`; ids and pieces as an
    /// array or an object with `ids` or `pieces`
    #[arg(long)]
    pub(crate) jsonl: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Numbers
    Ids,
    /// Texts of the pieces
    Pieces,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Ids {
    /// An id is the piece's position in the model
    Sentencepiece,
    /// `<s>` 0, `<pad>` 1, `</s>` 2, `<unk>` 3, then the model's order, `<mask>` last
    Fairseq,
}

impl From<Ids> for IdMap {
    fn from(ids: Ids) -> Self {
        match ids {
            Ids::Sentencepiece => Self::SentencePiece,
            Ids::Fairseq => Self::Fairseq,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceArg {
    /// Single-precision sums, re-based beyond ±100,000
    #[value(name = Reference::SentencePiece023.name())]
    SentencePiece023,
    /// Candidates compared in double, kept in single precision
    #[value(name = Reference::SentencePiece021.name())]
    SentencePiece021,
}

impl From<ReferenceArg> for Reference {
    fn from(reference: ReferenceArg) -> Self {
        match reference {
            ReferenceArg::SentencePiece023 => Self::SentencePiece023,
            ReferenceArg::SentencePiece021 => Self::SentencePiece021,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Load {
    /// The best copy that is to be had
    Auto,
    /// A copy in pages of the huge page pool, or the next best
    Hugetlb,
    /// A copy in transparent huge pages, or the next best
    Thp,
    /// A copy in ordinary pages
    Copy,
    /// The file itself
    Map,
}

impl From<Load> for Backing {
    fn from(load: Load) -> Self {
        match load {
            Load::Auto => Self::Auto,
            Load::Hugetlb => Self::HugeTlb,
            Load::Thp => Self::TransparentHuge,
            Load::Copy => Self::Copy,
            Load::Map => Self::Mapped,
        }
    }
}
