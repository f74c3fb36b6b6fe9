//! What must hold between the keys of a workload.

use serde_json::{Map, Value};

use super::{Address, SizeDistribution, Workload};

/// Checks a workload and each of its flows. A trace may stand beside the keys of a generated workload, which are then not used.
pub(super) fn relations(workload: &Workload, messages: &mut Vec<String>) {
    flow("workload", workload, messages);
    for (index, keys) in workload.flows.iter().enumerate() {
        let path = format!("workload.flows[{index}]");
        match overlaid(workload, keys) {
            Ok(workload) => flow(&path, &workload, messages),
            Err(error) => messages.push(format!("{path}: {error}")),
        }
    }
    if workload.trace.as_deref() == Some("") {
        messages.push("workload.trace = \"\": must name a file; leave it out to generate requests".into());
    }
}

/// The workload that a flow stands for: its own keys over those of the first flow.
fn overlaid(workload: &Workload, keys: &Map<String, Value>) -> serde_json::Result<Workload> {
    let mut tree = serde_json::to_value(workload)?;
    tree["flows"] = Value::Array(Vec::new());
    for (key, value) in keys {
        tree[key] = value.clone();
    }
    serde_json::from_value(tree)
}

fn flow(path: &str, workload: &Workload, messages: &mut Vec<String>) {
    if workload.request_size == SizeDistribution::Table {
        size_table(path, workload, messages);
    }
    let hot = workload.hot_share;
    if workload.address == Address::HotCold && !(hot > 0.0 && hot < 1.0) {
        messages.push(format!(
            "{path}.hot_share = {hot}: must be greater than 0 and less than 1 for {path}.address = \"hot-cold\"; for one part alone choose \
             \"uniform\""
        ));
    }
    let align = workload.align_kb;
    if (align * 2.0).fract() != 0.0 {
        messages.push(format!("{path}.align_kb = {align}: must be whole sectors of 512 bytes, a multiple of 0.5"));
    }
}

fn size_table(path: &str, workload: &Workload, messages: &mut Vec<String>) {
    let table = &workload.size_table;
    let needs = "needs pairs of a size in KB and a weight, as [[4, 3], [64, 1]]";
    if table.is_empty() {
        return messages.push(format!("{path}.size_table = []: {path}.request_size = \"table\" {needs}"));
    }
    for (index, &(size_kb, weight)) in table.iter().enumerate() {
        if !(0.5..=1_048_576.0).contains(&size_kb) {
            messages.push(format!("{path}.size_table[{index}]: the size {size_kb} KB must be from 0.5 to 1048576"));
        }
        if !(0.0..=1e12).contains(&weight) {
            messages.push(format!("{path}.size_table[{index}]: the weight {weight} must be from 0 to 1000000000000"));
        }
    }
    if table.iter().all(|&(_, weight)| weight == 0.0) {
        messages.push(format!("{path}.size_table: at least one weight must be greater than 0"));
    }
}
