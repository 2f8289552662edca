//! The matrix as JSON, described by `schemas/matrix.schema.json`.

use super::MatrixPage;
use crate::prelude::*;
use hcoplan_analysis::matrix::{Cell, ClusterMatrix, Image, MachineRow, counts};
use hcoplan_planner::boot;

/// The matrix as JSON.
pub fn document(page: &MatrixPage<'_>) -> Value {
    let shown = page.clusters.iter().filter(|c| page.shows(c));
    let clusters: Vec<Value> = shown.map(|c| cluster(page, c)).collect();
    json!({"schemaVersion": "1", "clusters": clusters, "summary": counts(page.clusters)})
}

fn cluster<'a>(page: &MatrixPage<'a>, cluster: &'a ClusterMatrix) -> Value {
    let architectures = cluster.architectures.iter().map(|a| {
        json!({
            "name": a.name,
            "workloadNodes": a.workload_nodes,
            "controlPlaneNodes": a.control_plane_nodes,
        })
    });
    let images = cluster.images.iter();
    let images = images.filter(|i| !page.problems || i.is_problem());
    json!({
        "cluster": cluster.cluster,
        "release": Some(&cluster.release).filter(|r| !r.is_empty()),
        "multiArch": cluster.multi_arch,
        "architectures": architectures.collect::<Vec<_>>(),
        "blockedBy": cluster.obstacle.as_ref().map(|o| json!({
            "reason": o.name(),
            "message": o.sentence(),
        })),
        "virtualMachines": page.machines(cluster).into_iter().map(|m| machine(cluster, m)).collect::<Vec<_>>(),
        "images": images.map(|i| image(cluster, i)).collect::<Vec<_>>(),
    })
}

fn machine(cluster: &ClusterMatrix, machine: &MachineRow) -> Value {
    let columns = cluster.architectures.iter().zip(&machine.cells);
    let cells = columns.filter_map(|(architecture, cell)| Some((architecture, cell.as_ref()?)));
    let cells = cells.map(|(architecture, cell)| {
        let mut out = answer(cell.outcome, cell.cause.as_ref());
        out["architecture"] = json!(architecture.name);
        out
    });
    let mut out = answer(machine.outcome, machine.cause.as_ref());
    out["name"] = json!(machine.name);
    out["source"] = json!(machine.source);
    out["location"] = json!(machine.place);
    out["cells"] = cells.collect();
    out
}

fn answer(outcome: boot::BootOutcome, cause: Option<&boot::BootCause>) -> Value {
    json!({"outcome": outcome.as_str(), "message": cause.map(boot::BootCause::sentence)})
}

fn image(cluster: &ClusterMatrix, image: &Image) -> Value {
    let columns = cluster.architectures.iter().zip(&image.cells);
    let cells = columns.map(|(architecture, of_it)| {
        let mut out = cell(of_it);
        out["architecture"] = json!(architecture.name);
        out
    });
    json!({
        "namespace": image.namespace,
        "name": image.name,
        "templates": image.templates,
        "plainName": cell(&image.plain),
        "cells": cells.collect::<Vec<_>>(),
    })
}

fn cell(cell: &Cell) -> Value {
    json!({
        "state": cell.state,
        "reason": cell.reason.name(),
        "message": cell.reason.sentence(),
        "rule": cell.reason.rule(),
        "dataSource": cell.data_source,
        "dataImportCron": cell.cron,
        "imageArchitecture": cell.architecture.only(),
        "possibleArchitectures": cell.architecture.names(),
    })
}
