//! Describes the rule under the pointer.

use super::Answer;
use crate::finding::Rule;
use crate::lint;
use crate::source::Span;
use hcoplan_report::rule_page;

/// For a suppression comment: the rule at an offset, else the first one. `start` is the comment's offset.
pub(super) fn in_comment(comment: &str, start: u32, at: u32) -> Option<Answer> {
    let directive = comment.trim_start_matches('#').trim_start();
    let rest = directive.strip_prefix("hcoplan:")?;
    let begin = comment.len() - rest.len();
    let (open, close) = (rest.find('[')?, rest.find(']')?);
    let names = rest.get(open + 1..close)?;
    let inner = at.checked_sub(start)? as usize;
    if let Some((text, span)) = in_text(comment, u32::try_from(inner).ok()?) {
        let moved = Span::new(span.start as usize + start as usize, span.end as usize + start as usize);
        return Some((text, moved));
    }
    let first = names.split(',').next()?.trim();
    let rule = lint::find(first)?.rule;
    let from = start as usize + begin + open + 1;
    Some((described(rule), Span::new(from, from + names.len())))
}

/// The rule whose name is at an offset of a text.
pub(super) fn in_text(text: &str, at: u32) -> Option<Answer> {
    let of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let (before, after) = text.split_at_checked(at as usize)?;
    let start = before.trim_end_matches(of_name).len();
    let end = text.len() - after.trim_start_matches(of_name).len();
    let rule = lint::find(text.get(start..end)?)?.rule;
    Some((described(rule), Span::new(start, end)))
}

fn described(rule: &Rule) -> String {
    let (name, group) = (rule.name, rule.group.as_str());
    let severity = rule.severity.as_str();
    let (summary, page, comes) = (rule.summary, rule_page(name), lint::consequence(rule));
    format!("**{name}** · {severity}, {group}\n\n{summary}\n\n{comes}\n\n[All about it]({page})\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_the_rule_under_the_pointer_else_the_first() {
        let comment = "# hcoplan: ignore[operator-panics, redundant-default] because";
        let said = |at: u32| {
            let (text, span) = in_comment(comment, 100, 100 + at)?;
            let name = text.split("**").nth(1)?.to_owned();
            Some((name, comment.get(span.start as usize - 100..span.end as usize - 100)?))
        };
        let names = "operator-panics, redundant-default";
        assert_eq!(said(20), Some(("operator-panics".into(), "operator-panics")));
        assert_eq!(said(40), Some(("redundant-default".into(), "redundant-default")));
        assert_eq!(said(2), Some(("operator-panics".into(), names)));
        assert_eq!(in_comment("# a comment", 0, 3), None);
        assert_eq!(in_comment("# hcoplan: ]ignore[", 0, 3), None);
        assert_eq!(in_comment("# hcoplan: ignore[nothing]", 0, 20), None);
    }
}
