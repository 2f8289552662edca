//! Invalid combinations of certificate durations.

use hcoplan_kubernetes::duration::{self, Duration};
use hcoplan_planner::admission::stored_if_accepted;

use super::prelude::*;

/// Pairs where the first must not be longer than the second, and the reason.
static ORDER: Rows<(&str, &str, &str)> = Rows::of("certificateOrder");

/// The minimum of each duration.
const MINIMUM: Duration = Duration(10 * 60 * 1_000_000_000);

pub(super) fn check(cx: &Context<'_>, out: &mut Sink) {
    let Some(config) = cx.field("certConfig").path() else {
        return;
    };
    let stored = stored(cx, &config);
    let is_ours = |r| matches!(r, Reason::CertificateTooShort | Reason::CertificateOrder);
    if let Some(finding) = cx.rejected(is_ours) {
        let mistakes = mistakes(cx, &config, &stored);
        let named = cx.admission().causes.first().map(|c| &c.path);
        // The webhook reports one error; the others would be reported next.
        let first = mistakes.iter().find(|m| match cx.admission().reason {
            Some(Reason::CertificateTooShort) => Some(&config.below(m.named)) == named,
            _ => m.is_order,
        });
        let Some(first) = first else {
            out.reject(finding);
            return;
        };
        let mut help = first.help.clone();
        let mut finding = finding.at(first.place.clone()).label(first.text.clone());
        if let Some((place, text)) = &first.there {
            finding = finding.related(place.clone(), text.clone());
        }
        for other in mistakes.iter().filter(|m| !std::ptr::eq(*m, first)) {
            finding = finding.related(other.place.clone(), other.text.clone());
            help = format!("{help}; {}", other.help);
        }
        out.reject(finding.help(help));
    } else {
        equal_ones(cx, &config, &stored, out);
    }
}

/// An effective duration.
struct Setting<'c> {
    config: &'c Path,
    name: &'static str,
    value: Duration,
}

impl Setting<'_> {
    fn is_written(&self, cx: &Context<'_>) -> bool {
        let config = cx.root().at(self.config);
        config.is_some_and(|c| c.below(self.name).is_some())
    }

    fn describe(&self, cx: &Context<'_>) -> String {
        let by_default = if self.is_written(cx) { "" } else { " by default" };
        format!("{} is {}{by_default}", self.name, self.value)
    }

    fn place(&self, cx: &Context<'_>) -> Location {
        cx.locate(&self.config.below(self.name))
    }
}

fn setting<'c>(config: &'c Path, stored: &Json, name: &'static str) -> Option<Setting<'c>> {
    let value = tree::get(stored, name)?;
    Some(Setting { config, name, value: duration::parse(value.as_str()?).ok()? })
}

/// The stored settings, or those that would be stored.
fn stored(cx: &Context<'_>, config: &Path) -> Json {
    let settings = |object: &Json| config.get(object).cloned();
    let settings = match cx.admission().stored.as_ref().or(cx.admission().forced.as_ref()) {
        Some(object) => settings(object),
        None => stored_if_accepted(cx.release(), cx.inventory(), cx.object()).as_ref().and_then(settings),
    };
    settings.unwrap_or_default()
}

/// The pairs of [`ORDER`] with their effective settings.
fn pairs<'c>(
    config: &'c Path,
    stored: &'c Json,
) -> impl Iterator<Item = (Setting<'c>, Setting<'c>, &'static str)> + 'c {
    ORDER.iter().filter_map(move |&(short, long, consequence)| {
        let short = setting(config, stored, short)?;
        Some((short, setting(config, stored, long)?, consequence))
    })
}

/// A rejected setting.
struct Mistake {
    /// The setting's name below `certConfig`.
    named: &'static str,
    /// Its location.
    place: Location,
    /// The error.
    text: String,
    /// Whether it contradicts another setting.
    is_order: bool,
    /// The other setting, if it is written.
    there: Option<(Location, String)>,
    /// The help.
    help: String,
}

/// All errors, in the webhook's order.
fn mistakes(cx: &Context<'_>, config: &Path, stored: &Json) -> Vec<Mistake> {
    let names = ["ca.duration", "ca.renewBefore", "server.duration", "server.renewBefore"];
    let all = names.into_iter().filter_map(|n| setting(config, stored, n));
    let short = all.filter(|s| s.value < MINIMUM).map(|s| Mistake {
        named: s.name,
        place: s.place(cx),
        text: format!("{}: shorter than ten minutes", s.describe(cx)),
        is_order: false,
        there: None,
        help: format!("write ten minutes (10m) or more for {}", s.name),
    });
    let mut out: Vec<Mistake> = short.collect();
    for (short, long, _) in pairs(config, stored) {
        if short.value <= long.value {
            continue;
        }
        let (here, there) = if short.is_written(cx) { (&short, &long) } else { (&long, &short) };
        let both = here.is_written(cx) && there.is_written(cx);
        let too = if both { "" } else { ": write both" };
        out.push(Mistake {
            named: here.name,
            place: here.place(cx),
            text: format!("{}, but {}", here.describe(cx), there.describe(cx)),
            is_order: true,
            there: there.is_written(cx).then(|| (there.place(cx), there.describe(cx))),
            help: format!("{} must not be longer than {}{too}", short.name, long.name),
        });
    }
    out
}

fn equal_ones(cx: &Context<'_>, config: &Path, stored: &Json, out: &mut Sink) {
    for (short, long, consequence) in pairs(config, stored) {
        if short.value != long.value {
            continue;
        }
        let here = if short.is_written(cx) { &short } else { &long };
        let message = format!("{} and {} are both {}: {consequence}", short.name, long.name, short.value);
        out.report(
            cx.finding(message)
                .at(here.place(cx))
                .label("accepted")
                .help(format!("make {} shorter than {}", short.name, long.name))
                .info(),
        );
    }
}
