//! What a run leaves behind: `trajectory.npz`, `events.csv`, `meta.json`, each written to a temporary name and renamed.

mod folder;
mod npz;
mod read;
mod recorder;
mod tables;

pub use folder::{Folder, FolderError};
pub use npz::{Array, Npz};
pub use read::{ReadArray, read_npz};
pub use recorder::{Column, Recorder, columns, row_bytes};
pub use tables::{events_csv, meta_json, scene_hash};
