//! The cost of a rule: bounds that are computed before it is parsed and evaluated, because the library has none.
//!
//! The API server gives the rules of an object a budget, too (`celconfig.RuntimeCELCostBudget`), and counts about the
//! same: a step for each part of an expression each time it is evaluated, and what it reads and makes by size.

use kube_cel::cel::common::ast::operators;
use kube_cel::cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue};
use serde_json::Value;

/// What all rules of an object may cost together.
pub(super) const BUDGET: u64 = 10_000_000;

/// The longest rule, its most parts, and how deep brackets may nest in it. Each part can be a call of the parser or
/// the evaluation on the stack.
const MAX_BYTES: usize = 10_000;
const MAX_PARTS: usize = 500;
const MAX_NESTED: usize = 24;

/// Why a rule isn't even parsed.
pub(super) fn too_large(rule: &str) -> Option<String> {
    let (mut parts, mut depth, mut deepest, mut quote) = (0, 0_usize, 0, None);
    let mut escaped = false;
    for byte in rule.bytes().take(MAX_BYTES + 1) {
        // A raw string ends earlier than it seems: then more is counted than there is.
        match quote {
            Some(mark) => {
                if byte == mark && !escaped {
                    quote = None;
                }
                escaped = byte == b'\\' && !escaped;
            }
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None => {
                parts += usize::from(byte.is_ascii_punctuation() && byte != b'_');
                match byte {
                    b'(' | b'[' | b'{' | b'?' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                deepest = deepest.max(depth);
            }
        }
    }
    let limit = if rule.len() > MAX_BYTES {
        format!("longer than {MAX_BYTES} bytes")
    } else if parts + rule.matches(" in ").count() > MAX_PARTS {
        format!("of more than {MAX_PARTS} parts")
    } else if deepest > MAX_NESTED {
        format!("nested deeper than {MAX_NESTED} brackets")
    } else {
        return None;
    };
    Some(format!("a CEL rule {limit} is not evaluated: {}…", rule.chars().take(40).collect::<String>()))
}

/// How large a value can be: of several that are possible, the largest.
#[derive(Debug, Clone, Default)]
struct Size {
    /// Its content: the number of values, and a sixteenth of the bytes of strings and keys. 1 is a number, or nothing.
    total: u64,
    /// Elements, keys or characters.
    count: u64,
    /// The size of an element; where that isn't known, of the value itself.
    each: Option<Box<Self>>,
}

impl Size {
    fn scalar() -> Self {
        Self { total: 1, count: 1, each: None }
    }

    /// The size of a value of which only the total is known.
    fn any(total: u64) -> Self {
        Self { total, count: total.saturating_mul(16), each: None }
    }

    fn text(bytes: usize) -> Self {
        Self { total: 1 + bytes.div_ceil(16) as u64, count: bytes as u64, each: None }
    }

    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::text(text.len()),
            Value::Array(items) => Self::list(items.iter().map(Self::of)),
            Value::Object(entries) => {
                let mut size = Self::list(entries.iter().flat_map(|(key, v)| [Self::text(key.len()), Self::of(v)]));
                size.count = entries.len() as u64;
                size
            }
            _ => Self::scalar(),
        }
    }

    fn list(items: impl Iterator<Item = Self>) -> Self {
        let mut all = Self { total: 1, count: 0, each: Some(Box::default()) };
        for item in items {
            all.total = all.total.saturating_add(item.total);
            all.count += 1;
            all.each = all.each.map(|each| Box::new(each.or(item)));
        }
        all
    }

    fn each(&self) -> Self {
        self.each.as_deref().unwrap_or(self).clone()
    }

    /// Either of the two.
    fn or(self, other: Self) -> Self {
        let each = match (&self.each, &other.each) {
            (None, None) => None,
            // A scalar beside a list: nothing is in it.
            _ if self.total <= 1 => other.each,
            _ if other.total <= 1 => self.each,
            _ => Some(Box::new(self.each().or(other.each()))),
        };
        Self { total: self.total.max(other.total), count: self.count.max(other.count), each }
    }

    /// Both, one after the other.
    fn and(self, other: Self) -> Self {
        let (total, count) = (self.total.saturating_add(other.total), self.count.saturating_add(other.count));
        Self { total, count, ..self.or(other) }
    }
}

/// An upper bound of what evaluating a rule costs.
pub(super) fn cost(rule: &IdedExpr, value: &Value, old: Option<&Value>) -> u64 {
    let mut names = vec![("self".to_owned(), Size::of(value))];
    names.extend(old.map(|old| ("oldSelf".to_owned(), Size::of(old))));
    let mut estimate = Estimate { names, cost: 0 };
    estimate.size(rule);
    estimate.cost
}

struct Estimate {
    /// Variables, inner ones last.
    names: Vec<(String, Size)>,
    cost: u64,
}

impl Estimate {
    fn pay(&mut self, cost: u64) {
        self.cost = self.cost.saturating_add(cost);
    }

    /// Adds what evaluating an expression costs; how large its value can be.
    fn size(&mut self, expr: &IdedExpr) -> Size {
        self.pay(1);
        match &expr.expr {
            Expr::Literal(LiteralValue::String(text)) => Size::text(text.inner().len()),
            Expr::Literal(LiteralValue::Bytes(bytes)) => Size::text(bytes.inner().len()),
            Expr::Literal(_) => Size::scalar(),
            Expr::Ident(name) => {
                let known = self.names.iter().rev().find(|(known, _)| known == name);
                known.map_or_else(Size::scalar, |(_, size)| size.clone())
            }
            Expr::Select(select) => {
                let operand = self.size(&select.operand);
                if select.test { Size::scalar() } else { operand.each() }
            }
            Expr::List(list) => {
                let items: Vec<Size> = list.elements.iter().map(|item| self.size(item)).collect();
                self.made(Size::list(items.into_iter()))
            }
            Expr::Map(map) => {
                let entries = map.entries.iter().flat_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => [&entry.key, &entry.value],
                    EntryExpr::StructField(field) => [&field.value, &field.value],
                });
                let entries: Vec<Size> = entries.map(|entry| self.size(entry)).collect();
                self.made(Size::list(entries.into_iter()))
            }
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            // Nothing evaluates these.
            Expr::Struct(_) | Expr::Unspecified => self.made(Size::any(u64::MAX)),
        }
    }

    /// Adds what it costs to make a value.
    fn made(&mut self, size: Size) -> Size {
        self.pay(size.total);
        size
    }

    fn call(&mut self, call: &CallExpr) -> Size {
        let operands = call.target.as_deref().into_iter().chain(&call.args);
        let sizes: Vec<Size> = operands.map(|operand| self.size(operand)).collect();
        let all = sizes.iter().fold(0_u64, |all, size| all.saturating_add(size.total));
        let mut sizes = sizes.into_iter();
        let either = |sizes: &mut dyn Iterator<Item = Size>| sizes.reduce(Size::or).unwrap_or_default();
        // The parser takes the library of a function for what it is called on.
        let library = match call.target.as_deref() {
            Some(IdedExpr { expr: Expr::Ident(name), .. }) if !self.names.iter().any(|(known, _)| known == name) => {
                name
            }
            _ => "",
        };
        match call.func_name.as_str() {
            operators::CONDITIONAL => {
                sizes.next();
                either(&mut sizes)
            }
            operators::INDEX | operators::OPT_INDEX | operators::OPT_SELECT => {
                sizes.next().map(|whole| whole.each()).unwrap_or_default()
            }
            operators::ADD => {
                let sum = sizes.reduce(Size::and).unwrap_or_default();
                if all <= 2 { Size::scalar() } else { self.made(sum) }
            }
            // Other operators make a number or a truth value.
            name if !name.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                self.pay(all);
                Size::scalar()
            }
            "range" | "lists.range" => {
                let most = match call.args.as_slice() {
                    [IdedExpr { expr: Expr::Literal(LiteralValue::Int(most)), .. }] => *most.inner(),
                    _ => i64::MAX,
                };
                let count = u64::try_from(most).unwrap_or_default();
                self.made(Size { total: count.saturating_add(1), count, each: Some(Box::new(Size::scalar())) })
            }
            // Each of the one with each of the other: bytes, of which a size counts sixteen as one.
            "replace" | "join" => self.made(Size::any(all.saturating_mul(all).saturating_mul(16))),
            "matches" | "find" | "findAll" => {
                // The expression is compiled each time, which takes long where it repeats a number of times.
                let plain = |expr: &IdedExpr| match &expr.expr {
                    Expr::Literal(LiteralValue::String(text)) => !text.inner().contains('{'),
                    _ => false,
                };
                let compiled = if call.args.first().is_some_and(plain) { 1_000 } else { 500_000 };
                self.pay(all.saturating_mul(16).saturating_add(compiled));
                self.made(Size::any(all))
            }
            name => {
                let compares = library == "sets"
                    || name.starts_with("sets.")
                    || matches!(name, "distinct" | "sort" | "isSorted" | "indexOf" | "lastIndexOf" | "flatten");
                self.pay(if compares { all.saturating_mul(all) } else { all });
                self.made(Size::any(all.saturating_mul(2).saturating_add(2)))
            }
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> Size {
        let range = self.size(&loops.iter_range);
        let first = self.size(&loops.accu_init);
        let (before, times) = (self.cost, range.count);
        let known = self.names.len();
        for name in [Some(&loops.iter_var), loops.iter_var2.as_ref()].into_iter().flatten() {
            self.names.push((name.clone(), range.each()));
        }
        self.names.push((loops.accu_var.clone(), first.clone()));
        self.size(&loops.loop_cond);
        let next = self.size(&loops.loop_step);
        // Each step adds to the result, as macros write it; no other expression can name it.
        let grown = |first: u64, next: u64| first.saturating_add(times.saturating_mul(next.saturating_sub(first)));
        let last = Size {
            total: grown(first.total, next.total).max(next.total),
            count: grown(first.count, next.count).max(next.count),
            each: next.each,
        };
        // An element and the result so far are copied each time.
        let step = (self.cost - before).saturating_add(range.each().total).saturating_add(last.total);
        self.cost = before.saturating_add(times.saturating_mul(step));
        if let Some((_, size)) = self.names.last_mut() {
            size.clone_from(&last);
        }
        let result = self.size(&loops.result);
        self.names.truncate(known);
        result
    }
}

#[cfg(test)]
mod tests {
    use kube_cel::cel::Program;
    use serde_json::json;

    use super::*;

    fn cost_of(rule: &str, value: &Value) -> u64 {
        assert_eq!(too_large(rule), None, "{rule}");
        cost(Program::compile(rule).expect("a rule").expression(), value, None)
    }

    #[test]
    fn allows_cheap_rules_and_rejects_nested_loops() {
        let list = json!((0..400).map(|i| json!({"name": format!("element-{i}")})).collect::<Vec<_>>());
        for cheap in [
            "self.all(x, x.name != '')",
            "self.all(x, self.exists_one(y, x.name.lowerAscii() == y.name.lowerAscii()))",
            "self.map(x, x.name).size() < 500",
            "self.filter(x, x.name.startsWith('a')).all(y, y.name.matches('^a'))",
        ] {
            assert!(cost_of(cheap, &list) < BUDGET, "{cheap}: {}", cost_of(cheap, &list));
        }
        for dear in [
            "self.all(x, self.all(y, self.all(z, x == z || y != z)))",
            "lists.range(1000000000).all(x, true)",
            "lists.range(self.size()).all(x, true)",
            "self.all(x, x.name.matches('((a{99}){99}){99}'))",
            "self.map(x, x.name).join(self.map(x, x.name).join()).size() > 0",
            "['0123456789'].map(x, x.replace('', x)).map(x, x.replace('', x)).map(x, x.replace('', x)) == []",
            "Struct{a: 1}.a == 1",
        ] {
            assert!(cost_of(dear, &list) > BUDGET, "{dear}: {}", cost_of(dear, &list));
        }
        let doubled = format!("['0123456789']{} == []", ".map(x, x + x)".repeat(40));
        assert!(cost_of(&doubled, &list) > BUDGET);
        let listed = format!("['0123456789']{} == []", ".map(x, [x, x])".repeat(40));
        assert!(cost_of(&listed, &list) > BUDGET);
    }

    #[test]
    fn limits_a_rules_text_before_parsing() {
        for (what, rule) in [
            ("brackets", "(".repeat(100_000) + "1"),
            ("lists", "[".repeat(30) + &"]".repeat(30)),
            ("operators", "1+".repeat(60_000) + "1"),
            ("signs", "-".repeat(600) + "1"),
            ("nots", "!".repeat(600) + "true"),
            ("fields", "self".to_owned() + &".a".repeat(600)),
            ("choices", "true?1:".repeat(30) + "1"),
            ("words", "1 in ".repeat(600) + "[]"),
            ("text", format!("self == '{}'", "x".repeat(20_000))),
        ] {
            assert!(too_large(&rule).is_some(), "{what}");
        }
        assert_eq!(too_large(&format!("self == '{}'", "(".repeat(600))), None);
    }

    #[test]
    fn large_rules_fit_a_small_stack() {
        let rules = [
            "(".repeat(24) + "1" + &")".repeat(24) + " == 1",
            "[".repeat(20) + &"]".repeat(20) + " == []",
            "1+".repeat(490) + "1 == 1",
            "!".repeat(490) + "true",
            "-".repeat(240) + "1 == 1",
            "self".to_owned() + &".a".repeat(490),
            "true?1:".repeat(20) + "1",
            "1 in ".repeat(400) + "[]",
            "true&&".repeat(240) + "true",
            "true||".repeat(240) + "true",
            "self".to_owned() + &"[0]".repeat(160),
            "[1]".to_owned() + &".map(x,x)".repeat(120) + " == []",
            "[1].all(x,".repeat(12) + "true" + &")".repeat(12),
        ];
        let run = move || {
            for rule in &rules {
                assert_eq!(too_large(rule), None, "{rule}");
                if let Ok(program) = Program::compile(rule) {
                    cost(program.expression(), &json!({}), None);
                    program.references();
                    let _ = program.execute(&kube_cel::cel::Context::default());
                }
            }
        };
        // What threads of a pool have, where nobody asks for more.
        let small = std::thread::Builder::new().stack_size(2 << 20).spawn(run);
        small.expect("a thread").join().expect("no rule panics");
    }
}
