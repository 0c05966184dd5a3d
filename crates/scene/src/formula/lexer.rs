//! Text to tokens.

use super::FormulaError;

/// A token and where it begins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind<'a>,
    pub(super) at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum TokenKind<'a> {
    Number(f64),
    /// A name, with the number of primes that follow it.
    Name(&'a str, usize),
    /// An operator, a parenthesis or a comma.
    Sign(&'static str),
    End,
}

impl TokenKind<'_> {
    /// As a user reads it.
    pub(super) fn shown(&self) -> String {
        match self {
            TokenKind::Number(v) => format!("the number {v}"),
            TokenKind::Name(name, primes) => format!("`{name}{}`", "'".repeat(*primes)),
            TokenKind::Sign(s) => format!("`{s}`"),
            TokenKind::End => "the end".into(),
        }
    }
}

/// Two-character signs first.
const SIGNS: [&str; 15] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ",", "="];

/// Reads tokens one by one.
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn next(&mut self) -> Result<Token<'a>, FormulaError> {
        let rest = self.text[self.at..].trim_start();
        let at = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else { return Ok(Token { kind: TokenKind::End, at }) };
        let (kind, length) = if first.is_ascii_digit() || first == '.' {
            number(rest, at)?
        } else if first.is_ascii_alphabetic() || first == '_' {
            let n = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
            let primes = rest[n..].chars().take_while(|c| *c == '\'').count();
            (TokenKind::Name(&rest[..n], primes), n + primes)
        } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
            if *sign == "=" {
                return Err(FormulaError::new(at, "`=` is not an operator: compare with `==`"));
            }
            (TokenKind::Sign(sign), sign.len())
        } else {
            return Err(FormulaError::new(at, format!("unexpected character `{}`", first.escape_default())));
        };
        self.at = at + length;
        Ok(Token { kind, at })
    }
}

/// A decimal number: digits, a point, an exponent.
fn number(rest: &str, at: usize) -> Result<(TokenKind<'_>, usize), FormulaError> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut n = digits(0);
    if bytes.get(n) == Some(&b'.') {
        n += 1 + digits(n + 1);
    }
    if matches!(bytes.get(n), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(n + 1), Some(b'+' | b'-')));
        let exponent = digits(n + 1 + sign);
        if exponent > 0 {
            n += 1 + sign + exponent;
        }
    }
    let text = &rest[..n];
    match text.parse::<f64>() {
        Ok(v) if v.is_finite() => {
            if bytes.get(n).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b == b'.') {
                let message = format!("`{}` follows the number {text}: is a `*` missing?", bytes[n] as char);
                return Err(FormulaError::new(at + n, message));
            }
            Ok((TokenKind::Number(v), n))
        }
        Ok(_) => Err(FormulaError::new(at, format!("the number {text} is too large"))),
        Err(_) => Err(FormulaError::new(at, format!("`{text}` is not a number"))),
    }
}
