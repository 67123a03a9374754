//! From the document to the typed scenario, with every problem on the way: an error at a path is
//! noted, that node dropped, the rest read again.

use super::fault::{Fault, explain};
use super::model::Scenario;
use super::node::{Data, Node};
use crate::diagnostic::{KeyPath, Place, Problem};

/// More problems than anyone reads at once; a broken file of any size is told in bounded time.
const MOST_PROBLEMS: usize = 100;

/// The scenario and the problems found; the scenario lacks whatever the problems are about.
pub(super) fn read(document: &Node) -> (Scenario, Vec<Problem>) {
    let mut work = document.clone();
    let mut problems: Vec<Problem> = Vec::new();
    loop {
        let error = match serde_path_to_error::deserialize::<_, Scenario>(&work) {
            Ok(scenario) => return (scenario, problems),
            Err(error) => error,
        };
        let path = resolve(&work, error.path(), error.inner());
        let dropped =
            work.at_mut(&path).is_some_and(|node| std::mem::replace(&mut node.data, Data::Dropped) != Data::Dropped);
        let follows = matches!(error.inner(), Fault::Missing(_))
            && problems.iter().any(|known| known.place == Place::Key && known.path.parent() == path);
        if !follows {
            problems.push(explain(error.inner(), path, document));
        }
        if problems.len() >= MOST_PROBLEMS {
            problems.push(Problem::value(KeyPath::root(), format!("there are more than {MOST_PROBLEMS} problems")));
        } else if dropped {
            continue;
        }
        return (Scenario::default(), problems);
    }
}

/// The path in the document; dropped elements are not counted by the reader but still stand in the tree.
fn resolve(work: &Node, path: &serde_path_to_error::Path, fault: &Fault) -> KeyPath {
    use serde_path_to_error::Segment;
    let mut resolved = KeyPath::root();
    let mut node = Some(work);
    for segment in path {
        resolved = match segment {
            Segment::Map { key } => resolved.key(key),
            Segment::Seq { index } => {
                let kept = node.and_then(Node::list).unwrap_or_default().iter().enumerate();
                let nth = kept.filter(|(_, node)| node.data != Data::Dropped).nth(*index);
                resolved.index(nth.map_or(*index, |(original, _)| original))
            }
            Segment::Enum { .. } | Segment::Unknown => break,
        };
        node = work.at(&resolved);
    }
    match fault {
        Fault::Unknown { key, .. } if node.is_some_and(|node| node.get(key).is_some()) => resolved.key(key),
        _ => resolved,
    }
}
