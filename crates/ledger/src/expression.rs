//! Formulas of metrics: names of fields, numbers, `+`, `*` and brackets; `*` binds closer.

/// A formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A field of a run.
    Field(String),
    /// The sum of some.
    Sum(Vec<Expression>),
    /// The product of some.
    Product(Vec<Expression>),
}

impl Expression {
    /// Reads a formula.
    pub fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut rest = tokens.as_slice();
        let expression = sum(&mut rest)?;
        match rest.first() {
            None => Ok(expression),
            Some(token) => Err(format!("{text:?}: {token:?} is too much")),
        }
    }

    /// Its value; none where a field is missing.
    pub fn evaluate(&self, value_of: &dyn Fn(&str) -> Option<f64>) -> Option<f64> {
        match self {
            Expression::Number(number) => Some(*number),
            Expression::Field(name) => value_of(name),
            Expression::Sum(parts) => parts.iter().map(|part| part.evaluate(value_of)).sum(),
            Expression::Product(parts) => parts.iter().map(|part| part.evaluate(value_of)).product(),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<String>, String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_in_word = false;
    for letter in text.chars() {
        let is_word = letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
        match tokens.last_mut() {
            Some(word) if is_in_word && is_word => word.push(letter),
            _ if letter.is_whitespace() => {}
            _ if is_word || "+*()".contains(letter) => tokens.push(letter.to_string()),
            _ => {
                return Err(format!(
                    "{text:?}: {letter:?} has no meaning; known are names, numbers, + * ( )"
                ));
            }
        }
        is_in_word = is_word;
    }
    Ok(tokens)
}

fn sum(rest: &mut &[String]) -> Result<Expression, String> {
    chain(rest, "+", product, Expression::Sum)
}

fn product(rest: &mut &[String]) -> Result<Expression, String> {
    chain(rest, "*", atom, Expression::Product)
}

fn chain(
    rest: &mut &[String],
    sign: &str,
    part: fn(&mut &[String]) -> Result<Expression, String>,
    make: fn(Vec<Expression>) -> Expression,
) -> Result<Expression, String> {
    let first = part(rest)?;
    let mut parts = vec![first];
    while rest.first().is_some_and(|token| token == sign) {
        *rest = &rest[1..];
        parts.push(part(rest)?);
    }
    Ok(if parts.len() == 1 { parts.remove(0) } else { make(parts) })
}

fn atom(rest: &mut &[String]) -> Result<Expression, String> {
    let (token, after) = rest.split_first().ok_or("a formula ends too early")?;
    *rest = after;
    if token == "(" {
        let inner = sum(rest)?;
        return match rest.split_first() {
            Some((close, after)) if close == ")" => {
                *rest = after;
                Ok(inner)
            }
            _ => Err("a bracket is not closed".to_owned()),
        };
    }
    if let Ok(number) = token.parse() {
        return Ok(Expression::Number(number));
    }
    if token.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
        return Ok(Expression::Field(token.clone()));
    }
    Err(format!("{token:?} where a name or number should be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let fields = |name: &str| match name {
            "a" => Some(2.0),
            "b_c" => Some(5.0),
            _ => None,
        };
        Expression::parse(text).unwrap().evaluate(&fields)
    }

    #[test]
    fn products_bind_closer_than_sums_and_brackets_closest() {
        assert_eq!(value("a + b_c * 3"), Some(17.0));
        assert_eq!(value("(a + b_c) * 3"), Some(21.0));
        assert_eq!(value("1.5*a"), Some(3.0));
    }

    #[test]
    fn a_missing_field_makes_no_value() {
        assert_eq!(value("a + nothing"), None);
    }

    #[test]
    fn what_is_no_formula_is_refused() {
        for text in ["", "a +", "(a", "a b_c", "a - b_c", "a)"] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }
}
