//! Capacity of vectors that live as long as a run: they grow by 1/16, to bound memory.
//!
//! `Vec` doubles when it grows, which leaves up to half of a list of contacts unused. These functions reserve 1/16 more than is needed:
//! still few reallocations while contacts come and go, and at most 1/16 unused.

/// Reserves memory for `n` elements in total.
#[inline]
pub fn reserve<T>(list: &mut Vec<T>, n: usize) {
    if list.capacity() < n {
        list.reserve_exact(n + n / 16 - list.len());
    }
}

/// Resizes a list.
#[inline]
pub fn resize<T: Clone>(list: &mut Vec<T>, n: usize, value: T) {
    reserve(list, n);
    list.resize(n, value);
}

/// Copies a list, keeping the memory.
#[inline]
pub fn assign<T: Clone>(list: &mut Vec<T>, from: &[T]) {
    if list.capacity() < from.len() {
        list.clear();
        reserve(list, from.len());
    }
    list.clear();
    list.extend_from_slice(from);
}

#[cfg(test)]
mod tests {
    #[test]
    fn lists_grow_by_a_sixteenth_and_keep_what_they_hold() {
        let mut list = vec![1.0, 2.0];
        super::resize(&mut list, 800, 3.0);
        assert_eq!((list[1], list[799]), (2.0, 3.0));
        assert!((800..=850).contains(&list.capacity()));
        super::resize(&mut list, 840, 4.0);
        super::assign(&mut list, &vec![5.0; 901]);
        assert_eq!(list, vec![5.0; 901]);
        assert!((901..=957).contains(&list.capacity()));
    }
}
