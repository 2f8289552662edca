//! Where virtctl is downloaded from. Source: HCO `controllers/handlers/cliDownload.go`.

use hcoplan_kubernetes::Object;

use super::{Context, Error};

/// On OpenShift; the names of host and namespace are the release data's placeholders.
pub(super) fn render(cx: &Context<'_>) -> Result<Vec<Object>, Error> {
    Ok(cx.constants(&[
        "ConsoleCLIDownload/virtctl-clidownloads-kubevirt-hyperconverged",
        "Route/hyperconverged-cluster-cli-download",
        "Service/hyperconverged-cluster-cli-download",
    ]))
}
