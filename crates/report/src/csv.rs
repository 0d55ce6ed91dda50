//! Lines of comma-separated values as RFC 4180 has them, with a plain newline at the end.

/// One line; a field with a comma, quote or line break is quoted.
pub(crate) fn line<Field: AsRef<str>>(fields: impl IntoIterator<Item = Field>) -> String {
    let mut line = String::new();
    for (index, field) in fields.into_iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        let field = field.as_ref();
        if field.contains([',', '"', '\n', '\r']) {
            line.push('"');
            line.push_str(&field.replace('"', "\"\""));
            line.push('"');
        } else {
            line.push_str(field);
        }
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn fields_with_commas_and_quotes_are_quoted() {
        assert_eq!(line(["a", "f(int, char)", "say \"no\"", ""]), "a,\"f(int, char)\",\"say \"\"no\"\"\",\n");
    }
}
