// The report's data, format 1, as types; FORMAT.md says what they mean.
// Everything that a report may lack is optional here, so that the compiler asks for it.

export interface Packed {
  type: 'f8' | 'f4' | 'u4' | 'u1';
  shape: number[];
  data: string;
}

export interface Named {
  name: string;
  value: unknown;
}

export interface Method {
  name: string;
  options?: Named[] | null;
}

export interface Item {
  name: string;
  kind: string;
  colour?: number | null;
  first?: number;
  fixed?: number[];
  fill?: boolean;
  label?: string;
  points?: number;
  closed?: boolean;
  radius?: number;
  size?: number[];
  from?: number[];
  to?: number[];
  thickness?: number;
}

export interface ReplayContacts {
  start: string;
  which: string;
  names: string[];
  point: string;
  arrow: string;
  state: string;
  gap?: string | null;
  impact?: string | null;
  largest: number;
}

export interface Replay {
  dimension: 2 | 3;
  time: string;
  poses: string;
  box?: { min: number[]; max: number[] } | null;
  items: Item[];
  contacts?: ReplayContacts | null;
}

export interface Column {
  array: string;
  column: number;
  unit?: string;
}

export interface Series extends Column {
  name: string;
  /** Overrides the group's `log`. */
  log?: boolean;
}

export interface Group {
  title: string;
  id: string;
  series: Series[];
  note?: string | null;
  log?: boolean;
}

export interface Phase {
  name: string;
  x: Column;
  y: Column;
}

export interface Plots {
  time: string;
  groups?: Group[];
  phase?: Phase[];
}

export interface Ledger {
  time: string;
  series?: Series[];
  energy?: Column | null;
  closure?: Column | null;
}

export interface Event {
  t: number;
  kind: string;
  contact?: string | null;
  detail?: string | null;
}

export interface Percussion {
  normal: number | null;
  tangential?: number[] | number | null;
}

export interface Result {
  status?: string;
  stopped?: unknown;
  step?: number | null;
  t?: number;
  coordinates?: string[];
  q?: number[];
  u?: number[];
  at?: unknown[];
  events?: unknown;
  worst?: Record<string, number | null>;
  energy?: { initial?: number; final?: number; max?: number; ledger?: Record<string, number> } | null;
  work?: Record<string, unknown>;
  percussions?: Record<string, Percussion> | null;
}

interface Common {
  format: number;
  title?: string;
  scene?: string;
  version?: string;
  command?: string;
  scene_text?: string;
  notes?: string[];
  warnings?: string[];
}

export interface Run extends Common {
  kind: 'run';
  overrides?: string[];
  scheme?: Method;
  solver?: Method;
  result?: Result;
  worst_at?: { residual?: number | null; penetration?: number | null } | null;
  time?: { start: number; end: number };
  arrays?: Record<string, Packed>;
  replay?: Replay | null;
  plots?: Plots | null;
  ledger?: Ledger | null;
  /** Null or missing: nobody looked for them. */
  events?: Event[] | null;
  events_unlisted?: number;
}

export interface CompareRow {
  scheme: string;
  options?: unknown;
  label: string;
  step: number | null;
  calls: number | null;
  seconds: number | null;
  errors?: Record<string, Record<string, number | null>> | null;
  status?: string | null;
}

export interface CompareOrder {
  scheme: string;
  label: string;
  [quantity: string]: unknown;
}

export interface Compare extends Common {
  kind: 'compare';
  reference?: string;
  rows?: CompareRow[];
  orders?: CompareOrder[];
}

export type Report = Run | Compare;
