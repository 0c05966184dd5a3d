//! Validity of a list of contacts. It is made with a margin m_i around every body and kept while
//!
//! ```text
//! (displacement of body i since then) + (largest displacement in this step) ≤ m_i     for all bodies i
//! ```
//!
//! The largest displacement in a step is reach.time·speed + reach.distance. The margin m_i covers a few such steps and a share of the size of
//! the body. A body at rest therefore never causes a search, and a fast one widens its own margin alone.

use nonsmooth::contract::Reach;

/// Share of the size of a body in its margin.
const SIZE_SHARE: f64 = 0.05;
/// Further steps at the present speed that the margin covers.
const STEPS_AHEAD: f64 = 3.0;

/// Margin around a body of a size (m) whose surface moves at most with `speed` (m/s).
pub(crate) fn margin(size: f64, speed: f64, reach: Reach) -> f64 {
    let displacement = reach.time * speed;
    SIZE_SHARE * size + (1.0 + STEPS_AHEAD) * displacement + 2.0 * reach.distance
}

/// Whether a margin still holds for a body whose surface has moved by `displacement` (m) since the list was made.
#[inline]
pub(crate) fn holds(margin: f64, displacement: f64, speed: f64, reach: Reach) -> bool {
    let allowance = reach.time * speed + reach.distance;
    displacement + allowance <= margin
}
