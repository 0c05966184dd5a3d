//! A graph made flat: instructions over few registers, evaluated on any [`Scalar`].
//!
//! A register is used again as soon as its value is no longer needed, so that formulas of ordinary size need less than
//! 16 of them and run on the stack without allocation, on plain and on dual numbers alike.

use super::graph::{Comparison, Function, Graph, Id, Op};
use nonsmooth::Scalar;
use std::collections::BTreeMap;

/// Where the value of a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The time.
    Time,
    /// A coordinate of the part.
    Coordinate(usize),
    /// A velocity of the part.
    Velocity(usize),
}

type Register = u16;

/// One instruction: the first register receives the result.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Instruction {
    Constant(Register, f64),
    Load(Register, Slot),
    Negate(Register, Register),
    Add(Register, Register, Register),
    AddNumber(Register, Register, f64),
    Subtract(Register, Register, Register),
    SubtractFrom(Register, Register, f64),
    Multiply(Register, Register, Register),
    MultiplyNumber(Register, Register, f64),
    Divide(Register, Register, Register),
    DivideNumber(Register, Register, f64),
    Power(Register, Register, Register),
    IntegerPower(Register, Register, i32),
    Call(Register, Function, Register),
    Atan2(Register, Register, Register),
    Min(Register, Register, Register),
    Max(Register, Register, Register),
    Compare(Register, Comparison, Register, Register),
    And(Register, Register, Register),
    Not(Register, Register),
    Select(Register, Register, Register, Register),
}

/// Functions of one part, compiled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tape {
    instructions: Vec<Instruction>,
    outputs: Vec<Register>,
    registers: usize,
}

/// Functions that are too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TapeError {
    /// Too many operations.
    #[error("the formula needs {0} operations, at most {MAX_INSTRUCTIONS} are possible: split it into several parts")]
    Operations(usize),
    /// Too many intermediate values at once.
    #[error("the formula needs more than {MAX_REGISTERS} intermediate values at once: split it into several parts")]
    Registers,
}

/// Most instructions of a tape.
pub(super) const MAX_INSTRUCTIONS: usize = 100_000;
/// Most registers of a tape: they live on the stack.
pub(super) const MAX_REGISTERS: usize = 256;
/// Registers of an ordinary formula.
const FEW_REGISTERS: usize = 16;

impl Tape {
    /// Compiles the functions `outputs`; `slot` says where variables come from.
    pub fn new(graph: &Graph, outputs: &[Id], slot: impl Fn(u32) -> Slot) -> Result<Self, TapeError> {
        let nodes = graph.reachable(outputs);
        if nodes.len() > MAX_INSTRUCTIONS {
            return Err(TapeError::Operations(nodes.len()));
        }
        // Numbers are part of the instructions that take them.
        let number = |id: Id| graph.value(id);
        let operands = |op: Op| -> Vec<Id> {
            match op {
                Op::Add(a, b) | Op::Subtract(a, b) | Op::Multiply(a, b) => match (number(a), number(b)) {
                    (Some(_), None) => vec![b],
                    (None, Some(_)) => vec![a],
                    _ => vec![a, b],
                },
                Op::Divide(a, b) if number(b).is_some() => vec![a],
                op => op.children().collect(),
            }
        };
        let mut last_use: BTreeMap<Id, usize> = BTreeMap::new();
        for (at, &id) in nodes.iter().enumerate() {
            for a in operands(graph.op(id)) {
                last_use.insert(a, at);
            }
        }
        for &id in outputs {
            last_use.insert(id, usize::MAX);
        }
        let mut instructions = Vec::new();
        let mut place: BTreeMap<Id, Register> = BTreeMap::new();
        let mut free: Vec<Register> = Vec::new();
        let mut registers = 0;
        for (at, &id) in nodes.iter().enumerate() {
            if !last_use.contains_key(&id) {
                continue;
            }
            let op = graph.op(id);
            let mut list = operands(op);
            let of = |a: Id| place[&a];
            let sources: Vec<Register> = list.iter().map(|&a| of(a)).collect();
            // Operands that end here may give their register to the result: instructions read before they write.
            list.dedup();
            for a in &list {
                if last_use[a] == at
                    && let Some(r) = place.remove(a)
                {
                    free.push(r);
                }
            }
            let target = match free.pop() {
                Some(r) => r,
                None => {
                    registers += 1;
                    if registers > MAX_REGISTERS {
                        return Err(TapeError::Registers);
                    }
                    (registers - 1) as Register
                }
            };
            place.insert(id, target);
            let s = |k: usize| sources[k];
            instructions.push(match op {
                Op::Constant(bits) => Instruction::Constant(target, f64::from_bits(bits)),
                Op::Variable(v) => Instruction::Load(target, slot(v)),
                Op::Negate(_) => Instruction::Negate(target, s(0)),
                Op::Add(a, b) => match number(a).or(number(b)).filter(|_| sources.len() == 1) {
                    Some(v) => Instruction::AddNumber(target, s(0), v),
                    None => Instruction::Add(target, s(0), s(1)),
                },
                Op::Subtract(a, b) => match (number(a), number(b)) {
                    (Some(v), None) => Instruction::SubtractFrom(target, s(0), v),
                    (None, Some(v)) => Instruction::AddNumber(target, s(0), -v),
                    _ => Instruction::Subtract(target, s(0), s(1)),
                },
                Op::Multiply(a, b) => match number(a).or(number(b)).filter(|_| sources.len() == 1) {
                    Some(v) => Instruction::MultiplyNumber(target, s(0), v),
                    None => Instruction::Multiply(target, s(0), s(1)),
                },
                Op::Divide(_, b) => match number(b) {
                    Some(v) => Instruction::DivideNumber(target, s(0), v),
                    None => Instruction::Divide(target, s(0), s(1)),
                },
                Op::Power(..) => Instruction::Power(target, s(0), s(1)),
                Op::IntegerPower(_, n) => Instruction::IntegerPower(target, s(0), n),
                Op::Call(f, _) => Instruction::Call(target, f, s(0)),
                Op::Atan2(..) => Instruction::Atan2(target, s(0), s(1)),
                Op::Min(..) => Instruction::Min(target, s(0), s(1)),
                Op::Max(..) => Instruction::Max(target, s(0), s(1)),
                Op::Compare(c, ..) => Instruction::Compare(target, c, s(0), s(1)),
                Op::And(..) => Instruction::And(target, s(0), s(1)),
                Op::Not(_) => Instruction::Not(target, s(0)),
                Op::Select(..) => Instruction::Select(target, s(0), s(1), s(2)),
            });
        }
        let outputs = outputs.iter().map(|id| place[id]).collect();
        Ok(Self { instructions, outputs, registers })
    }

    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.instructions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.instructions.is_empty()
    }

    /// Evaluates all functions at (t, q, u).
    #[inline]
    pub fn evaluate<T: Scalar>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
        if self.registers <= FEW_REGISTERS {
            self.run::<T, FEW_REGISTERS>(t, q, u, out);
        } else {
            self.run::<T, MAX_REGISTERS>(t, q, u, out);
        }
    }

    /// Evaluates the first function at (t, q, u).
    #[inline]
    pub fn first<T: Scalar>(&self, t: T, q: &[T], u: &[T]) -> T {
        let mut out = [T::from(f64::NAN)];
        self.evaluate(t, q, u, &mut out);
        out[0]
    }

    fn run<T: Scalar, const N: usize>(&self, t: T, q: &[T], u: &[T], out: &mut [T]) {
        let mut registers = [T::from(0.0); N];
        // N is a power of two: the mask replaces the check of bounds.
        let r = |i: Register| i as usize & (N - 1);
        let truth = |yes: bool| T::from(f64::from(u8::from(yes)));
        for instruction in &self.instructions {
            let (target, value) = match *instruction {
                Instruction::Constant(to, v) => (to, T::from(v)),
                Instruction::Load(to, slot) => (
                    to,
                    match slot {
                        Slot::Time => t,
                        Slot::Coordinate(i) => q[i],
                        Slot::Velocity(i) => u[i],
                    },
                ),
                Instruction::Negate(to, a) => (to, -registers[r(a)]),
                Instruction::Add(to, a, b) => (to, registers[r(a)] + registers[r(b)]),
                Instruction::AddNumber(to, a, v) => (to, registers[r(a)] + v),
                Instruction::Subtract(to, a, b) => (to, registers[r(a)] - registers[r(b)]),
                Instruction::SubtractFrom(to, a, v) => (to, -registers[r(a)] + v),
                Instruction::Multiply(to, a, b) => (to, registers[r(a)] * registers[r(b)]),
                Instruction::MultiplyNumber(to, a, v) => (to, registers[r(a)] * v),
                Instruction::Divide(to, a, b) => (to, registers[r(a)] / registers[r(b)]),
                Instruction::DivideNumber(to, a, v) => (to, registers[r(a)] / v),
                Instruction::Power(to, a, b) => (to, registers[r(a)].powf(registers[r(b)])),
                Instruction::IntegerPower(to, a, n) => (to, registers[r(a)].powi(n)),
                Instruction::Call(to, f, a) => (to, f.apply(registers[r(a)])),
                Instruction::Atan2(to, a, b) => (to, registers[r(a)].atan2(registers[r(b)])),
                Instruction::Min(to, a, b) => (to, registers[r(a)].min(registers[r(b)])),
                Instruction::Max(to, a, b) => (to, registers[r(a)].max(registers[r(b)])),
                Instruction::Compare(to, c, a, b) => {
                    (to, truth(c.holds(registers[r(a)].value(), registers[r(b)].value())))
                }
                Instruction::And(to, a, b) => {
                    (to, truth(registers[r(a)].value() != 0.0 && registers[r(b)].value() != 0.0))
                }
                Instruction::Not(to, a) => (to, truth(registers[r(a)].value() == 0.0)),
                Instruction::Select(to, c, a, b) => {
                    (to, registers[r(if registers[r(c)].value() != 0.0 { a } else { b })])
                }
            };
            registers[r(target)] = value;
        }
        for (out, &i) in out.iter_mut().zip(&self.outputs) {
            *out = registers[r(i)];
        }
    }
}
