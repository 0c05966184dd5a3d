//! What users write cannot become markup or script.

use super::ran;

#[test]
fn a_hostile_scene_stays_text() {
    let hostile = "</script><img src=x onerror=alert(1)>&\u{2028}<!--";
    let title = format!("title={hostile}");
    let ran = ran("bouncing_ball", Some(0.01), &[&title, "model.units.q=<b>m</b>"]);
    assert_eq!(ran.page.data["title"], hostile, "it is shown as it was written");
    assert_eq!(ran.page.data["plots"]["groups"][0]["series"][0]["unit"], "<b>m</b>");
    let text = &ran.page.text;
    for raw in ["<img", "onerror=alert(1)>", "<b>", "<!--", "\u{2028}"] {
        assert!(!text.contains(raw), "{raw}");
    }
    // Nothing but the markup of the template: the page of another scene has as much of it.
    let plain = super::ran("bouncing_ball", Some(0.01), &[]);
    for mark in ['<', '>'] {
        assert_eq!(text.matches(mark).count(), plain.page.text.matches(mark).count());
    }
    let command = ran.page.data["command"].as_str().unwrap();
    assert!(command.contains("--set 'title=</script>") && command.contains("--end 0.01"), "{command}");
}
