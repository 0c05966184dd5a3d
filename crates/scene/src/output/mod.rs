//! Files of a run: `trajectory.npz`, `events.csv`, `meta.json`, `report.html`. Each is written under a temporary name and renamed.

mod archive;
mod folder;
mod npz;
mod read;
mod recorder;
mod tables;

pub use folder::{Folder, FolderError};
pub use npz::{Array, Npz};
pub use read::{Archive, ReadArray, Rows, read_npz};
pub use recorder::{Column, FoundContact, Recorded, Recorder, columns, row_bytes};
pub(crate) use recorder::{HIT, NOT_HIT};
pub(crate) use tables::resolved;
pub use tables::{events_csv, meta_json, scene_hash};
