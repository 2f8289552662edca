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

/// How sure a finding of the rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// Follows from rendered objects or recorded behaviour.
    High,
    /// Right unless something that git does not show says otherwise.
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

/// What will happen in the cluster when a finding is ignored.
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

/// What a finding of the rule says that can be asked of the planner: tests hold every finding of every
/// rule to it, over the recorded cases and the fixtures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Claim {
    /// The alert that the rule predicts fires.
    Alert,
    /// The HyperConverged is rejected, or the rule's subject is rejected by another operator.
    Rejected,
    /// The operator's reconcile stops.
    ReconcileStops,
    /// What stands at the finding's place does nothing: without it, every object and every gauge is
    /// the same.
    NoEffect,
    /// What stands at the finding's place decides something: without it, some object, gauge or verdict is
    /// another one.
    HasEffect,
    /// A field gets the value that the finding names, see [`super::PredictedValue`].
    Becomes,
    /// The next release does otherwise with the manifest, and the finding says what keeps it as it is, or
    /// that nothing does.
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
    /// Nothing mechanical.
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

/// What a rule has to be given before it can say anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// The files alone: it also looks at a HyperConverged that is rejected.
    Document,
    /// The rendered objects: the HyperConverged was accepted, or is rendered although it is rejected.
    Plan,
    /// What would be rendered, for nodes that are declared.
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
    /// What it is without configuration; the type of what may be configured follows from it.
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

/// A rule's metadata. Its check is registered in `lint`, its page lies in `docs/rules`.
#[derive(Debug)]
pub struct Rule {
    /// The stable name, kebab-case, naming the bad thing found.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// How bad a finding is unless configured otherwise.
    pub severity: Severity,
    /// How sure a finding is.
    pub confidence: Confidence,
    /// HCO releases it applies to, as `1.16`; empty = all.
    pub releases: &'static [&'static str],
    /// What the cluster will do.
    pub predicts: Prediction,
    /// What a silent rule claims, where the planner can be asked; see [`Rule::claim`].
    pub claims: Claim,
    /// What it has to be given; without it, the rule is skipped.
    pub needs: Needs,
    /// What it offers as a fix.
    pub fix: FixKind,
    /// Only runs when selected by name or with `--pedantic`.
    pub pedantic: bool,
    /// What can be configured about it.
    pub options: &'static [RuleOption],
    /// One line: what it finds.
    pub summary: &'static str,
}

impl Rule {
    /// What most rules have in common, to be spelled out only where a rule differs
    /// (`..Rule::BASE`). What every rule says for itself is empty here, and a test of the
    /// registry fails while it is.
    pub const BASE: Self = Self {
        name: "",
        group: Group::Hygiene,
        severity: Severity::Warning,
        confidence: Confidence::High,
        releases: &[],
        predicts: Prediction::Silent(""),
        claims: Claim::Outside,
        needs: Needs::Plan,
        fix: FixKind::None,
        pedantic: false,
        options: &[],
        summary: "",
    };

    /// A rule of the group whose findings are errors: its name and what is wrong, in one line.
    pub const fn error(name: &'static str, group: Group, summary: &'static str) -> Self {
        Self { name, group, severity: Severity::Error, summary, ..Self::BASE }
    }

    /// As [`Rule::error`], of warnings.
    pub const fn warning(name: &'static str, group: Group, summary: &'static str) -> Self {
        Self { severity: Severity::Warning, ..Self::error(name, group, summary) }
    }

    /// As [`Rule::error`], of infos.
    pub const fn info(name: &'static str, group: Group, summary: &'static str) -> Self {
        Self { severity: Severity::Info, ..Self::error(name, group, summary) }
    }

    /// With what will happen.
    #[must_use]
    pub const fn predicts(self, predicts: Prediction) -> Self {
        Self { predicts, ..self }
    }

    /// With the words of the API server or a webhook.
    #[must_use]
    pub const fn rejected(self, words: &'static str) -> Self {
        Self { predicts: Prediction::Rejection(words), ..self }
    }

    /// With the error that the operator's reconcile stops with.
    #[must_use]
    pub const fn stops(self, error: &'static str) -> Self {
        Self { predicts: Prediction::ReconcileError(error), ..self }
    }

    /// With what happens although nothing complains.
    #[must_use]
    pub const fn silent(self, what: &'static str) -> Self {
        Self { predicts: Prediction::Silent(what), ..self }
    }

    /// With what its findings claim.
    #[must_use]
    pub const fn claims(self, claims: Claim) -> Self {
        Self { claims, ..self }
    }

    /// With what it has to be given; else what would be rendered.
    #[must_use]
    pub const fn needs(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// With the fix that it offers.
    #[must_use]
    pub const fn fix(self, fix: FixKind) -> Self {
        Self { fix, ..self }
    }

    /// With how sure its findings are; else they are.
    #[must_use]
    pub const fn confidence(self, confidence: Confidence) -> Self {
        Self { confidence, ..self }
    }

    /// With the releases that it is about; else all.
    #[must_use]
    pub const fn releases(self, releases: &'static [&'static str]) -> Self {
        Self { releases, ..self }
    }

    /// With what `hcoplan.yaml` can set.
    #[must_use]
    pub const fn options(self, options: &'static [RuleOption]) -> Self {
        Self { options, ..self }
    }

    /// Only with `--pedantic`.
    #[must_use]
    pub const fn pedantic(self) -> Self {
        Self { pedantic: true, ..self }
    }

    /// What its findings say: what it predicts, else what it claims.
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
        self.releases.is_empty() || self.releases.contains(&release)
    }
}
