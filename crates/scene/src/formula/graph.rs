//! The graph of operations behind formulas: equal subexpressions are one node, constants are folded.
//!
//! Children precede their parents, so that every pass is one loop over the nodes.
//!
//! Factors 2^k are moved out of products, sums and quotients, where they combine with other numbers. Scaling by them is exact, so that no value
//! changes (short of overflow). Derivatives of squares have many such factors.

use nonsmooth::Scalar;
use std::collections::HashMap;

/// A node of a [`Graph`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);

impl Id {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Functions of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Function {
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Abs,
    Sign,
    Floor,
}

impl Function {
    #[inline]
    pub(super) fn apply<T: Scalar>(self, x: T) -> T {
        match self {
            Function::Sqrt => x.sqrt(),
            Function::Exp => x.exp(),
            Function::Log => x.ln(),
            Function::Sin => x.sin(),
            Function::Cos => x.cos(),
            Function::Tan => x.tan(),
            Function::Asin => x.asin(),
            Function::Acos => x.acos(),
            Function::Atan => x.atan(),
            Function::Sinh => x.sinh(),
            Function::Cosh => x.cosh(),
            Function::Tanh => x.tanh(),
            Function::Abs => x.abs(),
            Function::Sign => x.signum(),
            Function::Floor => T::from(x.value().floor()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Comparison {
    Less,
    LessEqual,
    Equal,
}

impl Comparison {
    #[inline]
    pub(super) fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::Equal => a == b,
        }
    }
}

/// An operation. Conditions are 1 and 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Op {
    /// A number by its bits.
    Constant(u64),
    Variable(u32),
    Negate(Id),
    Add(Id, Id),
    Subtract(Id, Id),
    Multiply(Id, Id),
    Divide(Id, Id),
    Power(Id, Id),
    IntegerPower(Id, i32),
    Call(Function, Id),
    Atan2(Id, Id),
    Min(Id, Id),
    Max(Id, Id),
    Compare(Comparison, Id, Id),
    And(Id, Id),
    Not(Id),
    Select(Id, Id, Id),
}

impl Op {
    pub(super) fn children(self) -> impl Iterator<Item = Id> {
        use Op::*;
        let list = match self {
            Constant(_) | Variable(_) => [None; 3],
            Negate(a) | IntegerPower(a, _) | Call(_, a) | Not(a) => [Some(a), None, None],
            Add(a, b)
            | Subtract(a, b)
            | Multiply(a, b)
            | Divide(a, b)
            | Power(a, b)
            | Atan2(a, b)
            | Min(a, b)
            | Max(a, b)
            | Compare(_, a, b)
            | And(a, b) => [Some(a), Some(b), None],
            Select(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        list.into_iter().flatten()
    }
}

/// How a quantity enters an [affinity](Graph::affinity).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Its coefficient must be constant.
    Varying,
    /// It may only appear in the part that does not vary.
    Offset,
}

/// How an expression depends on varying quantities x and an offset s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Affinity {
    /// A number.
    Constant,
    /// f(s).
    Offset,
    /// A x + f(s), with a constant A.
    Affine,
    /// Anything else.
    General,
}

/// Largest integer exponent that is multiplied out.
const MAX_INTEGER_POWER: f64 = 64.0;

/// Whether v is 2^k with a small k: far from overflow.
fn is_power_of_two(v: f64) -> bool {
    const MANTISSA: u64 = (1 << 52) - 1;
    v.to_bits() & MANTISSA == 0 && (1.0 / 1024.0..=1024.0).contains(&v)
}

/// Operations with sharing.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    ops: Vec<Op>,
    known: HashMap<Op, Id>,
}

impl Graph {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    pub(super) fn op(&self, id: Id) -> Op {
        self.ops[id.index()]
    }

    fn push(&mut self, op: Op) -> Id {
        // a + b and b + a are one node, to the last bit.
        let turned = match op {
            Op::Add(a, b) => Op::Add(b, a),
            Op::Multiply(a, b) => Op::Multiply(b, a),
            _ => op,
        };
        if let Some(&id) = self.known.get(&op).or_else(|| self.known.get(&turned)) {
            return id;
        }
        let id = Id(self.ops.len() as u32);
        self.ops.push(op);
        self.known.insert(op, id);
        id
    }

    /// A number.
    pub fn constant(&mut self, v: f64) -> Id {
        // One zero: the sign of −0 is of no use in a formula.
        self.push(Op::Constant(if v == 0.0 { 0.0f64 } else { v }.to_bits()))
    }

    /// The number that a node is, if it is one.
    pub fn value(&self, id: Id) -> Option<f64> {
        match self.op(id) {
            Op::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A variable by its number.
    pub fn variable(&mut self, v: u32) -> Id {
        self.push(Op::Variable(v))
    }

    fn is(&self, id: Id, v: f64) -> bool {
        self.value(id) == Some(v)
    }

    /// Folds an operation on numbers.
    fn fold2(&mut self, a: Id, b: Id, f: impl Fn(f64, f64) -> f64) -> Option<Id> {
        let v = f(self.value(a)?, self.value(b)?);
        Some(self.constant(v))
    }

    /// −a.
    pub fn negate(&mut self, a: Id) -> Id {
        match self.op(a) {
            Op::Constant(bits) => self.constant(-f64::from_bits(bits)),
            Op::Negate(b) => b,
            _ => self.push(Op::Negate(a)),
        }
    }

    /// a + b.
    pub fn add(&mut self, a: Id, b: Id) -> Id {
        if let Some(id) = self.fold2(a, b, |a, b| a + b) {
            return id;
        }
        if a == b {
            let two = self.constant(2.0);
            return self.multiply(two, a);
        }
        match (self.is(a, 0.0), self.is(b, 0.0), self.op(a), self.op(b)) {
            (true, ..) => b,
            (_, true, ..) => a,
            (.., Op::Negate(b)) => self.subtract(a, b),
            (.., Op::Negate(a), _) => self.subtract(b, a),
            _ => match self.common_binary_factor(a, b) {
                Some((factor, a, b)) => {
                    let sum = self.add(a, b);
                    self.multiply(factor, sum)
                }
                None => self.push(Op::Add(a, b)),
            },
        }
    }

    /// x and 2^k of a node 2^k x, k ≠ 0.
    fn binary_factor(&self, id: Id) -> Option<(f64, Id)> {
        match self.op(id) {
            Op::Multiply(a, b) => self.value(a).filter(|v| is_power_of_two(*v)).map(|v| (v, b)),
            _ => None,
        }
    }

    /// 2^k as a node, x and y of nodes 2^k x and 2^k y.
    fn common_binary_factor(&mut self, a: Id, b: Id) -> Option<(Id, Id, Id)> {
        match (self.binary_factor(a)?, self.binary_factor(b)?) {
            ((v, a), (w, b)) if v == w => Some((self.constant(v), a, b)),
            _ => None,
        }
    }

    /// a − b.
    pub fn subtract(&mut self, a: Id, b: Id) -> Id {
        if let Some(id) = self.fold2(a, b, |a, b| a - b) {
            return id;
        }
        if a == b {
            return self.constant(0.0);
        }
        match (self.is(a, 0.0), self.is(b, 0.0), self.op(a), self.op(b)) {
            (true, ..) => self.negate(b),
            (_, true, ..) => a,
            (.., Op::Negate(b)) => self.add(a, b),
            (.., Op::Negate(a), _) => {
                let sum = self.add(a, b);
                self.negate(sum)
            }
            _ => match self.common_binary_factor(a, b) {
                Some((factor, a, b)) => {
                    let difference = self.subtract(a, b);
                    self.multiply(factor, difference)
                }
                None => self.push(Op::Subtract(a, b)),
            },
        }
    }

    /// a b.
    pub fn multiply(&mut self, a: Id, b: Id) -> Id {
        if let Some(id) = self.fold2(a, b, |a, b| a * b) {
            return id;
        }
        // Numbers stand first, signs outside: more products are then the same.
        let (a, b) = if self.value(b).is_some() { (b, a) } else { (a, b) };
        let (positive, other) = match (self.value(a), self.op(a), self.op(b)) {
            (Some(0.0), ..) => return a,
            (Some(1.0), ..) => return b,
            (Some(-1.0), ..) => return self.negate(b),
            (Some(v), ..) if v < 0.0 => (self.constant(-v), b),
            (_, Op::Negate(a), _) => (a, b),
            (.., Op::Negate(b)) => (a, b),
            _ => return self.positive_product(a, b),
        };
        let product = self.multiply(positive, other);
        self.negate(product)
    }

    /// a b without signs, a number first.
    fn positive_product(&mut self, a: Id, b: Id) -> Id {
        // v (w x) where v or w is a power of two: one number.
        if let (Some(v), Op::Multiply(w, x)) = (self.value(a), self.op(b))
            && let Some(w) = self.value(w)
            && (is_power_of_two(v) || is_power_of_two(w))
            && (v * w).is_normal()
        {
            let factor = self.constant(v * w);
            return self.multiply(factor, x);
        }
        if self.value(a).is_none() {
            let (first, second) = (self.binary_factor(a), self.binary_factor(b));
            if first.is_some() || second.is_some() {
                let ((v, x), (w, y)) = (first.unwrap_or((1.0, a)), second.unwrap_or((1.0, b)));
                let product = self.multiply(x, y);
                let factor = self.constant(v * w);
                return self.multiply(factor, product);
            }
        }
        self.push(Op::Multiply(a, b))
    }

    /// a / b.
    pub fn divide(&mut self, a: Id, b: Id) -> Id {
        if let Some(id) = self.fold2(a, b, |a, b| a / b) {
            return id;
        }
        if self.is(a, 0.0) || self.is(b, 1.0) {
            return a;
        }
        if let Some(v) = self.value(b).filter(|v| is_power_of_two(*v)) {
            let factor = self.constant(v.recip());
            return self.multiply(factor, a);
        }
        if let Some((v, x)) = self.binary_factor(a) {
            let quotient = self.divide(x, b);
            let factor = self.constant(v);
            return self.multiply(factor, quotient);
        }
        self.push(Op::Divide(a, b))
    }

    /// a^b.
    pub fn power(&mut self, a: Id, b: Id) -> Id {
        if let Some(n) = self.value(b).filter(|n| n.fract() == 0.0 && n.abs() <= MAX_INTEGER_POWER) {
            return self.integer_power(a, n as i32);
        }
        if let Some(id) = self.fold2(a, b, f64::powf) {
            return id;
        }
        if self.is(b, 0.5) { self.call(Function::Sqrt, a) } else { self.push(Op::Power(a, b)) }
    }

    pub(super) fn integer_power(&mut self, a: Id, n: i32) -> Id {
        if let Some(v) = self.value(a) {
            return self.constant(Scalar::powi(v, n));
        }
        match n {
            0 => self.constant(1.0),
            1 => a,
            2 => self.multiply(a, a),
            _ => self.push(Op::IntegerPower(a, n)),
        }
    }

    pub(super) fn call(&mut self, f: Function, a: Id) -> Id {
        match self.value(a) {
            Some(v) => self.constant(f.apply(v)),
            None => self.push(Op::Call(f, a)),
        }
    }

    pub(super) fn atan2(&mut self, y: Id, x: Id) -> Id {
        self.fold2(y, x, f64::atan2).unwrap_or_else(|| self.push(Op::Atan2(y, x)))
    }

    pub(super) fn min(&mut self, a: Id, b: Id) -> Id {
        let folded = if a == b { Some(a) } else { self.fold2(a, b, Scalar::min) };
        folded.unwrap_or_else(|| self.push(Op::Min(a, b)))
    }

    pub(super) fn max(&mut self, a: Id, b: Id) -> Id {
        let folded = if a == b { Some(a) } else { self.fold2(a, b, Scalar::max) };
        folded.unwrap_or_else(|| self.push(Op::Max(a, b)))
    }

    pub(super) fn compare(&mut self, c: Comparison, a: Id, b: Id) -> Id {
        let folded = self.fold2(a, b, |a, b| f64::from(u8::from(c.holds(a, b))));
        folded.unwrap_or_else(|| self.push(Op::Compare(c, a, b)))
    }

    pub(super) fn and(&mut self, a: Id, b: Id) -> Id {
        match (self.value(a), self.value(b)) {
            (Some(0.0), _) => a,
            (_, Some(0.0)) => b,
            (Some(_), _) => b,
            (_, Some(_)) => a,
            _ => self.push(Op::And(a, b)),
        }
    }

    pub(super) fn not(&mut self, a: Id) -> Id {
        match (self.value(a), self.op(a)) {
            (Some(v), _) => self.constant(f64::from(u8::from(v == 0.0))),
            (_, Op::Not(b)) => b,
            _ => self.push(Op::Not(a)),
        }
    }

    pub(super) fn select(&mut self, condition: Id, a: Id, b: Id) -> Id {
        match self.value(condition) {
            Some(0.0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.push(Op::Select(condition, a, b)),
        }
    }

    /// The nodes that `roots` need, in an order in which children come first.
    pub(super) fn reachable(&self, roots: &[Id]) -> Vec<Id> {
        let mut needed = vec![false; roots.iter().map(|r| r.index() + 1).max().unwrap_or(0)];
        for r in roots {
            needed[r.index()] = true;
        }
        for i in (0..needed.len()).rev() {
            if needed[i] {
                for child in self.ops[i].children() {
                    needed[child.index()] = true;
                }
            }
        }
        (0..needed.len()).filter(|&i| needed[i]).map(|i| Id(i as u32)).collect()
    }

    /// The nodes that `root` needs, ascending, of those that `new` says are new.
    pub fn below(&self, root: Id, mut new: impl FnMut(Id) -> bool) -> Vec<Id> {
        let (mut out, mut stack) = (Vec::new(), vec![root]);
        while let Some(id) = stack.pop() {
            if new(id) {
                out.push(id);
                stack.extend(self.op(id).children());
            }
        }
        out.sort_unstable();
        out
    }

    /// Number of operations that `roots` need.
    pub fn size(&self, roots: &[Id]) -> usize {
        self.reachable(roots).len()
    }

    /// Whether derivatives by the rules of the graph have the same bits as those by dual numbers. Quotients and powers do not: dual numbers
    /// compute quotients by 1/b and powers by the next lower power.
    pub fn differentiates_as_dual_numbers(&self, roots: &[Id]) -> bool {
        self.reachable(roots).into_iter().all(|id| match self.op(id) {
            Op::Divide(_, b) => self.value(b).is_some(),
            Op::Power(..) | Op::IntegerPower(..) => false,
            _ => true,
        })
    }

    /// The variables that occur in `roots`, ascending.
    pub fn variables(&self, roots: &[Id]) -> Vec<u32> {
        let mut out: Vec<u32> = self
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match self.op(id) {
                Op::Variable(v) => Some(v),
                _ => None,
            })
            .collect();
        out.sort_unstable();
        out
    }

    /// An operation below `root` that has a kink or a jump in one of these variables.
    pub fn kink(&self, root: Id, wanted: impl Fn(u32) -> bool) -> Option<&'static str> {
        let mut depends = vec![false; root.index() + 1];
        for id in self.reachable(&[root]) {
            let op = self.op(id);
            let below = op.children().any(|child| depends[child.index()]);
            depends[id.index()] = below || matches!(op, Op::Variable(v) if wanted(v));
            let name = match op {
                Op::Call(Function::Abs, _) => "abs",
                Op::Call(Function::Sign, _) => "sign",
                Op::Call(Function::Floor, _) => "floor",
                Op::Min(..) => "min",
                Op::Max(..) => "max",
                Op::Atan2(..) => "atan2",
                Op::Compare(..) | Op::And(..) | Op::Not(_) | Op::Select(..) => "if",
                Op::Constant(_)
                | Op::Variable(_)
                | Op::Negate(_)
                | Op::Add(..)
                | Op::Subtract(..)
                | Op::Multiply(..)
                | Op::Divide(..)
                | Op::Power(..)
                | Op::IntegerPower(..)
                | Op::Call(..) => continue,
            };
            // Of an `if` only the condition counts here: kinks of its branches are found at their own nodes.
            let decides = match op {
                Op::Select(condition, ..) => depends[condition.index()],
                _ => below,
            };
            if decides {
                return Some(name);
            }
        }
        None
    }

    /// How `root` depends on its variables.
    pub fn affinity(&self, root: Id, role: impl Fn(u32) -> Role) -> Affinity {
        use Affinity::{Affine, Constant, General, Offset};
        let mut found = vec![Constant; root.index() + 1];
        for id in self.reachable(&[root]) {
            let at = |id: Id| found[id.index()];
            found[id.index()] = match self.op(id) {
                Op::Constant(_) => Constant,
                Op::Variable(v) => match role(v) {
                    Role::Varying => Affine,
                    Role::Offset => Offset,
                },
                Op::Negate(a) => at(a),
                Op::Add(a, b) | Op::Subtract(a, b) => at(a).max(at(b)),
                Op::Multiply(a, b) => match (at(a), at(b)) {
                    (Constant, x) | (x, Constant) => x,
                    (Offset, Offset) => Offset,
                    _ => General,
                },
                Op::Divide(a, b) => match (at(a), at(b)) {
                    (x, Constant) => x,
                    (Constant | Offset, Offset) => Offset,
                    _ => General,
                },
                op => match op.children().map(at).max().unwrap_or(Constant) {
                    Affine | General => General,
                    x => x,
                },
            };
        }
        found[root.index()]
    }
}
