//! Numbers → text: one table model; Markdown, CSV, JSON, terminal; the dashboard page.
