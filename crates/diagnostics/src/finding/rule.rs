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

impl Group {
    /// Every group, in the catalogue's order (A to J).
    pub const ALL: [Self; 10] = [
        Self::Heterogeneous,
        Self::GoldenImages,
        Self::Jsonpatch,
        Self::Placement,
        Self::Admission,
        Self::Upgrade,
        Self::Gitops,
        Self::Operands,
        Self::Bundle,
        Self::Hygiene,
    ];

    /// The group's name as it is typed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Heterogeneous => "heterogeneous",
            Self::GoldenImages => "golden-images",
            Self::Jsonpatch => "jsonpatch",
            Self::Placement => "placement",
            Self::Admission => "admission",
            Self::Upgrade => "upgrade",
            Self::Gitops => "gitops",
            Self::Operands => "operands",
            Self::Bundle => "bundle",
            Self::Hygiene => "hygiene",
        }
    }
}

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

impl Confidence {
    /// `high`, `medium` or `low`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

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

impl Claim {
    /// `alert`, `rejected`, `reconcile-stops`, `no-effect`, `has-effect`, `becomes`, `breaks-on-upgrade` or
    /// `outside`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alert => "alert",
            Self::Rejected => "rejected",
            Self::ReconcileStops => "reconcile-stops",
            Self::NoEffect => "no-effect",
            Self::HasEffect => "has-effect",
            Self::Becomes => "becomes",
            Self::BreaksOnUpgrade => "breaks-on-upgrade",
            Self::Outside => "outside",
        }
    }
}

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

impl FixKind {
    /// `none`, `suggested`, `unsafe` or `safe`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Suggested => "suggested",
            Self::Unsafe => "unsafe",
            Self::Safe => "safe",
        }
    }
}

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

impl Needs {
    /// `document`, `plan` or `nodes`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Plan => "plan",
            Self::Nodes => "nodes",
        }
    }
}

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
