//! Scalars to values and keys, their tags considered.

use std::borrow::Cow;

use super::{Pending, binary};
use crate::lex::Tag;
use crate::problem::{Problem, ProblemKind, Problems};
use crate::scalar::{self, Scalar};
use crate::source::Span;
use crate::{Key, Style, Value, kustomize, number};

/// A scalar as written.
pub(super) struct WrittenScalar<'t> {
    pub(super) text: Cow<'t, str>,
    pub(super) style: Style,
    pub(super) span: Span,
    pub(super) tag: Option<Tag>,
}

impl WrittenScalar<'_> {
    /// The value, as it arrives in JSON.
    #[inline]
    pub(super) fn value(self, problems: &mut Problems) -> Result<Value, Problem> {
        if self.is_text() { Ok(Value::String(self.text.into_owned())) } else { self.resolved(problems) }
    }

    /// The value of a scalar that may be more than text; apart, because most scalars are text.
    #[inline(never)]
    fn resolved(self, problems: &mut Problems) -> Result<Value, Problem> {
        self.compare_with_kustomize(problems);
        Ok(match self.resolve()? {
            Scalar::Null => Value::Null,
            Scalar::Bool(b) => Value::Bool(b),
            Scalar::Int(i) => Value::Number(i.into()),
            Scalar::Uint(u) => Value::Number(number::uint_number(u)),
            Scalar::Float(f) => Value::Number(number::float_number(f)),
            Scalar::NotJson(f) => {
                let message = format!("json: unsupported value: {}", number::go_name(f));
                problems.push(Problem::new(ProblemKind::NotJson, self.span, message));
                Value::Null
            }
            Scalar::Text if self.tag == Some(Tag::Binary) => Value::String(self.decoded()?),
            Scalar::Text => Value::String(self.text.into_owned()),
        })
    }

    /// The key of a mapping, as text.
    pub(super) fn key(self, problems: &mut Problems) -> Result<Pending, Problem> {
        let span = self.span;
        if self.is_merge() {
            return Ok(Pending::Merge(span));
        }
        if self.is_text() {
            let text = self.text.into_owned();
            return Ok(Pending::Value(Key { text, span }));
        }
        self.resolved_key(problems)
    }

    /// The key of a scalar that may be more than text.
    #[inline(never)]
    fn resolved_key(self, problems: &mut Problems) -> Result<Pending, Problem> {
        let span = self.span;
        self.compare_with_kustomize(problems);
        let scalar = self.resolve()?;
        if self.tag == Some(Tag::Binary) {
            let text = self.decoded()?;
            return Ok(Pending::Value(Key { text, span }));
        }
        Ok(match scalar::key_text(scalar, self.text) {
            Ok(text) => Pending::Value(Key { text, span }),
            Err(kind) => {
                let message = format!("unsupported map key of type: {kind}");
                problems.push(Problem::new(ProblemKind::BadKey, span, message));
                Pending::Rejected
            }
        })
    }

    fn is_merge(&self) -> bool {
        self.text == "<<"
            && match self.tag {
                None => self.style == Style::Plain,
                Some(tag) => tag == Tag::Merge,
            }
    }

    /// Whether kubectl and kustomize both read it as the same text.
    #[inline]
    fn is_text(&self) -> bool {
        self.tag.is_none() && (self.style != Style::Plain || scalar::is_text(&self.text))
    }

    /// The decoded value of `!!binary`.
    fn decoded(&self) -> Result<String, Problem> {
        binary::decode(&self.text).ok_or_else(|| {
            let message = "!!binary value contains invalid base64 data";
            Problem::new(ProblemKind::BadTag, self.span, message)
        })
    }

    /// The scalar's type and value. A quoted one without a tag is text.
    fn resolve(&self) -> Result<Scalar, Problem> {
        let Some(tag) = self.tag else {
            return Ok(match self.style {
                Style::Plain => scalar::resolve(&self.text),
                _ => Scalar::Text,
            });
        };
        let found = match tag {
            Tag::Str | Tag::Binary | Tag::Merge | Tag::Other => return Ok(Scalar::Text),
            Tag::Timestamp if kustomize::timestamp(&self.text).is_some() => {
                return Ok(Scalar::Text);
            }
            _ => scalar::resolve(&self.text),
        };
        let wanted = match tag {
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Bool => "!!bool",
            Tag::Null => "!!null",
            _ => "!!timestamp",
        };
        if tag == Tag::Float
            && let Scalar::Int(value) = found
        {
            return Ok(Scalar::Float(value as f64));
        }
        if found.tag() == wanted {
            return Ok(found);
        }
        let message = format!("cannot decode {} `{}` as a {wanted}", found.tag(), self.text);
        Err(Problem::new(ProblemKind::BadTag, self.span, message))
    }

    fn compare_with_kustomize(&self, problems: &mut Problems) {
        if self.tag.is_some() || self.style != Style::Plain {
            return;
        }
        let text = &self.text;
        if let Some(kustomize) = kustomize::kustomize_reads(text) {
            let kubectl = match scalar::resolve(text) {
                Scalar::Bool(value) => format!("the boolean {value}"),
                _ => format!("the text \"{text}\""),
            };
            let message = format!("kubectl reads {text} as {kubectl}, kustomize as {kustomize}");
            problems.push(Problem::new(ProblemKind::ReadsDifferently, self.span, message));
        }
    }
}
