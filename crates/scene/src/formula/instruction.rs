//! Selects the instructions for a graph.
//!
//! Dispatch is most of the cost of an instruction. Consecutive operations whose intermediate results nothing else
//! needs are therefore fused, such as (a b − c d) v. A fused instruction rounds after every operation, as separate ones do. Sine and cosine
//! of one argument are one instruction. Constants are stored in the instructions that use them.

use super::graph::{Comparison, Function, Graph, Id, Op};
use nonsmooth::Scalar;
use std::collections::BTreeMap;

/// One instruction on places `R` of values: `to` receives the result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Instruction<R> {
    pub(super) to: R,
    pub(super) operation: Operation<R>,
}

/// What an instruction computes; registers come first, the number last.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operation<R> {
    Constant(f64),
    Negate(R),
    Add(R, R),
    AddNumber(R, f64),
    Subtract(R, R),
    /// v − a.
    SubtractFrom(R, f64),
    Multiply(R, R),
    MultiplyNumber(R, f64),
    Divide(R, R),
    DivideNumber(R, f64),
    /// (a + b) v.
    ScaledSum(R, R, f64),
    /// (a − b) v.
    ScaledDifference(R, R, f64),
    /// (a b) v.
    ScaledProduct(R, R, f64),
    /// a v + b.
    AddScaled(R, R, f64),
    /// a v − b.
    ScaledMinus(R, R, f64),
    /// b − a v.
    SubtractScaled(R, R, f64),
    /// a b + c.
    AddProduct(R, R, R),
    /// a b − c.
    ProductMinus(R, R, R),
    /// c − a b.
    SubtractProduct(R, R, R),
    /// (a b + c d) v.
    SumOfProducts(R, R, R, R, f64),
    /// (a b − c d) v.
    DifferenceOfProducts(R, R, R, R, f64),
    /// sin a; cos a goes to the first place.
    SinCos(R, R),
    Call(Function, R),
    Power(R, R),
    IntegerPower(R, i32),
    Atan2(R, R),
    Min(R, R),
    Max(R, R),
    Compare(Comparison, R, R),
    And(R, R),
    Not(R),
    Select(R, R, R),
}

impl<R: Copy> Operation<R> {
    /// The same on other places: `source` of values that are read, `target` of a second result.
    pub(super) fn map<S>(self, mut source: impl FnMut(R) -> S, target: impl FnOnce(R) -> S) -> Operation<S> {
        use Operation::*;
        let mut s = |r: R| source(r);
        match self {
            Constant(v) => Constant(v),
            Negate(a) => Negate(s(a)),
            Add(a, b) => Add(s(a), s(b)),
            AddNumber(a, v) => AddNumber(s(a), v),
            Subtract(a, b) => Subtract(s(a), s(b)),
            SubtractFrom(a, v) => SubtractFrom(s(a), v),
            Multiply(a, b) => Multiply(s(a), s(b)),
            MultiplyNumber(a, v) => MultiplyNumber(s(a), v),
            Divide(a, b) => Divide(s(a), s(b)),
            DivideNumber(a, v) => DivideNumber(s(a), v),
            ScaledSum(a, b, v) => ScaledSum(s(a), s(b), v),
            ScaledDifference(a, b, v) => ScaledDifference(s(a), s(b), v),
            ScaledProduct(a, b, v) => ScaledProduct(s(a), s(b), v),
            AddScaled(a, b, v) => AddScaled(s(a), s(b), v),
            ScaledMinus(a, b, v) => ScaledMinus(s(a), s(b), v),
            SubtractScaled(a, b, v) => SubtractScaled(s(a), s(b), v),
            AddProduct(a, b, c) => AddProduct(s(a), s(b), s(c)),
            ProductMinus(a, b, c) => ProductMinus(s(a), s(b), s(c)),
            SubtractProduct(a, b, c) => SubtractProduct(s(a), s(b), s(c)),
            SumOfProducts(a, b, c, d, v) => SumOfProducts(s(a), s(b), s(c), s(d), v),
            DifferenceOfProducts(a, b, c, d, v) => DifferenceOfProducts(s(a), s(b), s(c), s(d), v),
            SinCos(cosine, a) => {
                let a = s(a);
                SinCos(target(cosine), a)
            }
            Call(f, a) => Call(f, s(a)),
            Power(a, b) => Power(s(a), s(b)),
            IntegerPower(a, n) => IntegerPower(s(a), n),
            Atan2(a, b) => Atan2(s(a), s(b)),
            Min(a, b) => Min(s(a), s(b)),
            Max(a, b) => Max(s(a), s(b)),
            Compare(c, a, b) => Compare(c, s(a), s(b)),
            And(a, b) => And(s(a), s(b)),
            Not(a) => Not(s(a)),
            Select(c, a, b) => Select(s(c), s(a), s(b)),
        }
    }

    /// Calls `f` with every place that is read.
    pub(super) fn for_each_source(self, mut f: impl FnMut(R)) {
        self.map(&mut f, |_| ());
    }
}

impl Operation<u8> {
    /// The result from `registers`.
    #[inline(always)]
    pub(super) fn apply<T: Scalar, const N: usize>(&self, registers: &mut [T; N]) -> T {
        use Operation::*;
        // N is a power of two: the mask replaces the check of bounds.
        let at = |i: u8| i as usize & (N - 1);
        let r = |i: u8| registers[at(i)];
        let truth = |yes: bool| T::from(f64::from(u8::from(yes)));
        match *self {
            Constant(v) => T::from(v),
            Negate(a) => -r(a),
            Add(a, b) => r(a) + r(b),
            AddNumber(a, v) => r(a) + v,
            Subtract(a, b) => r(a) - r(b),
            SubtractFrom(a, v) => -r(a) + v,
            Multiply(a, b) => r(a) * r(b),
            MultiplyNumber(a, v) => r(a) * v,
            Divide(a, b) => r(a) / r(b),
            DivideNumber(a, v) => r(a) / v,
            ScaledSum(a, b, v) => (r(a) + r(b)) * v,
            ScaledDifference(a, b, v) => (r(a) - r(b)) * v,
            ScaledProduct(a, b, v) => r(a) * r(b) * v,
            AddScaled(a, b, v) => r(a) * v + r(b),
            ScaledMinus(a, b, v) => r(a) * v - r(b),
            SubtractScaled(a, b, v) => r(b) - r(a) * v,
            AddProduct(a, b, c) => r(a) * r(b) + r(c),
            ProductMinus(a, b, c) => r(a) * r(b) - r(c),
            SubtractProduct(a, b, c) => r(c) - r(a) * r(b),
            SumOfProducts(a, b, c, d, v) => (r(a) * r(b) + r(c) * r(d)) * v,
            DifferenceOfProducts(a, b, c, d, v) => (r(a) * r(b) - r(c) * r(d)) * v,
            SinCos(cosine, a) => {
                let x = r(a);
                let (sine, cos) = (x.sin(), x.cos());
                registers[at(cosine)] = cos;
                sine
            }
            Call(f, a) => f.apply(r(a)),
            Power(a, b) => r(a).powf(r(b)),
            IntegerPower(a, n) => r(a).powi(n),
            Atan2(a, b) => r(a).atan2(r(b)),
            Min(a, b) => r(a).min(r(b)),
            Max(a, b) => r(a).max(r(b)),
            Compare(c, a, b) => truth(c.holds(r(a).value(), r(b).value())),
            And(a, b) => truth(r(a).value() != 0.0 && r(b).value() != 0.0),
            Not(a) => truth(r(a).value() == 0.0),
            Select(c, a, b) => r(if r(c).value() != 0.0 { a } else { b }),
        }
    }
}

/// Chooses instructions for the functions `outputs`.
struct Selection<'a> {
    graph: &'a Graph,
    /// How often each node is read.
    uses: Vec<u32>,
    /// Nodes that are part of another instruction.
    absorbed: Vec<bool>,
}

/// The instructions of the functions `outputs` in an order in which values are known before they are read, and the variables that
/// they read, each with its node.
pub(super) fn select(graph: &Graph, outputs: &[Id]) -> (Vec<Instruction<Id>>, Vec<(Id, u32)>) {
    let nodes = graph.reachable(outputs);
    let count = nodes.last().map_or(0, |id| id.index() + 1);
    let mut selection = Selection { graph, uses: vec![0; count], absorbed: vec![false; count] };
    let mut angles: BTreeMap<Id, (Option<Id>, Option<Id>)> = BTreeMap::new();
    for &id in &nodes {
        graph.op(id).children().for_each(|a| selection.uses[a.index()] += 1);
        match graph.op(id) {
            Op::Call(Function::Sin, a) => angles.entry(a).or_default().0 = Some(id),
            Op::Call(Function::Cos, a) => angles.entry(a).or_default().1 = Some(id),
            _ => {}
        }
    }
    // Outputs are not fused.
    outputs.iter().for_each(|id| selection.uses[id.index()] += 2);
    let (mut instructions, mut read) = (Vec::new(), vec![false; count]);
    outputs.iter().for_each(|id| read[id.index()] = true);
    // From the end: an operation takes in those before it.
    for &id in nodes.iter().rev() {
        if selection.absorbed[id.index()] || matches!(graph.op(id), Op::Variable(_)) {
            continue;
        }
        let both = match graph.op(id) {
            Op::Call(Function::Sin | Function::Cos, a) => match angles[&a] {
                (Some(sine), Some(cosine)) => Some((sine, cosine, a)),
                _ => None,
            },
            _ => None,
        };
        let instruction = match both {
            // The earlier one of the two finds both.
            Some((sine, cosine, _)) if id > sine.min(cosine) => continue,
            Some((to, cosine, a)) => Instruction { to, operation: Operation::SinCos(cosine, a) },
            // Numbers that instructions have taken in are read by none.
            None if !read[id.index()] => continue,
            None => Instruction { to: id, operation: selection.operation(graph.op(id)) },
        };
        instruction.operation.for_each_source(|a| read[a.index()] = true);
        instructions.push(instruction);
    }
    instructions.reverse();
    let variables = nodes.into_iter().filter(|id| read[id.index()]);
    let variables = variables.filter_map(|id| match graph.op(id) {
        Op::Variable(v) => Some((id, v)),
        _ => None,
    });
    (instructions, variables.collect())
}

/// A node as a product.
enum Product {
    Scaled(Id, f64),
    Of(Id, Id),
}

impl Selection<'_> {
    fn number(&self, id: Id) -> Option<f64> {
        self.graph.value(id)
    }

    /// Whether nothing else needs the node.
    fn single(&self, id: Id) -> bool {
        self.uses[id.index()] == 1
    }

    /// The factors of a node that can be taken in.
    fn product(&self, id: Id) -> Option<Product> {
        match self.graph.op(id) {
            Op::Multiply(a, b) if self.single(id) => Some(match (self.number(a), self.number(b)) {
                (Some(v), None) => Product::Scaled(b, v),
                (None, Some(v)) => Product::Scaled(a, v),
                _ => Product::Of(a, b),
            }),
            _ => None,
        }
    }

    fn absorb(&mut self, id: Id) {
        self.absorbed[id.index()] = true;
    }

    fn operation(&mut self, op: Op) -> Operation<Id> {
        match op {
            Op::Constant(bits) => Operation::Constant(f64::from_bits(bits)),
            // Variables are read before all instructions.
            Op::Variable(_) => Operation::Constant(f64::NAN),
            Op::Negate(a) => Operation::Negate(a),
            Op::Add(a, b) => match (self.number(a), self.number(b)) {
                (Some(v), None) => Operation::AddNumber(b, v),
                (None, Some(v)) => Operation::AddNumber(a, v),
                _ => self.sum(a, b),
            },
            Op::Subtract(a, b) => match (self.number(a), self.number(b)) {
                (Some(v), None) => Operation::SubtractFrom(b, v),
                (None, Some(v)) => Operation::AddNumber(a, -v),
                _ => self.difference(a, b),
            },
            Op::Multiply(a, b) => match (self.number(a), self.number(b)) {
                (Some(v), None) => self.scaled(b, v),
                (None, Some(v)) => self.scaled(a, v),
                _ => Operation::Multiply(a, b),
            },
            Op::Divide(a, b) => match self.number(b) {
                Some(v) => Operation::DivideNumber(a, v),
                None => Operation::Divide(a, b),
            },
            Op::Power(a, b) => Operation::Power(a, b),
            Op::IntegerPower(a, n) => Operation::IntegerPower(a, n),
            Op::Call(f, a) => Operation::Call(f, a),
            Op::Atan2(a, b) => Operation::Atan2(a, b),
            Op::Min(a, b) => Operation::Min(a, b),
            Op::Max(a, b) => Operation::Max(a, b),
            Op::Compare(c, a, b) => Operation::Compare(c, a, b),
            Op::And(a, b) => Operation::And(a, b),
            Op::Not(a) => Operation::Not(a),
            Op::Select(c, a, b) => Operation::Select(c, a, b),
        }
    }

    fn sum(&mut self, a: Id, b: Id) -> Operation<Id> {
        match (self.product(a), self.product(b)) {
            (Some(Product::Of(x, y)), Some(Product::Of(z, w))) => {
                self.absorb(a);
                self.absorb(b);
                Operation::SumOfProducts(x, y, z, w, 1.0)
            }
            (Some(Product::Of(x, y)), _) => {
                self.absorb(a);
                Operation::AddProduct(x, y, b)
            }
            (_, Some(Product::Of(x, y))) => {
                self.absorb(b);
                Operation::AddProduct(x, y, a)
            }
            (Some(Product::Scaled(x, v)), _) => {
                self.absorb(a);
                Operation::AddScaled(x, b, v)
            }
            (_, Some(Product::Scaled(x, v))) => {
                self.absorb(b);
                Operation::AddScaled(x, a, v)
            }
            _ => Operation::Add(a, b),
        }
    }

    fn difference(&mut self, a: Id, b: Id) -> Operation<Id> {
        match (self.product(a), self.product(b)) {
            (Some(Product::Of(x, y)), Some(Product::Of(z, w))) => {
                self.absorb(a);
                self.absorb(b);
                Operation::DifferenceOfProducts(x, y, z, w, 1.0)
            }
            (Some(Product::Of(x, y)), _) => {
                self.absorb(a);
                Operation::ProductMinus(x, y, b)
            }
            (_, Some(Product::Of(x, y))) => {
                self.absorb(b);
                Operation::SubtractProduct(x, y, a)
            }
            (Some(Product::Scaled(x, v)), _) => {
                self.absorb(a);
                Operation::ScaledMinus(x, b, v)
            }
            (_, Some(Product::Scaled(x, v))) => {
                self.absorb(b);
                Operation::SubtractScaled(x, a, v)
            }
            _ => Operation::Subtract(a, b),
        }
    }

    /// a v.
    fn scaled(&mut self, a: Id, v: f64) -> Operation<Id> {
        if !self.single(a) {
            return Operation::MultiplyNumber(a, v);
        }
        let numbers = |x: Id, y: Id| self.number(x).is_some() || self.number(y).is_some();
        match self.graph.op(a) {
            Op::Multiply(x, y) if !numbers(x, y) => {
                self.absorb(a);
                Operation::ScaledProduct(x, y, v)
            }
            Op::Add(x, y) if !numbers(x, y) => match self.products(x, y) {
                Some([p, q, r, s]) => {
                    [a, x, y].into_iter().for_each(|id| self.absorb(id));
                    Operation::SumOfProducts(p, q, r, s, v)
                }
                None => {
                    self.absorb(a);
                    Operation::ScaledSum(x, y, v)
                }
            },
            Op::Subtract(x, y) if !numbers(x, y) => match self.products(x, y) {
                Some([p, q, r, s]) => {
                    [a, x, y].into_iter().for_each(|id| self.absorb(id));
                    Operation::DifferenceOfProducts(p, q, r, s, v)
                }
                None => {
                    self.absorb(a);
                    Operation::ScaledDifference(x, y, v)
                }
            },
            _ => Operation::MultiplyNumber(a, v),
        }
    }

    fn products(&self, a: Id, b: Id) -> Option<[Id; 4]> {
        match (self.product(a)?, self.product(b)?) {
            (Product::Of(x, y), Product::Of(z, w)) => Some([x, y, z, w]),
            _ => None,
        }
    }
}
