//! Rendering a template that a user's file holds: it sees the values it is given and nothing else (there
//! is no loader, so no other file), and ends after a bounded number of steps and bytes.

use std::io::{self, Write};

use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use crate::catalog::limits::{TEMPLATE_OUTPUT, TEMPLATE_STEPS};

/// The template filled in, or why it is not.
pub(super) fn render(name: &str, template: &str, values: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(TEMPLATE_STEPS));
    let mut page = Bounded::default();
    let rendered = environment.template_from_named_str(name, template)?.render_captured_to(values, &mut page);
    if page.is_full {
        let most = TEMPLATE_OUTPUT >> 20;
        let told = format!("the template writes more than {most} MiB (limit `template_output`)");
        return Err(Error::new(ErrorKind::WriteFailure, told));
    }
    rendered.map_err(|error| match error.kind() {
        ErrorKind::OutOfFuel => {
            let told = format!("the template takes more than {TEMPLATE_STEPS} steps (limit `template_steps`)");
            Error::new(ErrorKind::OutOfFuel, told)
        }
        _ => error,
    })?;
    // a template writes text, so that what was written is text
    Ok(String::from_utf8_lossy(&page.bytes).into_owned())
}

/// Takes bytes up to the limit.
#[derive(Default)]
struct Bounded {
    bytes: Vec<u8>,
    is_full: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > TEMPLATE_OUTPUT {
            self.is_full = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(template: &str) -> String {
        match render("page.md", template, minijinja::context! { title => "T" }) {
            Ok(page) => page,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_template_is_filled_in() {
        assert_eq!(told("# {{ title }}\n{% for n in range(3) %}{{ n }}{% endfor %}"), "# T\n012");
    }

    #[test]
    fn a_template_that_does_not_end_or_writes_too_much_is_ended() {
        let steps = "{% for a in range(9999) %}{% for b in range(9999) %}{% set c = b %}{% endfor %}{% endfor %}";
        assert!(told(steps).contains("limit `template_steps`"), "{}", told(steps));
        let bytes = "{% set a = 'x' * 1000000 %}{% for n in range(99) %}{{ a }}{% endfor %}";
        assert!(told(bytes).contains("limit `template_output`"), "{}", told(bytes));
    }

    #[test]
    fn a_template_reads_no_file() {
        for reading in
            ["{% include '/etc/hostname' %}", "{% import '/etc/hostname' as x %}", "{{ open('/etc/hostname') }}"]
        {
            let told = told(reading);
            assert!(told.contains("syntax error") || told.contains("unknown") || told.contains("not found"), "{told}");
        }
    }
}
