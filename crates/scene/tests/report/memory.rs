//! What a run with a report holds in memory does not grow with its steps.
#![allow(unsafe_code)] // an allocator

use super::ran;
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::cell::Cell;

/// Keeps count of the bytes of each thread, and of the most that it held.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn change(bytes: isize) {
    let _ = HELD.try_with(|h| {
        h.set(h.get() + bytes);
        let _ = MOST.try_with(|m| m.set(m.get().max(h.get())));
        let _ = COUNT.try_with(|c| c.set(c.get() + usize::from(bytes > 0)));
    });
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        unsafe { Heap.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        change(layout.size() as isize);
        unsafe { Heap.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        change(size as isize - layout.size() as isize);
        unsafe { Heap.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        change(-(layout.size() as isize));
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Most bytes that a run of the bouncing ball with so many steps held, and how often it asked for memory; opening the page included.
fn held(steps: usize) -> (isize, usize) {
    let (before, count) = (HELD.get(), COUNT.get());
    MOST.set(before);
    let ran = ran("bouncing_ball", None, &[&format!("time.step={:e}", 5.0 / steps as f64)]);
    assert_eq!(ran.outcome.summary.work.steps, steps);
    (MOST.get() - before, COUNT.get() - count)
}

#[test]
fn memory_does_not_grow_with_steps() {
    let (few, _) = held(50_000);
    let (many, _) = held(1_000_000);
    // The ball bounces some times more before it rests; an array of all steps would be 8 MB.
    assert!(many < few + 500_000, "{few} bytes with 50 000 steps, {many} with a million");
}

#[test]
fn recording_a_step_does_not_allocate() {
    let ((_, few), (_, many)) = (held(50_000), held(100_000));
    assert!(many < few + 5_000, "{few} allocations with 50 000 steps, {many} with 100 000");
}
