//! What a rule is, as data.

use super::Severity;

/// The catalogue's groups; each is also a name for `--select` and `--ignore`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Group {
    /// Clusters whose nodes have several architectures.
    Heterogeneous,
    /// Golden images: DataImportCronTemplates, DataImportCrons, DataSources.
    GoldenImages,
    /// The jsonpatch annotations.
    Jsonpatch,
    /// Node placement and topology.
    Placement,
    /// What the API server or a webhook rejects, or accepts by mistake.
    Admission,
    /// What an upgrade changes.
    Upgrade,
    /// How the manifests are kept in git.
    Gitops,
    /// Operand objects that are also managed elsewhere.
    Operands,
    /// Operators' bundles that claim to be multi-arch.
    Bundle,
    /// YAML itself, and the inventory.
    Hygiene,
}

hcoplan_kubernetes::names!(Group {
    Heterogeneous = "heterogeneous",
    GoldenImages = "golden-images",
    Jsonpatch = "jsonpatch",
    Placement = "placement",
    Admission = "admission",
    Upgrade = "upgrade",
    Gitops = "gitops",
    Operands = "operands",
    Bundle = "bundle",
    Hygiene = "hygiene",
});

/// How certain a finding of the rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Follows from rendered objects or recorded behaviour.
    High,
    /// Right unless something outside of git contradicts it.
    Medium,
    /// A hint; only with `--pedantic`.
    Low,
}

hcoplan_kubernetes::names!(Confidence { High = "high", Medium = "medium", Low = "low" });

/// What happens in the cluster when a finding is ignored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prediction {
    /// An alert fires.
    Alert {
        /// The alert's name.
        name: &'static str,
        /// Its runbook's address.
        runbook: &'static str,
    },
    /// The API server or a webhook rejects the object, in these words.
    Rejection(&'static str),
    /// The operator's reconcile stops, with this error.
    ReconcileError(&'static str),
    /// No alert and no rejection: what happens instead.
    Silent(&'static str),
}

/// What the findings of a rule claim about the plan. Tests check every finding with the planner, over the
/// recorded cases and the fixtures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// The alert that the rule predicts fires.
    Alert,
    /// The HyperConverged is rejected, or the rule's subject is rejected by another operator.
    Rejected,
    /// The operator's reconcile stops.
    ReconcileStops,
    /// The text at the finding's location does nothing: without it, every object and every metric is
    /// the same.
    NoEffect,
    /// The text at the finding's location matters: without it, some object, metric or verdict
    /// differs.
    HasEffect,
    /// A field gets the value that the finding names, see [`super::PredictedValue`].
    Becomes,
    /// The next release treats the manifest differently. The finding names the change that keeps the result, or
    /// states that none does.
    BreaksOnUpgrade,
    /// The planner can't know it; the page's sources are the evidence.
    Outside,
}

hcoplan_kubernetes::names!(Claim {
    Alert = "alert",
    Rejected = "rejected",
    ReconcileStops = "reconcile-stops",
    NoEffect = "no-effect",
    HasEffect = "has-effect",
    Becomes = "becomes",
    BreaksOnUpgrade = "breaks-on-upgrade",
    Outside = "outside",
});

/// What the rule offers as a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FixKind {
    /// None.
    None,
    /// Edits to choose from.
    Suggested,
    /// An edit that needs `--unsafe`.
    Unsafe,
    /// An edit that is applied by `fix --write`.
    Safe,
}

hcoplan_kubernetes::names!(FixKind {
    None = "none",
    Suggested = "suggested",
    Unsafe = "unsafe",
    Safe = "safe",
});

/// The input that a rule needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// The files alone: the rule also checks a HyperConverged that is rejected.
    Document,
    /// The rendered objects: the HyperConverged was accepted, or is rendered although it is rejected.
    Plan,
    /// The rendered objects, for declared nodes.
    Nodes,
}

hcoplan_kubernetes::names!(Needs { Document = "document", Plan = "plan", Nodes = "nodes" });

/// Something about a rule that `hcoplan.yaml` can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleOption {
    /// The key below the rule's name, kebab-case.
    pub name: &'static str,
    /// The value without configuration, which also determines the type.
    pub default: OptionValue,
    /// What it does, one sentence.
    pub doc: &'static str,
}

/// The value of a [`RuleOption`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionValue {
    /// A switch.
    Flag(bool),
    /// A count.
    Number(u64),
    /// A list of names.
    Names(&'static [&'static str]),
}

/// A rule's metadata, from the head of its page in `docs/rules`. Its check is registered in `lint`.
#[derive(Debug)]
pub struct Rule {
    /// The stable name, kebab-case, which names the problem.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// The severity of a finding unless configured otherwise.
    pub severity: Severity,
    /// How certain a finding is.
    pub confidence: Confidence,
    /// The first HCO release that it applies to, as `1.17`.
    pub since: Option<&'static str>,
    /// The last HCO release that it applies to.
    pub until: Option<&'static str>,
    /// What the cluster will do.
    pub predicts: Prediction,
    /// What a silent rule claims, where the planner can be asked; see [`Rule::claim`].
    pub claims: Claim,
    /// The input that it needs; without it, the rule is skipped.
    pub needs: Needs,
    /// The kind of fix that it offers.
    pub fix: FixKind,
    /// Only runs when selected by name or with `--pedantic`.
    pub pedantic: bool,
    /// Its options in `hcoplan.yaml`.
    pub options: &'static [RuleOption],
    /// What it finds, in one line.
    pub summary: &'static str,
}

impl Default for &'static Rule {
    fn default() -> Self {
        static BASE: Rule = Rule::BASE;
        &BASE
    }
}

impl Rule {
    /// The defaults of most rules, for `..Rule::BASE`. Fields that every rule must set are empty here; a test of the
    /// registry fails while one still is.
    pub const BASE: Self = Self {
        name: "",
        group: Group::Hygiene,
        severity: Severity::Warning,
        confidence: Confidence::High,
        since: None,
        until: None,
        predicts: Prediction::Silent(""),
        claims: Claim::Outside,
        needs: Needs::Plan,
        fix: FixKind::None,
        pedantic: false,
        options: &[],
        summary: "",
    };

    /// What its findings claim: set explicitly, or derived from what the rule predicts.
    pub const fn claim(&self) -> Claim {
        match self.predicts {
            Prediction::Alert { .. } => Claim::Alert,
            Prediction::Rejection(_) => Claim::Rejected,
            Prediction::ReconcileError(_) => Claim::ReconcileStops,
            Prediction::Silent(_) => self.claims,
        }
    }

    /// Whether the rule applies to an HCO release such as `1.17`.
    pub fn applies_to(&self, release: &str) -> bool {
        let numbers = |text: &str| -> Vec<u64> { text.split('.').filter_map(|n| n.parse().ok()).collect() };
        let release = numbers(release);
        self.since.is_none_or(|first| numbers(first) <= release)
            && self.until.is_none_or(|last| release <= numbers(last))
    }
}
