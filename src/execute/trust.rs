//! Whom to trust behind an `https` URL.

use reqwest::Certificate;

/// The certificates of a PEM file; the error names the file and what is wrong with it.
pub fn authorities(file: &str) -> Result<Vec<Certificate>, String> {
    let wrong = |why: &str| format!("`{file}` {why}");
    let text = fs_err::read(file).map_err(|error| error.to_string())?;
    let found = Certificate::from_pem_bundle(&text).map_err(|_| wrong("holds a certificate that cannot be read"))?;
    if found.is_empty() {
        return Err(wrong("holds no certificate; it must have a `-----BEGIN CERTIFICATE-----` block"));
    }
    // a certificate is only looked into when it is put to use
    let used = reqwest::Client::builder().no_proxy().tls_certs_only(found.clone()).build();
    used.map(|_| found).map_err(|_| wrong("holds a certificate that cannot be used"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_without_a_usable_certificate_are_refused_by_name() {
        drop(rustls::crypto::ring::default_provider().install_default());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let file = path.to_str().unwrap();
        assert!(authorities(file).unwrap_err().contains(file), "absent");
        for (text, why) in [
            ("", "holds no certificate; it must have a `-----BEGIN CERTIFICATE-----` block"),
            (
                "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n",
                "holds a certificate that cannot be read",
            ),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "holds a certificate that cannot be used",
            ),
        ] {
            fs_err::write(&path, text).unwrap();
            assert_eq!(authorities(file).unwrap_err(), format!("`{file}` {why}"));
        }
    }
}
