//! Reference media of requests: what a row or profile names → [`Reference`](super::Reference)s, read
//! and recognised, and the one route that each takes on an endpoint.
//!
//! A **relative** path stays in the folder of the file that names it, links followed; an **absolute**
//! path is taken as it is. Only regular files of up to [`LARGEST`] bytes are read, and only PNG, JPEG,
//! WebP and MP4 are sent, told by their bytes and not by their names. Fetches nothing.

mod check;
mod data_url;
mod file;
mod kind;
mod route;
mod take;

pub(crate) use check::Destination;
pub(crate) use kind::LARGEST;
pub(crate) use route::{LARGEST_TEXT_PART, Part, Routing, check_link, is_link_field};
pub(super) use take::References;
