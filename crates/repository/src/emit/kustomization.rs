//! Writes a cluster's directory as a kustomization, for tools that need one.
//!
//! The objects' files stay as the operators create them. The build adds two annotations: Flux doesn't apply objects
//! with the first one, as the operators own them, and doesn't substitute variables (`${name}`, `postBuild`) in objects
//! with the second one.

use hcoplan_yaml as yaml;

/// The file's name.
pub const KUSTOMIZATION: &str = "kustomization.yaml";

const HEAD: &str = "\
# Rendered by hcoplan, for review: HCO and SSP own these objects. The annotations keep Flux from
# applying them, and from substituting variables in them.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
transformers:
- |-
  apiVersion: builtin
  kind: AnnotationsTransformer
  metadata:
    name: hcoplan
  annotations:
    kustomize.toolkit.fluxcd.io/reconcile: disabled
    kustomize.toolkit.fluxcd.io/substitute: disabled
  fieldSpecs:
  - path: metadata/annotations
    create: true
";

/// The kustomization of these files.
pub(super) fn text<'n>(files: impl Iterator<Item = &'n str>) -> String {
    let files: Vec<&str> = files.collect();
    format!("{HEAD}{}", yaml::emit(&serde_json::json!({"resources": files})))
}
