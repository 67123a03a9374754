//! Charts and the HTML report: what they hold, what they must not hold, and how the report behaves in
//! a browser.

#![cfg(test)] // the lints that spare tests then spare their helpers too

mod browser;
mod charts;
mod markup;
mod page;
mod report;
mod stored;
