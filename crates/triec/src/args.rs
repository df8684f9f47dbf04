//! What the command line can say.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use trie_compiler::{HuggingFacePreset, IdMap, Options, Reference, Template};
use trie_runtime::Backing;

use crate::alternatives::AlternativesArgs;
use crate::load::LoadArgs;
use crate::serving::{Field, ServingArgs};

const EXAMPLES: &str = "\
Examples:
  triec encode \"Hello World!\"                     35378 6661 38
  triec encode < corpus.txt > corpus.ids          one line of ids per line of text
  triec decode 35378 6661 38                      Hello World!
  triec compile spiece.model -o spiece.trie       a model of your own
  triec verify spiece.trie --model spiece.model   is it what it should be?
  triec encode --image spiece.trie < corpus.txt
  triec compile tokenizer.json -o hf.trie         the ids of Hugging Face tokenizers
  triec diff --against hf.trie -i corpus.txt      where two references disagree
  triec explain \"Hello World!\"                    why these ids

Exit codes:
  0  done
  1  a difference, or an image that failed verification
  2  the command line is wrong
  3  bad input: an unreadable file, a bad model, a bad line, a damaged image
  4  an image of another format version";

/// Compiles Unigram tokenizers (SentencePiece models, `tokenizer.json`s) into images, checks them, and runs
/// them.
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
    Load(LoadArgs),
    Encode(EncodeArgs),
    Decode(DecodeArgs),
    Normalize(NormalizeArgs),
    Diff(DiffArgs),
    Explain(ExplainArgs),
}

/// Compile a Unigram tokenizer into an image
///
/// The input is a SentencePiece model or a `tokenizer.json` of Hugging Face tokenizers; which of the two
/// shows from its contents, not its name. What cannot be compiled is refused with its place in the file.
///
/// The same model and options give the same bytes everywhere. The image is written to a temporary file
/// and renamed, so that processes that use an old image of that name keep it.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec compile spiece.model -o spiece.trie
  triec compile xlm-roberta.model -o xlm-roberta.trie --ids fairseq
  triec compile tokenizer.json -o tokenizer.trie
  triec compile xlm-roberta.model -o hf.trie --ids fairseq --reference huggingface

References:
  sentencepiece-...  a `.model`'s own; 0.2.3 is the default for one
  huggingface-...    Hugging Face tokenizers 0.23. A tokenizer.json says itself what is done around the
                     model, and all of them mean the same then. A `.model` goes through one of three published
                     forms of transformers' converter: choose the one whose files you use elsewhere.
                     They differ only where there is white space other than single spaces:
                       a  two and more spaces become one
                       b  words are split at any white space: XLM-RoBERTa's published file
                       c  spaces at the right end are dropped, two and more become U+2581: the later
                          converter")]
pub(crate) struct CompileArgs {
    /// A `.model` as sentencepiece writes it, or a `tokenizer.json`
    #[arg(value_name = "INPUT")]
    pub(crate) input: PathBuf,
    /// Where to write the image
    #[arg(short, long, value_name = "IMAGE")]
    pub(crate) output: PathBuf,
    /// How a model's ids are numbered; the default is as in the input
    #[arg(long, value_enum)]
    pub(crate) ids: Option<Ids>,
    /// Whose ids are reproduced; the default is sentencepiece-0.2.3 for a model, huggingface for a
    /// tokenizer.json
    #[arg(long, value_enum)]
    pub(crate) reference: Option<ReferenceArg>,
    /// Special tokens around texts, where they are asked for. The default is a tokenizer.json's own; of a model
    /// its begin and end pieces, those it has
    #[arg(long, value_enum)]
    pub(crate) template: Option<TemplateArg>,
    /// Texts with their ids for the image's self-test, one JSON object a line: {"text": ..., "ids": [...]}, or
    /// with `base64`; the image is not written if it gives other ids. Without this, some texts of many scripts
    /// are put in, with the ids by the plain way
    #[arg(long, value_name = "FILE")]
    pub(crate) self_test: Option<PathBuf>,
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
/// That includes the image's self-test, if it has one: texts, and the ids that they had when it was compiled.
///
/// With --model, also that the image is byte for byte what compiling that model or tokenizer.json gives, for
/// the reference and with the ids that the image states. Exit code 1 if not, or if the file is damaged or no
/// image at all; 4 if it is of another format version.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec verify spiece.trie
  triec verify spiece.trie --model spiece.model
  triec verify spiece.trie --self-test              on the machine that will serve")]
pub(crate) struct VerifyArgs {
    /// The image
    #[arg(value_name = "IMAGE")]
    pub(crate) image: PathBuf,
    /// Only that the file is sound and passes its self-test, which it must have
    #[arg(long, conflicts_with = "model")]
    pub(crate) self_test: bool,
    /// The model or tokenizer.json that the image should have been compiled from
    #[arg(long, value_name = "INPUT")]
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
  triec encode --special-as-text --image hf.trie \"what is <mask>?\"
  echo '{\"text\": \"two\\nlines\"}' | triec encode --jsonl
  triec encode --whole -i book.txt
  triec encode --count -i corpus.txt
  triec encode --nbest 5 \"Hello World!\"
  triec encode --special --max-length 512 -i documents.txt --threads 4
  triec encode --jsonl --special --pad longest --batch-size 32 \\
    --fields ids,attention_mask,char_offsets < pairs.jsonl
  triec encode --jsonl --special --max-length 384 --stride 128 --truncation only_second \\
    --fields ids,offsets,overflowing --pair \"a long passage\" < questions.jsonl")]
pub(crate) struct EncodeArgs {
    /// Texts; without any, --input or standard input is read. Never parsed as JSON
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub(crate) texts: Vec<OsString>,
    /// Put the model's begin and end ids, those it has, around each text's; under the Hugging Face reference,
    /// its template
    #[arg(long)]
    pub(crate) special: bool,
    /// Take names of special tokens inside texts, such as `<mask>`, for text. Under the Hugging Face reference
    /// they are special without this; under sentencepiece they are always text
    #[arg(long)]
    pub(crate) special_as_text: bool,
    /// What to print for a text
    #[arg(long, value_enum, default_value_t = Format::Ids)]
    pub(crate) format: Format,
    /// Keys of the output objects, separated by commas
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "KEYS",
        requires = "jsonl",
        conflicts_with = "format"
    )]
    pub(crate) fields: Vec<Field>,
    /// How many ids, instead of which
    #[arg(long, conflicts_with_all = ["format", "fields", "nbest", "sample"])]
    pub(crate) count: bool,
    /// Every file, or standard input, is one text, however long: it is read in chunks, and its ids come as soon as
    /// they are final
    #[arg(long, conflicts_with_all = [
        "texts", "jsonl", "format", "special", "pair", "max_length", "truncation", "pad", "threads", "nbest", "sample",
    ])]
    pub(crate) whole: bool,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
    #[command(flatten)]
    pub(crate) serving: ServingArgs,
    #[command(flatten)]
    pub(crate) alternatives: AlternativesArgs,
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
    /// Show special tokens too; only under the Hugging Face reference, as control pieces never leave a trace under
    /// the others
    #[arg(long)]
    pub(crate) keep_special: bool,
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

/// Show where two references disagree about your own text
///
/// Each argument, or else each line of the input, is encoded with the image (a) and with what it is compared
/// against (b). For each that differs: its place, and both sides piece by piece where they differ, with a
/// little around it. Exit code 1 if any differs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec diff --against xlmr/tokenizer.json -i corpus.txt
  triec diff --against xlm-roberta.model --against-reference huggingface-a \"two  spaces\"
  triec diff --image old.trie --against new.trie --jsonl < corpus.jsonl")]
pub(crate) struct DiffArgs {
    /// Texts; without any, --input or standard input is read. Never parsed as JSON
    #[arg(value_name = "TEXT", conflicts_with = "input")]
    pub(crate) texts: Vec<OsString>,
    /// The other side: an image, or a model or tokenizer.json, which is compiled in memory
    #[arg(long, value_name = "FILE")]
    pub(crate) against: PathBuf,
    /// Whose ids the other side is to reproduce, if it is compiled; the default is as for `compile`
    #[arg(long, value_enum, value_name = "REFERENCE")]
    pub(crate) against_reference: Option<ReferenceArg>,
    /// How the other side's ids are numbered, if it is compiled from a model; the default is the image's way
    #[arg(long, value_enum, value_name = "IDS")]
    pub(crate) against_ids: Option<Ids>,
    /// Compare with special tokens around each text
    #[arg(long)]
    pub(crate) special: bool,
    /// Take names of special tokens inside texts for text, on both sides
    #[arg(long)]
    pub(crate) special_as_text: bool,
    /// What must be equal. With pieces, unequal numberings do not matter
    #[arg(long, value_enum, default_value_t = Format::Ids)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) stream: StreamArgs,
}

/// Show why a text gets the ids it gets
///
/// The text as the model sees it; every piece that could be used, with its place and score; the chosen path;
/// and the next best ones, with how much less they score and where they differ. Under the Hugging Face
/// reference, word by word. Scores are natural logarithms.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  triec explain \"Hello World!\"
  triec explain --nbest 20 --image spiece.trie \"unbelievably\"
  triec explain --json \"Hello World!\" | jq '.segments[].runners_up[].behind'")]
pub(crate) struct ExplainArgs {
    /// Texts
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) texts: Vec<OsString>,
    /// The image; without one, the image embedded in this executable
    #[arg(long, value_name = "IMAGE")]
    pub(crate) image: Option<PathBuf>,
    /// How many paths to show besides the best
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(0..=511))]
    pub(crate) nbest: u16,
    /// Show long texts completely
    #[arg(long)]
    pub(crate) all: bool,
    /// One JSON object a text, complete
    #[arg(long)]
    pub(crate) json: bool,
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
    /// Lines are JSON: texts as a string or an object with `text` or `base64`, and for `encode` also `pair`; ids
    /// and pieces as an array or an object with `ids` or `pieces`
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
pub(crate) enum TemplateArg {
    /// None
    None,
    /// `<s> A </s>`, `<s> A </s> </s> B </s>`: RoBERTa, XLM-RoBERTa, CamemBERT
    XlmRoberta,
    /// `A </s>`, `A </s> B </s>`: T5, Pegasus, Marian
    T5,
    /// `[CLS] A [SEP]`, `[CLS] A [SEP] B [SEP]`: ALBERT, DeBERTa
    Bert,
    /// `A <sep> <cls>`, `A <sep> B <sep> <cls>`, padding at the left: XLNet
    Xlnet,
}

impl From<TemplateArg> for Template {
    fn from(template: TemplateArg) -> Self {
        match template {
            TemplateArg::None => Self::None,
            TemplateArg::XlmRoberta => Self::XlmRoberta,
            TemplateArg::T5 => Self::T5,
            TemplateArg::Bert => Self::Bert,
            TemplateArg::Xlnet => Self::Xlnet,
        }
    }
}

/// The options for compiling, as far as they are given.
pub(crate) fn options(ids: Option<Ids>, reference: Option<ReferenceArg>) -> Options {
    let options = match ids {
        Some(ids) => Options::default().with_ids(ids.into()),
        None => Options::default(),
    };
    match reference {
        None => options,
        Some(ReferenceArg::SentencePiece023) => options.with_reference(Reference::SentencePiece023),
        Some(ReferenceArg::SentencePiece021) => options.with_reference(Reference::SentencePiece021),
        Some(ReferenceArg::HuggingFace) => options.with_preset(HuggingFacePreset::default()),
        Some(ReferenceArg::HuggingFaceA) => options.with_preset(HuggingFacePreset::A),
        Some(ReferenceArg::HuggingFaceB) => options.with_preset(HuggingFacePreset::B),
        Some(ReferenceArg::HuggingFaceC) => options.with_preset(HuggingFacePreset::C),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReferenceArg {
    /// sentencepiece 0.2.2 and later: single-precision sums, re-based beyond ±100,000
    #[value(name = Reference::SentencePiece023.name())]
    SentencePiece023,
    /// sentencepiece up to 0.2.1: candidates compared in double, kept in single precision
    #[value(name = Reference::SentencePiece021.name())]
    SentencePiece021,
    /// Hugging Face tokenizers; a model as with huggingface-b
    #[value(name = "huggingface")]
    HuggingFace,
    /// The same; of a model: two and more spaces become one
    #[value(name = "huggingface-a")]
    HuggingFaceA,
    /// The same; of a model: words are split at any white space
    #[value(name = "huggingface-b")]
    HuggingFaceB,
    /// The same; of a model: spaces at the right end are dropped, two and more become U+2581
    #[value(name = "huggingface-c")]
    HuggingFaceC,
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
