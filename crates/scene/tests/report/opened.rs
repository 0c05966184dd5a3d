//! The page as a viewer reads it, and folders that are removed in the end.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is removed in the end.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("nonsmooth-report-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An array of the page.
pub(crate) struct Array {
    pub(crate) rows: usize,
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
}

impl Array {
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.width..(i + 1) * self.width]
    }

    pub(crate) fn column(&self, k: usize) -> Vec<f64> {
        self.values.iter().skip(k).step_by(self.width).copied().collect()
    }
}

/// The data of a page.
pub(crate) struct Page {
    pub(crate) bytes: usize,
    pub(crate) text: String,
    pub(crate) data: Value,
    pub(crate) arrays: BTreeMap<String, Array>,
}

const BEGIN: &str = "<script type=\"application/json\" id=\"data\">";

impl Page {
    pub(crate) fn open(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap();
        let from = text.find(BEGIN).unwrap() + BEGIN.len();
        let to = from + text[from..].find("</script>").unwrap();
        let data: Value = serde_json::from_str(&text[from..to]).unwrap();
        let mut arrays = BTreeMap::new();
        for (name, array) in data["arrays"].as_object().into_iter().flatten() {
            let bytes = decode(array["data"].as_str().unwrap());
            let values: Vec<f64> = match array["type"].as_str().unwrap() {
                "f8" => bytes.chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect(),
                "f4" => bytes.chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap()).into()).collect(),
                "u4" => bytes.chunks_exact(4).map(|c| u32::from_le_bytes(c.try_into().unwrap()).into()).collect(),
                "u1" => bytes.iter().map(|b| f64::from(*b)).collect(),
                other => panic!("{other}"),
            };
            let size = |k: usize| array["shape"][k].as_u64().unwrap() as usize;
            assert_eq!(values.len(), size(0) * size(1), "{name}");
            arrays.insert(name.clone(), Array { rows: size(0), width: size(1), values });
        }
        // Bytes without the viewer around the data.
        Self { bytes: to - from, text, data, arrays }
    }

    pub(crate) fn array(&self, name: &str) -> &Array {
        self.arrays.get(name).unwrap_or_else(|| panic!("no array {name}"))
    }

    pub(crate) fn items(&self) -> &[Value] {
        self.data["replay"]["items"].as_array().unwrap()
    }

    pub(crate) fn frames(&self) -> usize {
        self.array("frame_t").rows
    }

    /// Pose of an item in a frame, the first so many numbers.
    pub(crate) fn pose(&self, name: &str, frame: usize, numbers: usize) -> Vec<f64> {
        let item = self.items().iter().find(|i| i["name"] == name).unwrap_or_else(|| panic!("no item {name}"));
        match item["first"].as_u64() {
            Some(first) => self.array("poses").row(frame)[first as usize..][..numbers].to_vec(),
            None => item["fixed"].as_array().unwrap()[..numbers].iter().map(|v| v.as_f64().unwrap()).collect(),
        }
    }

    /// Contacts of a frame: name, point, arrow, and their place in all lists.
    pub(crate) fn contacts(&self, frame: usize) -> Vec<(&str, &[f64], &[f64], usize)> {
        let start = self.array("contact_start");
        let names = self.data["replay"]["contacts"]["names"].as_array().unwrap();
        let list = start.values[frame] as usize..start.values[frame + 1] as usize;
        list.map(|i| {
            let which = self.array("contact_which").values[i] as usize;
            let (point, arrow) = (self.array("contact_point").row(i), self.array("contact_arrow").row(i));
            (names[which].as_str().unwrap(), point, arrow, i)
        })
        .collect()
    }

    /// A curve of the plots by group and name.
    pub(crate) fn curve(&self, group: &str, name: &str) -> Vec<f64> {
        let groups = self.data["plots"]["groups"].as_array().unwrap();
        let group = groups.iter().find(|g| g["id"] == group).unwrap_or_else(|| panic!("no group {group}"));
        let series = group["series"].as_array().unwrap();
        let curve = series.iter().find(|s| s["name"] == name).unwrap_or_else(|| panic!("no curve {name}"));
        self.array(curve["array"].as_str().unwrap()).column(curve["column"].as_u64().unwrap() as usize)
    }
}

fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut digit = [0u32; 128];
    ALPHABET.bytes().zip(0..).for_each(|(c, i)| digit[usize::from(c)] = i);
    let mut out = Vec::new();
    for group in text.as_bytes().chunks_exact(4) {
        let n = group.iter().fold(0, |n, c| n << 6 | digit[usize::from(*c)]);
        let count = group.iter().filter(|c| **c != b'=').count() - 1;
        out.extend_from_slice(&n.to_be_bytes()[1..=count]);
    }
    out
}
