//! Times at which formulas switch: conditions, kinks and jumps that depend on the time alone.
//!
//! An operation with a kink switches where a function g of its arguments passes a number:
//!
//! | operation | g | passes |
//! |---|---|---|
//! | a < b, a <= b, a == b, min(a, b), max(a, b) | a − b | 0 |
//! | abs(a), sign(a), atan2(a, b) | a | 0 |
//! | floor(a) | a | every integer |
//!
//! If g depends on t alone, its crossings in [t₀, T] are known before the run. Operations that g itself contains come first; between their times
//! each has one branch, and g is smooth. There an interval is halved until g cannot have the number in it, or has a slope of one sign, by
//! [enclosures](super::interval); a crossing is then bisected to the last bit. A g that
//! touches the number without passing it gives no time, or one where rounding takes it for a crossing: a step more that ends there.

use super::graph::{Comparison, Function, Graph, Id, Op};
use super::interval::{Interval, Jet};

/// Why the times of a condition are not known before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlocated {
    /// It depends on coordinates or velocities too.
    State,
    /// It has more times than the limit, or they could not be separated.
    Many,
}

/// An operation that switches at known times.
#[derive(Debug, Clone, PartialEq)]
pub struct Switch {
    /// The operation as it is written; comparisons are conditions of `if`.
    pub name: &'static str,
    /// Its node.
    pub node: Id,
    /// When it switches, s, ascending.
    pub times: Result<Vec<f64>, Unlocated>,
}

/// Most intervals that are looked at for one operation.
const MAX_INTERVALS: usize = 200_000;
/// Intervals shorter than this part of the run are not halved any more: two crossings so near each other are none.
const SHORTEST: f64 = 1e-10;

/// What an operation does between two neighbouring times.
type Branches = Vec<Option<f64>>;

impl Graph {
    /// The switches below `roots` that depend on the time (variable 0), over [start, end], each with at most `limit` times.
    pub fn switches(&self, roots: &[Id], (start, end): (f64, f64), limit: usize) -> Vec<Switch> {
        let nodes = self.reachable(roots);
        let size = nodes.last().map_or(0, |id| id.index() + 1);
        // Whether a node depends on the time, and on anything else.
        let mut depends = vec![(false, false); size];
        let mut found: Vec<Switch> = Vec::new();
        for id in nodes {
            let op = self.op(id);
            let mut on = op.children().fold((false, false), |(t, x), c| {
                let (a, b) = depends[c.index()];
                (t || a, x || b)
            });
            if let Op::Variable(v) = op {
                on = (v == 0, v != 0);
            }
            depends[id.index()] = on;
            let Some((name, a, b)) = switching(op) else { continue };
            if !on.0 {
                continue;
            }
            let of_time = [Some(a), b].into_iter().flatten().all(|c| !depends[c.index()].1);
            let times =
                if !of_time { Err(Unlocated::State) } else { self.crossings(id, a, b, &found, (start, end), limit) };
            found.push(Switch { name, node: id, times });
        }
        found
    }

    /// Times at which g = a − b passes zero, or an integer.
    fn crossings(
        &self,
        id: Id,
        a: Id,
        b: Option<Id>,
        known: &[Switch],
        (start, end): (f64, f64),
        limit: usize,
    ) -> Result<Vec<f64>, Unlocated> {
        let arguments: Vec<Id> = [Some(a), b].into_iter().flatten().collect();
        let nodes = self.reachable(&arguments);
        let mut cuts = vec![start, end];
        for inner in known.iter().filter(|s| nodes.binary_search(&s.node).is_ok()) {
            cuts.extend(inner.times.as_ref().map_err(|&why| why)?);
        }
        cuts.sort_by(f64::total_cmp);
        cuts.dedup();
        let integers = matches!(self.op(id), Op::Call(Function::Floor, _));
        let mut search = Search {
            graph: self,
            nodes: &nodes,
            a,
            b,
            integers,
            values: vec![0.0; nodes.last().map_or(0, |id| id.index() + 1)],
            jets: vec![Jet::constant(0.0); nodes.last().map_or(0, |id| id.index() + 1)],
            branches: Vec::new(),
            shortest: SHORTEST * (end - start),
            intervals: 0,
            limit,
            times: Vec::new(),
        };
        for w in cuts.windows(2) {
            search.piece(w[0], w[1])?;
        }
        Ok(search.times)
    }
}

/// An operation with a kink or a jump: its name, and its arguments a and b of g = a − b.
fn switching(op: Op) -> Option<(&'static str, Id, Option<Id>)> {
    match op {
        Op::Compare(Comparison::Less | Comparison::LessEqual | Comparison::Equal, a, b) => Some(("if", a, Some(b))),
        Op::Min(a, b) => Some(("min", a, Some(b))),
        Op::Max(a, b) => Some(("max", a, Some(b))),
        Op::Call(Function::Abs, a) => Some(("abs", a, None)),
        Op::Call(Function::Sign, a) => Some(("sign", a, None)),
        Op::Call(Function::Floor, a) => Some(("floor", a, None)),
        Op::Atan2(y, _) => Some(("atan2", y, None)),
        _ => None,
    }
}

/// The search for the crossings of one function.
struct Search<'a> {
    graph: &'a Graph,
    nodes: &'a [Id],
    a: Id,
    b: Option<Id>,
    /// Whether every integer is wanted, not zero alone.
    integers: bool,
    values: Vec<f64>,
    jets: Vec<Jet>,
    /// What the operations with a kink do in the present piece, by node.
    branches: Branches,
    shortest: f64,
    intervals: usize,
    limit: usize,
    times: Vec<f64>,
}

impl Search<'_> {
    /// g at a time, by the branches at that time, or by those of the present piece.
    fn g(&mut self, t: f64) -> f64 {
        for &id in self.nodes {
            let branch = self.branches.get(id.index()).copied().flatten();
            let v = evaluate(self.graph.op(id), &self.values, t, branch);
            self.values[id.index()] = v;
        }
        self.values[self.a.index()] - self.b.map_or(0.0, |b| self.values[b.index()])
    }

    /// g and its slope over an interval.
    fn enclosure(&mut self, from: f64, to: f64) -> Jet {
        for &id in self.nodes {
            let of = |a: Id| self.jets[a.index()];
            let branch = self.branches.get(id.index()).copied().flatten().unwrap_or(0.0);
            let first = branch > 0.0;
            self.jets[id.index()] = match self.graph.op(id) {
                Op::Constant(bits) => Jet::constant(f64::from_bits(bits)),
                Op::Variable(_) => Jet::variable(from, to),
                Op::Negate(a) => of(a).negate(),
                Op::Add(a, b) => of(a).add(of(b)),
                Op::Subtract(a, b) => of(a).subtract(of(b)),
                Op::Multiply(a, b) => of(a).multiply(of(b)),
                Op::Divide(a, b) => of(a).divide(of(b)),
                Op::Power(a, b) => of(a).power(of(b)),
                Op::IntegerPower(a, n) => of(a).integer_power(n),
                Op::Call(Function::Abs, a) => {
                    if first {
                        of(a)
                    } else {
                        of(a).negate()
                    }
                }
                Op::Call(Function::Sign | Function::Floor, _) => Jet::constant(branch),
                Op::Call(f, a) => of(a).call(f),
                Op::Atan2(y, x) => Jet::angle(of(y), of(x)),
                Op::Min(a, b) | Op::Max(a, b) => of(if first { a } else { b }),
                Op::Compare(..) | Op::And(..) | Op::Not(_) => Jet::constant(branch),
                Op::Select(_, a, b) => of(if first { a } else { b }),
            };
        }
        let (a, b) = (self.jets[self.a.index()], self.b.map(|b| self.jets[b.index()]));
        b.map_or(a, |b| a.subtract(b))
    }

    /// Looks at a piece in which all operations below g have one branch: that at its middle.
    fn piece(&mut self, from: f64, to: f64) -> Result<(), Unlocated> {
        self.branches.clear();
        let middle = 0.5 * (from + to);
        self.g(middle);
        let mut branches: Branches = vec![None; self.values.len()];
        for &id in self.nodes {
            let at = |a: Id| self.values[a.index()];
            branches[id.index()] = match self.graph.op(id) {
                Op::Call(Function::Abs, a) => Some(if at(a) >= 0.0 { 1.0 } else { -1.0 }),
                Op::Call(Function::Sign | Function::Floor, _) | Op::Compare(..) | Op::And(..) | Op::Not(_) => {
                    Some(at(id))
                }
                Op::Min(a, b) => Some(f64::from(u8::from(at(a) <= at(b)))),
                Op::Max(a, b) => Some(f64::from(u8::from(at(a) >= at(b)))),
                Op::Select(c, ..) => Some(at(c)),
                _ => None,
            };
        }
        self.branches = branches;
        // On the number at the very start: the run begins at a switch.
        if self.times.is_empty() {
            let g = self.g(from);
            let on = if self.integers { g.fract() == 0.0 } else { g == 0.0 };
            if on && self.enclosure(from, to).slope != Interval::ZERO {
                self.times.push(from);
            }
        }
        // Short intervals in a row that could not be decided.
        let mut open: Option<(f64, f64)> = None;
        let mut stack = vec![(from, to)];
        while let Some((a, b)) = stack.pop() {
            self.intervals += 1;
            if self.intervals > MAX_INTERVALS || self.times.len() > self.limit {
                return Err(Unlocated::Many);
            }
            let jet = self.enclosure(a, b);
            let misses = if self.integers { !jet.value.contains_integer() } else { !jet.value.contains(0.0) };
            let decided = misses || jet.slope == Interval::ZERO || !jet.slope.contains(0.0);
            let middle = 0.5 * (a + b);
            if !decided && b - a > self.shortest && a < middle && middle < b {
                stack.push((middle, b));
                stack.push((a, middle));
                continue;
            }
            if !decided {
                open = Some(open.map_or((a, b), |(first, _)| (first, b)));
                continue;
            }
            if let Some((first, last)) = open.take() {
                self.cross(first, last)?;
            }
            if !misses && jet.slope != Interval::ZERO {
                self.cross(a, b)?;
            }
        }
        match open {
            Some((first, last)) => self.cross(first, last),
            None => Ok(()),
        }
    }

    /// The crossings in an interval in which g is monotonic, or which is short.
    fn cross(&mut self, from: f64, to: f64) -> Result<(), Unlocated> {
        let (a, b) = (self.g(from), self.g(to));
        if !a.is_finite() || !b.is_finite() || a == b {
            return Ok(());
        }
        let (low, high) = (a.min(b), a.max(b));
        if !self.integers {
            // g reaches the number in (from, to].
            if (a < 0.0 && b >= 0.0) || (a > 0.0 && b <= 0.0) {
                let t = self.bisect(from, to, 0.0, a < b);
                self.times.push(t);
            }
            return Ok(());
        }
        let (first, last) = if a < b { (low.floor() + 1.0, high.floor()) } else { (low.ceil(), high.ceil() - 1.0) };
        if last - first > self.limit as f64 {
            return Err(Unlocated::Many);
        }
        let count = if last >= first { (last - first) as usize + 1 } else { 0 };
        for i in 0..count {
            let k = if a < b { first + i as f64 } else { last - i as f64 };
            let t = self.bisect(from, to, k, a < b);
            self.times.push(t);
        }
        Ok(())
    }

    /// The first time after `from` at which g has reached k.
    fn bisect(&mut self, mut from: f64, mut to: f64, k: f64, rising: bool) -> f64 {
        loop {
            let middle = 0.5 * (from + to);
            if !(from < middle && middle < to) {
                return to;
            }
            let g = self.g(middle);
            if if rising { g >= k } else { g <= k } { to = middle } else { from = middle }
        }
    }
}

/// The value of an operation at a time; `branch` is what it does in the present piece.
fn evaluate(op: Op, values: &[f64], t: f64, branch: Option<f64>) -> f64 {
    let at = |a: Id| values[a.index()];
    let truth = |holds: bool| f64::from(u8::from(holds));
    if let Some(branch) = branch {
        let first = branch > 0.0;
        return match op {
            Op::Call(Function::Abs, a) => {
                if first {
                    at(a)
                } else {
                    -at(a)
                }
            }
            Op::Min(a, b) | Op::Max(a, b) | Op::Select(_, a, b) => at(if first { a } else { b }),
            _ => branch,
        };
    }
    match op {
        Op::Constant(bits) => f64::from_bits(bits),
        Op::Variable(_) => t,
        Op::Negate(a) => -at(a),
        Op::Add(a, b) => at(a) + at(b),
        Op::Subtract(a, b) => at(a) - at(b),
        Op::Multiply(a, b) => at(a) * at(b),
        Op::Divide(a, b) => at(a) / at(b),
        Op::Power(a, b) => at(a).powf(at(b)),
        Op::IntegerPower(a, n) => nonsmooth::Scalar::powi(at(a), n),
        Op::Call(f, a) => f.apply(at(a)),
        Op::Atan2(a, b) => at(a).atan2(at(b)),
        Op::Min(a, b) => at(a).min(at(b)),
        Op::Max(a, b) => at(a).max(at(b)),
        Op::Compare(c, a, b) => truth(c.holds(at(a), at(b))),
        Op::And(a, b) => truth(at(a) != 0.0 && at(b) != 0.0),
        Op::Not(a) => truth(at(a) == 0.0),
        Op::Select(c, a, b) => at(if at(c) != 0.0 { a } else { b }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Lookup, Scope, lower, parse};
    use super::*;

    /// t, and x for a coordinate.
    struct Names;

    impl Scope for Names {
        fn lookup(&mut self, graph: &mut Graph, name: &str, _primes: usize) -> Lookup {
            Lookup::Found(graph.variable(u32::from(name != "t")))
        }
    }

    fn switches(text: &str, span: (f64, f64)) -> Vec<Switch> {
        let mut graph = Graph::default();
        let root = lower(&parse(text).unwrap(), &mut graph, &mut Names).unwrap();
        graph.switches(&[root], span, 1000)
    }

    fn times(text: &str, span: (f64, f64)) -> Vec<f64> {
        let mut all: Vec<f64> = switches(text, span).into_iter().flat_map(|s| s.times.unwrap()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    fn near(found: &[f64], expected: &[f64]) -> bool {
        // Bisected to the last bit; the function itself rounds.
        found.len() == expected.len()
            && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-14 * (1.0 + b.abs()))
    }

    #[test]
    fn conditions_on_the_time_are_located_to_the_last_bit() {
        assert_eq!(times("if(t < 0.3, 1, 2)", (0.0, 1.0)), [0.3]);
        assert_eq!(times("if(0.7 <= t and not (t > 0.9), x, 2)", (0.0, 1.0)), [0.7, 0.9]);
        assert!(times("if(t < 3, 1, 2)", (0.0, 1.0)).is_empty());
        assert_eq!(times("x*abs(2*t - 1) + max(0, t - 0.25, 0.5 - t)", (0.0, 1.0)), [0.25, 0.375, 0.5]);
        assert_eq!(times("sign(t)", (0.0, 1.0)), [0.0]);
        assert_eq!(times("sign(t)", (-1.0, 1.0)), [0.0]);
        assert!(near(&times("floor(t/0.1)", (0.0, 1.0)), &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]));
        assert!(near(&times("floor(-4*t)", (0.1, 1.0)), &[0.25, 0.5, 0.75, 1.0]));
    }

    #[test]
    fn periodic_and_nested_conditions_are_located() {
        let pi = std::f64::consts::PI;
        let crossings: Vec<f64> = (0..20).map(|k| pi * f64::from(k) / 10.0).collect();
        assert!(near(&times("if(sin(10*t) > 0, 1, -1)", (0.0, 6.2)), &crossings));
        // A quarter of every period of 0.2 s: t mod 0.2 is written with floor.
        let pulses = times("if(t - 0.2*floor(t/0.2) < 0.05, 1, 0)", (0.01, 0.99));
        assert!(near(&pulses, &[0.05, 0.2, 0.25, 0.4, 0.45, 0.6, 0.65, 0.8, 0.85]), "{pulses:?}");
        // A condition below a condition.
        let nested = times("if(if(t < 0.5, t, 1 - t) > 0.2, x, 0)", (0.0, 1.0));
        assert!(near(&nested, &[0.2, 0.5, 0.8]), "{nested:?}");
        // A damped oscillation against a bound: cos(20 t) exp(-t) = 0.5.
        for t in times("if(cos(20*t)*exp(-t) > 0.5, 1, 0)", (0.0, 2.0)) {
            assert!(((20.0 * t).cos() * (-t).exp() - 0.5).abs() < 1e-13);
        }
        assert_eq!(times("if(cos(20*t)*exp(-t) > 0.5, 1, 0)", (0.0, 2.0)).len(), 5);
        assert!(near(
            &times("floor(2.5*sin(t))", (0.5, 3.0)),
            &[0.8f64.asin(), pi - 0.8f64.asin(), pi - 0.4f64.asin()]
        ));
    }

    #[test]
    fn what_touches_or_stays_does_not_switch() {
        assert!(times("if((t - 0.5)^2 < 0, 1, 0)", (0.0, 1.0)).is_empty());
        // Rounding puts the crest on the number, at most on each side.
        let crest = std::f64::consts::FRAC_PI_2;
        let touched = times("abs(sin(t) - 1)", (0.0, 3.0));
        assert!(touched.len() <= 2 && touched.iter().all(|t| (t - crest).abs() < 1e-7), "{touched:?}");
        // Zero until 0.25: it leaves the number there, where the inner kink is.
        assert_eq!(times("sign(max(0, t - 0.25))", (0.0, 1.0)), [0.25]);
    }

    #[test]
    fn what_is_not_known_before_the_run_is_said() {
        let state = switches("if(x < t, 1, 0) + if(t < 0.5, 1, 0) + abs(x)", (0.0, 1.0));
        let kinds: Vec<bool> = state.iter().map(|s| s.times.is_ok()).collect();
        assert_eq!(kinds, [false, true]);
        assert_eq!(state[0].times, Err(Unlocated::State));
        assert_eq!(switches("floor(t/1e-6)", (0.0, 1.0))[0].times, Err(Unlocated::Many));
        assert_eq!(switches("if(sin(1e6*t) > 0, 1, 0)", (0.0, 1.0))[0].times, Err(Unlocated::Many));
        assert_eq!(switches("if(sin(1/t) > 0, 1, 0)", (0.0, 1.0))[0].times, Err(Unlocated::Many));
        // Undefined before 0.5.
        assert!(near(&times("if(sqrt(t - 0.5) > 0.1, 1, 0)", (0.0, 1.0)), &[0.51]));
    }
}
