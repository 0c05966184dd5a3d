//! Parses tokens into a tree, stored flat: children precede their parents, so that no later pass recurses.

use super::lexer::{Lexer, Token, TokenKind};
use super::{FormulaError, MAX_DEPTH, MAX_TEXT};

/// A parsed formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    /// Where it stands in the text.
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum NodeKind {
    Number(f64),
    /// A name and its primes.
    Name(String, usize),
    Negate(usize),
    Not(usize),
    Binary(&'static str, usize, usize),
    Call(String, Vec<usize>),
}

/// Parses a formula.
pub fn parse(text: &str) -> Result<Tree, FormulaError> {
    if text.len() > MAX_TEXT {
        let message = format!("the formula has {} bytes, at most {MAX_TEXT} are possible", text.len());
        return Err(FormulaError::new(0, message));
    }
    let mut lexer = Lexer::new(text);
    let token = lexer.next()?;
    let mut parser = Parser { lexer, token, nodes: Vec::new(), depth: 0 };
    if parser.token.kind == TokenKind::End {
        return Err(FormulaError::new(0, "the formula is empty"));
    }
    parser.binary(0)?;
    match parser.token.kind {
        TokenKind::End => Ok(Tree { nodes: parser.nodes }),
        TokenKind::Sign(")") => Err(FormulaError::new(parser.token.at, "`)` without `(`")),
        other => {
            let message = format!("expected an operator or the end, found {}", other.shown());
            Err(FormulaError::new(parser.token.at, message))
        }
    }
}

/// Left-associative operators, weakest first. `not` stands between `and` and the comparisons.
const LEVELS: [&[&str]; 5] = [&["or"], &["and"], &["<", "<=", ">", ">=", "==", "!="], &["+", "-"], &["*", "/"]];
const COMPARISONS: usize = 2;

struct Parser<'a> {
    lexer: Lexer<'a>,
    token: Token<'a>,
    nodes: Vec<Node>,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), FormulaError> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    fn push(&mut self, kind: NodeKind, at: usize) -> usize {
        self.nodes.push(Node { kind, at });
        self.nodes.len() - 1
    }

    /// The operator of a level at the present token.
    fn operator(&self, level: usize) -> Option<&'static str> {
        let word = match self.token.kind {
            TokenKind::Sign(s) => s,
            TokenKind::Name(name, 0) => name,
            _ => return None,
        };
        LEVELS[level].iter().find(|o| **o == word).copied()
    }

    fn deeper<R>(&mut self, f: impl FnOnce(&mut Self) -> Result<R, FormulaError>) -> Result<R, FormulaError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(FormulaError::new(self.token.at, format!("nested deeper than {MAX_DEPTH}")));
        }
        let result = f(self);
        self.depth -= 1;
        result
    }

    fn binary(&mut self, level: usize) -> Result<usize, FormulaError> {
        if level == LEVELS.len() {
            return self.unary();
        }
        if level == COMPARISONS && matches!(self.token.kind, TokenKind::Name("not", 0)) {
            let at = self.token.at;
            self.advance()?;
            let inner = self.deeper(|p| p.binary(COMPARISONS))?;
            return Ok(self.push(NodeKind::Not(inner), at));
        }
        let mut left = self.binary(level + 1)?;
        let mut compared = false;
        while let Some(operator) = self.operator(level) {
            let at = self.token.at;
            if level == COMPARISONS && compared {
                return Err(FormulaError::new(at, "comparisons do not chain: write `a < b and b < c`"));
            }
            compared = true;
            self.advance()?;
            let right = self.binary(level + 1)?;
            left = self.push(NodeKind::Binary(operator, left, right), at);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<usize, FormulaError> {
        let at = self.token.at;
        match self.token.kind {
            TokenKind::Sign("-") => {
                self.advance()?;
                let inner = self.deeper(Self::unary)?;
                Ok(self.push(NodeKind::Negate(inner), at))
            }
            TokenKind::Sign("+") => {
                self.advance()?;
                self.deeper(Self::unary)
            }
            _ => self.power(),
        }
    }

    fn power(&mut self) -> Result<usize, FormulaError> {
        let base = self.primary()?;
        if self.token.kind != TokenKind::Sign("^") {
            return Ok(base);
        }
        let at = self.token.at;
        self.advance()?;
        let exponent = self.deeper(Self::unary)?;
        Ok(self.push(NodeKind::Binary("^", base, exponent), at))
    }

    fn primary(&mut self) -> Result<usize, FormulaError> {
        let Token { kind, at } = self.token;
        match kind {
            TokenKind::Number(v) => {
                self.advance()?;
                Ok(self.push(NodeKind::Number(v), at))
            }
            TokenKind::Name(name @ ("and" | "or" | "not"), 0) => {
                Err(FormulaError::new(at, format!("`{name}` stands where a value is expected")))
            }
            TokenKind::Name(name, primes) => {
                let name = name.to_string();
                self.advance()?;
                if self.token.kind != TokenKind::Sign("(") {
                    return Ok(self.push(NodeKind::Name(name, primes), at));
                }
                if primes > 0 {
                    return Err(FormulaError::new(at, format!("`{name}` is called with a prime")));
                }
                let arguments = self.arguments(&name, at)?;
                Ok(self.push(NodeKind::Call(name, arguments), at))
            }
            TokenKind::Sign("(") => {
                self.advance()?;
                let inner = self.deeper(|p| p.binary(0))?;
                if self.token.kind != TokenKind::Sign(")") {
                    return Err(self.unclosed(at));
                }
                self.advance()?;
                Ok(inner)
            }
            other => Err(FormulaError::new(at, format!("expected a value, found {}", other.shown()))),
        }
    }

    fn arguments(&mut self, name: &str, at: usize) -> Result<Vec<usize>, FormulaError> {
        let open = self.token.at;
        self.advance()?;
        if self.token.kind == TokenKind::Sign(")") {
            return Err(FormulaError::new(at, format!("`{name}` is called without arguments")));
        }
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.deeper(|p| p.binary(0))?);
            match self.token.kind {
                TokenKind::Sign(",") => self.advance()?,
                TokenKind::Sign(")") => {
                    self.advance()?;
                    return Ok(arguments);
                }
                _ => return Err(self.unclosed(open)),
            }
        }
    }

    fn unclosed(&self, open: usize) -> FormulaError {
        match self.token.kind {
            TokenKind::End => FormulaError::new(open, "`(` is not closed"),
            other => FormulaError::new(self.token.at, format!("expected `)`, found {}", other.shown())),
        }
    }
}
