//! Reference media of requests: what a row or profile names → [`Reference`](super::Reference)s, read
//! and recognised, and the one route that each takes on an endpoint.
//!
//! In a data file, a **relative** path stays in the folder of the file that names it, links followed; an **absolute**
//! path is taken as it is, and so are the paths of a scenario's own profiles. Only regular files of up to 256 MiB are read, and only PNG, JPEG,
//! WebP and MP4 are sent, told by their bytes and not by their names. Fetches nothing.

mod check;
mod data_url;
mod file;
mod kind;
mod route;
mod take;
#[cfg(test)]
mod tests;

pub(crate) use check::Destination;
pub(crate) use route::{LARGEST_TEXT_PART, Part, Routing, check_link};
pub(super) use take::References;
pub(crate) use take::is_media_column;
