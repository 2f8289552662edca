//! Compares the architectures of virtual machines with a table written by hand.

use std::collections::BTreeMap;
use std::fs;

use hcoplan_planner::release::Release;

use super::load::Case;
use crate::{ArchitectureReason, GuestArchitecture, Settings};

const CLUSTERS: [&str; 4] = ["one", "mixed", "foreign", "off"];

fn read(name: &str) -> String {
    let root = hcoplan_testing::root().join("testdata/virtual_machines");
    fs::read_to_string(root.join(name)).expect("a table")
}

/// The rows by their first column.
fn table() -> BTreeMap<String, Vec<String>> {
    let text = read("table.txt");
    let lines = text.lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    lines
        .map(|line| {
            let mut cells = line.split('|').map(|c| c.trim().to_owned());
            let name = cells.next().expect("a name");
            (name, cells.collect())
        })
        .collect()
}

fn show(guest: &GuestArchitecture) -> String {
    let name = guest.name.as_deref().unwrap_or("?");
    match &guest.because {
        ArchitectureReason::Written => format!("written {name}"),
        ArchitectureReason::Preference(preference) => format!("preference {preference} {name}"),
        ArchitectureReason::DataSource(source) => format!("source {source} {name}"),
        ArchitectureReason::Default => format!("default {name}"),
        ArchitectureReason::Operator => format!("operator {name}"),
    }
}

#[test]
fn architectures_are_those_of_the_table() {
    let table = table();
    let machines = read("machines.yaml");
    let settings = Settings::default();
    let (mut seen, mut differences) = (0, Vec::new());
    for release in Release::known_names() {
        for (column, cluster) in CLUSTERS.iter().enumerate() {
            let text = read(&format!("{cluster}.yaml"));
            let (inventory, hyperconverged) = text.split_once("---\n").expect("two documents");
            let case = Case::with(hyperconverged, inventory, release);
            let cx = case.context(&settings, &machines);
            for vm in cx.virtual_machines() {
                let own = table.get(&format!("{} {release}", vm.name()));
                let row = own.or_else(|| table.get(vm.name()));
                let row = row.expect("a row of the table");
                let wanted = match row[column].as_str() {
                    "default" => &table[&format!("default {release}")][column],
                    cell => cell,
                };
                let got = show(&cx.guest_architecture(&vm));
                seen += 1;
                if got != *wanted {
                    let line = format!("{release} {cluster} {}: {got}, not {wanted}", vm.name());
                    differences.push(line);
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let rows = table.keys().filter(|name| !name.contains(' ')).count();
    assert!(rows >= 40, "{rows} virtual machines");
    assert_eq!(seen, rows * CLUSTERS.len() * Release::known_names().count());
}
