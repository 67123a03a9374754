//! Who this host is.

/// Name of this host, or `unknown`.
pub fn host_name() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    if name.is_empty() { "unknown".into() } else { name }
}
