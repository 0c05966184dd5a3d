//! How long a list of contacts holds. It is made with a margin m_i around every body and kept while
//!
//! ```text
//! (way of body i since then) + (what it may go in this step) ≤ m_i     for all bodies i
//! ```
//!
//! where a body may go reach.time·(its speed) + reach.distance, and m_i holds a few such steps and a part of its size. So a body
//! at rest never causes a search, and a fast one widens the margin around itself alone.

use nonsmooth::contract::Reach;

/// Part of the size of a body that its margin holds.
const SKIN: f64 = 0.05;
/// Further steps at the present speed that the margin holds.
const STEPS_AHEAD: f64 = 3.0;

/// Margin around a body of a size (m) whose surface moves at most with `speed` (m/s).
pub(crate) fn margin(size: f64, speed: f64, reach: Reach) -> f64 {
    let way = reach.time * speed;
    SKIN * size + (1.0 + STEPS_AHEAD) * way + 2.0 * reach.distance
}

/// Whether a margin still holds for a body whose surface went `way` (m) since the list was made.
#[inline]
pub(crate) fn holds(margin: f64, way: f64, speed: f64, reach: Reach) -> bool {
    let may = reach.time * speed + reach.distance;
    way + may <= margin
}
