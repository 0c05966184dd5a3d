//! Derivatives of graph nodes, as nodes: the rules of differentiation.

use super::graph::{Comparison, Function, Graph, Id, Op};
use std::collections::BTreeMap;

impl Graph {
    /// ∂root/∂variable, as a node.
    pub fn derivative(&mut self, root: Id, variable: u32) -> Id {
        let zero = self.constant(0.0);
        let one = self.constant(1.0);
        let mut slopes: BTreeMap<Id, Id> = BTreeMap::new();
        for id in self.reachable(&[root]) {
            let d = |a: Id| slopes.get(&a).copied().unwrap_or(zero);
            let slope = match self.op(id) {
                Op::Constant(_) | Op::Compare(..) | Op::And(..) | Op::Not(_) => zero,
                Op::Variable(v) => {
                    if v == variable {
                        one
                    } else {
                        zero
                    }
                }
                Op::Negate(a) => {
                    let da = d(a);
                    self.negate(da)
                }
                Op::Add(a, b) => {
                    let (da, db) = (d(a), d(b));
                    self.add(da, db)
                }
                Op::Subtract(a, b) => {
                    let (da, db) = (d(a), d(b));
                    self.subtract(da, db)
                }
                Op::Multiply(a, b) => {
                    let (da, db) = (d(a), d(b));
                    let left = self.multiply(da, b);
                    let right = self.multiply(a, db);
                    self.add(left, right)
                }
                Op::Divide(a, b) => {
                    // (a' − (a/b) b')/b.
                    let (da, db) = (d(a), d(b));
                    let part = self.multiply(id, db);
                    let top = self.subtract(da, part);
                    self.divide(top, b)
                }
                Op::Power(a, b) => {
                    // b a^(b−1) a' + a^b log(a) b'.
                    let (da, db) = (d(a), d(b));
                    let lower = self.subtract(b, one);
                    let lower = self.power(a, lower);
                    let by_base = self.multiply(b, lower);
                    let by_base = self.multiply(by_base, da);
                    if db == zero {
                        by_base
                    } else {
                        let log = self.call(Function::Log, a);
                        let by_exponent = self.multiply(id, log);
                        let by_exponent = self.multiply(by_exponent, db);
                        // As of dual numbers: none where the logarithm does not exist.
                        let positive = self.compare(Comparison::Less, zero, a);
                        let by_exponent = self.select(positive, by_exponent, zero);
                        self.add(by_base, by_exponent)
                    }
                }
                Op::IntegerPower(a, n) => {
                    let da = d(a);
                    let lower = self.integer_power(a, n - 1);
                    let factor = self.constant(f64::from(n));
                    let slope = self.multiply(factor, lower);
                    self.multiply(slope, da)
                }
                Op::Call(f, a) => {
                    let da = d(a);
                    if da == zero {
                        zero
                    } else {
                        let slope = self.slope(f, a, id);
                        self.multiply(slope, da)
                    }
                }
                Op::Atan2(y, x) => {
                    let (dy, dx) = (d(y), d(x));
                    let (a, b) = (self.multiply(dy, x), self.multiply(dx, y));
                    let top = self.subtract(a, b);
                    let (xx, yy) = (self.multiply(x, x), self.multiply(y, y));
                    let r2 = self.add(xx, yy);
                    let quotient = self.divide(top, r2);
                    let origin = self.compare(Comparison::Equal, r2, zero);
                    self.select(origin, zero, quotient)
                }
                Op::Min(a, b) => {
                    let (da, db) = (d(a), d(b));
                    let second = self.compare(Comparison::Less, b, a);
                    self.select(second, db, da)
                }
                Op::Max(a, b) => {
                    let (da, db) = (d(a), d(b));
                    let second = self.compare(Comparison::Less, a, b);
                    self.select(second, db, da)
                }
                Op::Select(c, a, b) => {
                    let (da, db) = (d(a), d(b));
                    self.select(c, da, db)
                }
            };
            if slope != zero {
                slopes.insert(id, slope);
            }
        }
        slopes.get(&root).copied().unwrap_or(zero)
    }

    /// f'(a), where `id` is f(a).
    fn slope(&mut self, f: Function, a: Id, id: Id) -> Id {
        let (zero, one) = (self.constant(0.0), self.constant(1.0));
        match f {
            Function::Sqrt => {
                let half = self.constant(0.5);
                let slope = self.divide(half, id);
                let at_zero = self.compare(Comparison::Equal, id, zero);
                self.select(at_zero, zero, slope)
            }
            Function::Exp => id,
            Function::Log => self.divide(one, a),
            Function::Sin => self.call(Function::Cos, a),
            Function::Cos => {
                let s = self.call(Function::Sin, a);
                self.negate(s)
            }
            Function::Tan => {
                let square = self.multiply(id, id);
                self.add(one, square)
            }
            Function::Asin | Function::Acos => {
                let square = self.multiply(a, a);
                let rest = self.subtract(one, square);
                let root = self.call(Function::Sqrt, rest);
                let slope = self.divide(one, root);
                if f == Function::Asin { slope } else { self.negate(slope) }
            }
            Function::Atan => {
                let square = self.multiply(a, a);
                let bottom = self.add(one, square);
                self.divide(one, bottom)
            }
            Function::Sinh => self.call(Function::Cosh, a),
            Function::Cosh => self.call(Function::Sinh, a),
            Function::Tanh => {
                let square = self.multiply(id, id);
                self.subtract(one, square)
            }
            Function::Abs => {
                let negative = self.compare(Comparison::Less, a, zero);
                let minus = self.constant(-1.0);
                self.select(negative, minus, one)
            }
            Function::Sign | Function::Floor => zero,
        }
    }
}
