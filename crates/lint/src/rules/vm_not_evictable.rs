//! A virtual machine that requires migration but can't be migrated.

use super::prelude::*;

const STRATEGY: &str = "evictionStrategy";

pub(super) fn find(cx: &Context<'_>, (vm, verdict): &(VirtualMachine<'_>, &Verdict)) -> Option<Finding> {
    let own = vm.text(STRATEGY);
    if verdict.spec[STRATEGY] != "LiveMigrate" {
        return None;
    }
    let found = cx.migration_obstacles(vm, verdict);
    let mut causes = found.into_iter().map(|(path, obstacle)| {
        let path = vm.path(&path);
        let place = cx.access_modes_place(vm, &path).unwrap_or_else(|| vm.document.locate_key(&path));
        (place, obstacle)
    });
    let (place, cause) = causes.next()?;
    let whose = if own.is_some() { "its" } else { "the cluster's" };
    let message = format!("{vm} can't be migrated ({cause}), but {whose} evictionStrategy is LiveMigrate");
    let mut finding = vm
        .finding(cx, message)
        .at(place)
        .label(cause.clone())
        .help("remove what prevents the migration, or use LiveMigrateIfPossible");
    for (place, cause) in causes {
        finding = finding.related(place, cause);
    }
    let field = cx.field(STRATEGY);
    let place = own.map(|_| vm.place(STRATEGY)).or_else(|| field.is_set().then(|| field.value_place()));
    finding = with_related(finding, place, "drains wait for a migration");
    Some(finding.fixes(suggested_change(vm.document, Change::Set(vm.path(STRATEGY), "LiveMigrateIfPossible".into()))))
}
