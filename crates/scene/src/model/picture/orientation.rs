//! Orientations of figures: unit quaternions from what formulas give.

/// How a pose is computed from the values of its formulas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// They are the pose.
    None,
    /// A point and a direction of the plane, which becomes an angle.
    Direction,
    /// A point and a direction in space, which becomes one of length 1.
    Normal,
    /// A centre in space: the orientation is none.
    Still,
    /// A centre and a quaternion of any length.
    Quaternion,
    /// A centre and the rows of a rotation matrix.
    Rotation,
    /// A centre and the direction of the local z.
    Axis,
}

/// Makes a vector one of length 1, if it has a length.
pub(super) fn unit(v: &mut [f64]) {
    let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
    if norm > 0.0 && norm.is_finite() {
        v.iter_mut().for_each(|x| *x /= norm);
    }
}

/// The unit quaternion of a rotation matrix, by the largest of its components.
pub(super) fn by_rotation(rows: &[f64]) -> [f64; 4] {
    let a = |i: usize, j: usize| rows[3 * i + j];
    let candidates = [
        1.0 + a(0, 0) + a(1, 1) + a(2, 2),
        1.0 + a(0, 0) - a(1, 1) - a(2, 2),
        1.0 - a(0, 0) + a(1, 1) - a(2, 2),
        1.0 - a(0, 0) - a(1, 1) + a(2, 2),
    ];
    let largest = (0..4).max_by(|&i, &j| candidates[i].total_cmp(&candidates[j])).unwrap_or(0);
    let (x, y, z) = (a(2, 1) - a(1, 2), a(0, 2) - a(2, 0), a(1, 0) - a(0, 1));
    let (xy, xz, yz) = (a(0, 1) + a(1, 0), a(0, 2) + a(2, 0), a(1, 2) + a(2, 1));
    let mut p = match largest {
        0 => [candidates[0], x, y, z],
        1 => [x, candidates[1], xy, xz],
        2 => [y, xy, candidates[2], yz],
        _ => [z, xz, yz, candidates[3]],
    };
    unit(&mut p);
    p
}

/// The shortest turn from z to a direction.
pub(super) fn by_axis(mut n: [f64; 3]) -> [f64; 4] {
    unit(&mut n);
    if n[2] < -1.0 + 1e-12 {
        return [0.0, 1.0, 0.0, 0.0];
    }
    let mut p = [1.0 + n[2], -n[1], n[0], 0.0];
    unit(&mut p);
    p
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of the rotation matrix of a unit quaternion.
    fn rows([w, x, y, z]: [f64; 4]) -> [f64; 9] {
        [
            1.0 - 2.0 * (y * y + z * z),
            2.0 * (x * y - w * z),
            2.0 * (x * z + w * y),
            2.0 * (x * y + w * z),
            1.0 - 2.0 * (x * x + z * z),
            2.0 * (y * z - w * x),
            2.0 * (x * z - w * y),
            2.0 * (y * z + w * x),
            1.0 - 2.0 * (x * x + y * y),
        ]
    }

    #[test]
    fn a_rotation_matrix_gives_its_quaternion_whichever_component_is_largest() {
        for mut p in [[0.9, 0.1, -0.2, 0.3], [0.1, 0.9, 0.2, -0.3], [-0.1, 0.2, 0.9, 0.3], [0.2, 0.1, -0.3, 0.9]] {
            unit(&mut p);
            let found = by_rotation(&rows(p));
            let sign = if found.iter().zip(&p).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
            // Unit quaternions to rounding.
            assert!(found.iter().zip(&p).all(|(a, b)| (sign * a - b).abs() < 1e-14), "{found:?} {p:?}");
        }
    }

    #[test]
    fn an_axis_is_where_its_quaternion_takes_z() {
        for mut n in [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.3, -0.5, 0.2], [0.1, 0.1, -0.99]] {
            unit(&mut n);
            let a = rows(by_axis(n));
            assert!((0..3).all(|i| (a[3 * i + 2] - n[i]).abs() < 1e-12), "{n:?}");
        }
    }
}
