//! JSON of sets: equal to the bit, and an error for everything that is no set.

use super::samples::example_sets;
use complementarity::Set;

#[test]
fn sets_survive_json_to_the_bit() {
    let mut sets = example_sets();
    sets.push(Set::Interval { lower: -0.1, upper: 0.1 + 0.2 });
    sets.push(Set::Ball { dim: 3, radius: f64::MIN_POSITIVE / 4.0 });
    sets.push(Set::Coulomb { dim: 1, mu: 1.0 / 3.0 });
    for set in sets {
        let text = serde_json::to_string(&set).unwrap();
        let back: Set = serde_json::from_str(&text).unwrap();
        // Derived equality compares numbers, which for these (no zeros, no NaN) is equality of bits.
        assert_eq!(back, set, "{text}");
    }
    let zero = Set::Interval { lower: -0.0, upper: 0.0 };
    let back: Set = serde_json::from_str(&serde_json::to_string(&zero).unwrap()).unwrap();
    let Set::Interval { lower, upper } = back else { panic!("{back:?}") };
    assert_eq!((lower.to_bits(), upper.to_bits()), ((-0.0_f64).to_bits(), 0));
}

#[test]
fn json_that_is_no_set_is_an_error() {
    for text in [
        "",
        "{",
        "null",
        "\"ice\"",
        r#"{"coulomb":{"dim":2}}"#,
        r#"{"coulomb":{"dim":2,"mu":"0.5"}}"#,
        r#"{"coulomb":{"dim":-1,"mu":0.5}}"#,
        r#"{"coulomb":{"dim":2,"mu":null}}"#,
        r#"{"coulomb":{"dim":2,"mu":NaN}}"#,
        r#"{"coulomb":{"dim":2,"mu":1e999}}"#,
        r#"{"interval":{"lower":0}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0,1]]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0,-1],[-1,0]]}}"#,
        r#"{"polyhedral":{"mu":0.5,"polygon":[[1,0],[0],[-1,0]]}}"#,
    ] {
        assert!(serde_json::from_str::<Set>(text).is_err(), "{text}");
    }
}

#[test]
fn an_unknown_key_in_a_set_is_an_error() {
    for text in [
        r#"{"coulomb":{"dim":2,"mu":0.5,"nu":0.3}}"#,
        r#"{"free":{"dim":2,"stiffness":1.0}}"#,
        r#"{"interval":{"lower":0,"upper":1,"uper":2}}"#,
    ] {
        assert!(serde_json::from_str::<Set>(text).is_err(), "{text}");
    }
}
