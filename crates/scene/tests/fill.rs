//! Regions that are filled with bodies hold as many wherever they lie.

use nonsmooth_scene::file::Document;
use nonsmooth_scene::prepare::{Prepared, Request};

fn fits(count: usize, corner: f64, size: [f64; 2]) -> Result<(), String> {
    let to = [corner + size[0], corner + size[1]];
    let text = format!(
        "[[body]]\nname = \"a\"\ncount = {count}\nshape.disc.radius = 0.05\ndensity = 1\n\
         fill = {{ from = [{corner}, {corner}], to = [{}, {}], spacing = 0.1 }}\n[time]\nstep = 1\nend = 1\n",
        to[0], to[1]
    );
    let document = Document::parse("fill", &text).map_err(|e| e.to_string())?;
    Prepared::new(document, &Request::default()).map(|_| ()).map_err(|e| e.to_string())
}

#[test]
fn a_region_holds_as_many_bodies_wherever_it_lies() {
    // One row of three; two rows of three and two: 0.1 and 0.1 + 0.1·√(3/4) high.
    let second = 0.1 + 0.1 * 0.75f64.sqrt();
    for corner in [-1e3, -17.3, -0.3, -0.1, 0.0, 0.2, 17.3, 1e3] {
        for (height, most) in [(0.1, 3), (second + 1e-6, 5)] {
            // What a number near 1e3 can say of a length: 1e-13 m.
            let size = [0.3 + 1e-9, height];
            assert_eq!(fits(most, corner, size), Ok(()), "{most} from {corner}");
            assert!(fits(most + 1, corner, size).unwrap_err().contains(&format!("room for {most} bodies")));
        }
    }
}
