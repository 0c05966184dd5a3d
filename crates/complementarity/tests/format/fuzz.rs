//! Random bytes, random words, and valid files with random changes.

use super::samples::{FRICTION_BLOCKS, FRICTION_COLUMNS, FRICTION_DENSE, LCP, MLCP, Storage, file_of, global, local};
use super::{load, read_anything, reduced};
use complementarity::format::{Form, ProblemKind, read};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run.
fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(20_130_704),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// One change of a file.
#[derive(Debug, Clone)]
enum Change {
    /// A byte at a place.
    Set(usize, u8),
    /// Eight bytes at a place: an address or size.
    Number(usize, u64),
    /// A stretch goes.
    Remove(usize, usize),
    /// A stretch comes again elsewhere.
    Copy(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<u16>().prop_map(usize::from);
    let number = prop_oneof![any::<u64>(), 0..5000_u64, Just(u64::MAX), Just(1 << 40)];
    prop_oneof![
        (place.clone(), any::<u8>()).prop_map(|(k, b)| Change::Set(k, b)),
        (place.clone(), number).prop_map(|(k, n)| Change::Number(k, n)),
        (place.clone(), 1..40_usize).prop_map(|(k, n)| Change::Remove(k, n)),
        (place.clone(), place, 1..40_usize).prop_map(|(k, l, n)| Change::Copy(k, l, n)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    let n = bytes.len().max(1);
    match *change {
        Change::Set(k, b) => {
            if let Some(byte) = bytes.get_mut(k % n) {
                *byte = b;
            }
        }
        Change::Number(k, value) => {
            // Addresses stand at multiples of four.
            let k = k % n / 4 * 4;
            for (byte, b) in bytes[k..].iter_mut().zip(value.to_le_bytes()) {
                *byte = b;
            }
        }
        Change::Remove(k, count) => {
            let k = k % n;
            bytes.drain(k.min(bytes.len())..(k + count).min(bytes.len()));
        }
        Change::Copy(k, l, count) => {
            let piece: Vec<u8> = bytes.iter().skip(k % n).take(count).copied().collect();
            let at = (l % n).min(bytes.len());
            bytes.splice(at..at, piece);
        }
    }
}

/// Words of the text formats, in a likely and an unlikely order.
fn words() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => (0..5_usize).prop_map(|n| n.to_string()),
        1 => prop::sample::select(vec![
                "-1", "1e-3", "nan", "CSparse\n", "2-by-2,", "col", ":", "18446744073709551615", "0.5", "x"
            ])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

fn texts() -> Vec<Vec<u8>> {
    let json = reduced(&load(FRICTION_DENSE.as_bytes())).to_json();
    let full = match load(&file_of("fclib_global", global(true))).form {
        Form::Full(p) => p.to_json(&[], &[]),
        Form::Reduced(_) => String::new(),
    };
    [FRICTION_DENSE, FRICTION_BLOCKS, FRICTION_COLUMNS, LCP, MLCP, &json, &full].map(|t| t.as_bytes().to_vec()).to_vec()
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn random_bytes_are_no_problem(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        // Too short to be one by chance: the shortest text has five words.
        prop_assert!(read_anything(&bytes).is_err());
    }

    #[test]
    fn random_bytes_after_the_signature_are_no_problem(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let bytes = [b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0", &bytes[..]].concat();
        prop_assert!(read_anything(&bytes).is_err());
    }

    #[test]
    fn random_words_are_read_or_refused(text in words()) {
        let any = read_anything(text.as_bytes()).ok().map(|l| l.kind);
        // What is recognised is the only kind that fits.
        for kind in [ProblemKind::Friction2d, ProblemKind::Friction3d, ProblemKind::Lcp, ProblemKind::Mlcp] {
            prop_assert_eq!(read(text.as_bytes(), Some(kind)).is_ok(), any == Some(kind));
        }
    }

    #[test]
    fn changed_texts_are_read_or_refused(which in 0..7_usize, changes in prop::collection::vec(change(), 1..4)) {
        let mut bytes = texts().swap_remove(which);
        changes.iter().for_each(|c| apply(&mut bytes, c));
        let _ = read_anything(&bytes);
    }

    #[test]
    fn changed_hdf5_files_are_read_or_refused(which in 0..3_usize, changes in prop::collection::vec(change(), 1..4)) {
        let mut bytes = match which {
            0 => file_of("fclib_local", local(Storage::Rows)),
            1 => file_of("fclib_local", local(Storage::Triplets)),
            _ => file_of("fclib_global", global(true)),
        };
        changes.iter().for_each(|c| apply(&mut bytes, c));
        let _ = read_anything(&bytes);
    }
}
