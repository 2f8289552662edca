//! Commands that change the HyperConverged beside what is declared.

use hcoplan_diagnostics::finding::Finding;
use hcoplan_repository::repo::{self, Command};

use super::Context;
use super::source::Source;

impl<'a> Context<'a> {
    /// The context with what reads the commands that are about the cluster. Without it, there are none.
    #[must_use]
    pub fn with_commands(mut self, read: impl Fn() -> Vec<Command> + 'a) -> Self {
        self.commands = Source::new(read);
        self
    }

    /// What becomes of each command that is about the cluster's HyperConverged.
    pub fn command_findings(&self) -> &[Finding] {
        self.command_findings.get_or_init(|| {
            let commands = self.commands.get(Vec::new).iter();
            let finding = |command: &Command| {
                let judged = command.judge(self.release(), self.inventory(), self.object());
                repo::command_finding(command, &judged, self.release().label())
            };
            commands.map(finding).collect()
        })
    }
}
