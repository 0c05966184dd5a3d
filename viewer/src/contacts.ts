// Contact points of the replay: for each frame a list.
import type { Arrays, Numbers } from './data';
import type { ReplayContacts } from './format';

export interface Contact {
  name: string;
  point: number[];
  /** Percussion on the second body, N s. */
  arrow: number[];
  state: number;
  gap: number;
  impact: boolean;
}

export class Contacts {
  readonly largest: number;
  private readonly start: Numbers;
  private readonly which: Numbers;
  private readonly point: Numbers;
  private readonly arrow: Numbers;
  private readonly state: Numbers;
  private readonly gap: Numbers | null;
  private readonly impact: Numbers | null;

  constructor(
    private readonly description: ReplayContacts,
    arrays: Arrays,
    private readonly dimension: number,
  ) {
    const values = (name: string) => arrays.table(name).values;
    this.start = values(description.start);
    this.which = values(description.which);
    this.point = values(description.point);
    this.arrow = values(description.arrow);
    this.state = values(description.state);
    this.gap = description.gap ? values(description.gap) : null;
    this.impact = description.impact ? values(description.impact) : null;
    this.largest = description.largest > 0 ? description.largest : 0;
  }

  /** Contacts of a frame, appended to `list`. */
  collect(frame: number, list: Contact[], impactsOnly = false): void {
    const to = Math.min(this.start[frame + 1] ?? 0, this.which.length);
    for (let i = this.start[frame] ?? 0; i < to; i++) {
      const impact = this.impact !== null && this.impact[i] === 1;
      if (impactsOnly && !impact) continue;
      const from = i * this.dimension;
      list.push({
        name: this.description.names?.[this.which[i]] ?? `contact ${this.which[i]}`,
        point: Array.from(this.point.subarray(from, from + this.dimension)),
        arrow: Array.from(this.arrow.subarray(from, from + this.dimension)),
        state: this.state[i] ?? 0,
        gap: this.gap ? this.gap[i] : NaN,
        impact,
      });
    }
  }
}

/** What both replays are: a picture of a time, with a camera. */
export interface Stage {
  readonly element: HTMLElement;
  /** Draws the time. `passed` is the first frame not drawn before: impacts since then are shown too while playing. */
  draw(t: number, passed: number | null): void;
  zoom(factor: number): void;
  resetView(): void;
  /** The camera as numbers: centre and scale, or place and target. */
  view(): number[];
  setArrows(visible: boolean, scale: number): void;
  items(): { name: string; kind: string; pose: number[] }[];
  contacts(): Contact[];
}

/** Impacts of at most so many frames between two drawings are shown. */
export const MOST_PASSED = 64;

export function contactText(contact: Contact): string {
  const size = Math.hypot(...contact.arrow);
  const state = ['open', 'stick', 'slip', 'closed'][contact.state] ?? 'unknown state';
  return `${contact.name}: ${state}${contact.impact ? ', impact' : ''}, ${size.toPrecision(3)} N s${
    Number.isFinite(contact.gap) ? `, gap ${contact.gap.toPrecision(3)} m` : ''
  }`;
}
