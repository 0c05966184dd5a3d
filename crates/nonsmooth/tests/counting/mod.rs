//! An allocator that counts, for tests that steps do not allocate.
#![allow(unsafe_code)] // an allocator

use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};

/// Counts the allocations of the threads that ask for it, and keeps where the first came from.
struct Counting;

thread_local! {
    static ARMED: Cell<bool> = const { Cell::new(false) };
    static COUNT: Cell<usize> = const { Cell::new(0) };
    static FIRST: RefCell<Option<String>> = const { RefCell::new(None) };
}

fn count() {
    // Not armed while the place is looked up: that allocates itself.
    if ARMED.try_with(|a| a.replace(false)).unwrap_or(false) {
        COUNT.with(|c| c.set(c.get() + 1));
        FIRST.with(|f| {
            if f.borrow().is_none() {
                *f.borrow_mut() = Some(Backtrace::force_capture().to_string());
            }
        });
        ARMED.with(|a| a.set(true));
    }
}

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { Heap.alloc(layout) }
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        unsafe { Heap.alloc_zeroed(layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        unsafe { Heap.realloc(pointer, layout, size) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { Heap.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Allocations of `f`, and the lines of our own code in the stack of the first.
pub(crate) fn allocations(f: impl FnOnce()) -> (usize, String) {
    COUNT.with(|c| c.set(0));
    FIRST.with(|first| *first.borrow_mut() = None);
    ARMED.with(|a| a.set(true));
    f();
    ARMED.with(|a| a.set(false));
    let stack = FIRST.with(|first| first.borrow_mut().take()).unwrap_or_default();
    let lines: Vec<&str> = stack.lines().collect();
    let ours = lines
        .windows(2)
        .filter(|w| (w[1].contains("/crates/") || w[1].contains("./src")) && !w[1].contains("tests/"))
        .map(|w| format!("{} {}", w[0].trim(), w[1].trim()));
    (COUNT.with(Cell::get), ours.collect::<Vec<_>>().join("\n"))
}

#[test]
fn the_counter_counts() {
    let (n, _) = allocations(|| drop(std::hint::black_box(vec![1.0; 10])));
    assert_eq!(n, 1);
    let mut v: Vec<f64> = Vec::with_capacity(4);
    let (n, _) = allocations(|| v.extend([1.0; 5]));
    assert_eq!(n, 1, "growth counts too");
    let (n, _) = allocations(|| v.fill(std::hint::black_box(1.0)));
    assert_eq!(n, 0);
}
