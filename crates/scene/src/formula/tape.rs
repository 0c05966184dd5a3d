//! A compiled graph: instructions over few registers, evaluated on any [`Scalar`].
//!
//! A register is reused as soon as its value is no longer needed. Ordinary formulas therefore need fewer than
//! 16 registers, large ones 32 or 64, at most 256. They run on the stack without allocation, for plain and dual numbers.

use super::graph::{Graph, Id};
use super::instruction::{Instruction, Operation, select};
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

/// Functions of one part, compiled.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tape {
    /// Variables, before all instructions.
    loads: Vec<(Register, Slot)>,
    instructions: Vec<Instruction<Register>>,
    outputs: Vec<Register>,
    registers: usize,
}

type Register = u8;

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
/// Most registers of a tape: they are on the stack.
pub(super) const MAX_REGISTERS: usize = 256;
/// Registers of an ordinary formula, and of larger ones: clearing all 256 would cost more than evaluating the formula.
const FEW_REGISTERS: usize = 16;
const MORE_REGISTERS: usize = 32;
const MANY_REGISTERS: usize = 64;

impl Tape {
    /// Compiles the functions `outputs`; `slot` says where variables come from.
    pub fn new(graph: &Graph, outputs: &[Id], slot: impl Fn(u32) -> Slot) -> Result<Self, TapeError> {
        let nodes = graph.reachable(outputs);
        if nodes.len() > MAX_INSTRUCTIONS {
            return Err(TapeError::Operations(nodes.len()));
        }
        let (chosen, variables) = select(graph, outputs);
        let mut last_use: BTreeMap<Id, usize> = BTreeMap::new();
        for (at, instruction) in chosen.iter().enumerate() {
            instruction.operation.for_each_source(|a| {
                last_use.insert(a, at);
            });
        }
        for &id in outputs {
            last_use.insert(id, usize::MAX);
        }
        let mut places = Places::default();
        let mut loads = Vec::new();
        for (id, v) in variables {
            loads.push((places.take(id)?, slot(v)));
        }
        let mut instructions = Vec::new();
        for (at, Instruction { to, operation }) in chosen.into_iter().enumerate() {
            let mut placed = operation.map(|a| places.of[&a], |_| 0);
            // Operands that end here may give their register to the result: instructions read before they write.
            operation.for_each_source(|a| {
                if last_use[&a] == at {
                    places.release(a);
                }
            });
            let to = places.take(to)?;
            if let (Operation::SinCos(cosine, _), Operation::SinCos(second, _)) = (operation, &mut placed) {
                *second = places.take(cosine)?;
            }
            instructions.push(Instruction { to, operation: placed });
        }
        let outputs = outputs.iter().map(|id| places.of[id]).collect();
        Ok(Self { loads, instructions, outputs, registers: places.count })
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
        } else if self.registers <= MORE_REGISTERS {
            self.run::<T, MORE_REGISTERS>(t, q, u, out);
        } else if self.registers <= MANY_REGISTERS {
            self.run::<T, MANY_REGISTERS>(t, q, u, out);
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
        for &(to, slot) in &self.loads {
            registers[r(to)] = match slot {
                Slot::Time => t,
                Slot::Coordinate(i) => q[i],
                Slot::Velocity(i) => u[i],
            };
        }
        for instruction in &self.instructions {
            registers[r(instruction.to)] = instruction.operation.apply(&mut registers);
        }
        for (out, &i) in out.iter_mut().zip(&self.outputs) {
            *out = registers[r(i)];
        }
    }
}

/// Registers of the values that are still needed.
#[derive(Default)]
struct Places {
    of: BTreeMap<Id, Register>,
    free: Vec<Register>,
    count: usize,
}

impl Places {
    fn take(&mut self, id: Id) -> Result<Register, TapeError> {
        let register = match self.free.pop() {
            Some(r) => r,
            None => {
                self.count += 1;
                Register::try_from(self.count - 1).map_err(|_| TapeError::Registers)?
            }
        };
        self.of.insert(id, register);
        Ok(register)
    }

    fn release(&mut self, id: Id) {
        if let Some(r) = self.of.remove(&id) {
            self.free.push(r);
        }
    }
}
