// All colours. The hues are those of Okabe and Ito, made darker (light theme) or lighter (dark theme) until text and thin lines
// have a contrast of at least 4.5 to 1 against both backgrounds; test/unit.mjs computes the ratios.

export interface Theme {
  name: 'light' | 'dark';
  /** Behind everything, and behind panels. */
  backgrounds: { page: string; panel: string };
  /** Decoration that carries no information: borders, grid lines. */
  faint: { border: string; grid: string; selection: string; hover: string };
  text: string;
  muted: string;
  accent: string;
  good: string;
  warn: string;
  bad: string;
  /** Series of plots, outlines of bodies. */
  series: string[];
  /** Surfaces of bodies in 3D, where nothing thin has to be read. */
  solids: string[];
  /** Things that do not move. */
  surroundings: string;
  /** Contact states: open, stick, slip, closed without friction. */
  states: string[];
}

export const LIGHT: Theme = {
  name: 'light',
  backgrounds: { page: '#f3f5f7', panel: '#ffffff' },
  faint: { border: '#d3d9df', grid: '#e6eaee', selection: '#0068a822', hover: '#e8eef4' },
  text: '#1c2229',
  muted: '#566069',
  accent: '#0063a0',
  good: '#00694f',
  warn: '#7d5700',
  bad: '#b03a00',
  series: ['#0068a8', '#bb4a00', '#00775a', '#a8437e', '#8a6100', '#2b2f36', '#15779c', '#6b6a00'],
  solids: ['#3a8fc9', '#e07b39', '#2ba883', '#cc79a7', '#e0a526', '#6b727b', '#62b6e3', '#cfc433'],
  surroundings: '#5f6972',
  states: ['#5f6972', '#0068a8', '#bb4a00', '#00775a'],
};

export const DARK: Theme = {
  name: 'dark',
  backgrounds: { page: '#12151a', panel: '#1a1e24' },
  faint: { border: '#343b45', grid: '#2a3038', selection: '#56b4e933', hover: '#262c35' },
  text: '#e4e8ed',
  muted: '#a3adb8',
  accent: '#6cbcf0',
  good: '#3fd0a4',
  warn: '#f0b429',
  bad: '#ff9552',
  series: ['#56b4e9', '#ff8a3d', '#2fc79a', '#e08fbf', '#f0b429', '#d8dde3', '#8fa8ff', '#e6dc4e'],
  solids: ['#3f9bd6', '#e8793a', '#27a983', '#cc79a7', '#d79f22', '#8d959f', '#7d95ea', '#c9bf3a'],
  surroundings: '#949eaa',
  states: ['#949eaa', '#56b4e9', '#ff8a3d', '#2fc79a'],
};

export const STATE_NAMES = ['open', 'stick', 'slip', 'closed'];

/** Mark and colour (index into `series`) of each kind of event; other kinds get a cross. */
export const EVENT_MARKS: Record<string, { shape: Shape; colour: number }> = {
  impact: { shape: 'triangle', colour: 1 },
  close: { shape: 'disc', colour: 2 },
  open: { shape: 'circle', colour: 5 },
  stick: { shape: 'square', colour: 0 },
  slip: { shape: 'diamond', colour: 4 },
};
export const OTHER_EVENT = { shape: 'cross' as Shape, colour: 3 };

export const eventMark = (kind: string) => (Object.hasOwn(EVENT_MARKS, kind) ? EVENT_MARKS[kind] : OTHER_EVENT);

/** Marks of the contact states: they differ in shape as well as in colour. */
export const STATE_SHAPES: Shape[] = ['circle', 'square', 'diamond', 'disc'];

export type Shape = 'triangle' | 'disc' | 'circle' | 'square' | 'diamond' | 'cross';

/** Adds a mark of half-size `r` to the path. */
export function markPath(c: CanvasPath, shape: Shape, x: number, y: number, r: number): void {
  switch (shape) {
    case 'triangle':
      c.moveTo(x, y - r * 1.15);
      c.lineTo(x + r * 1.1, y + r * 0.85);
      c.lineTo(x - r * 1.1, y + r * 0.85);
      c.closePath();
      break;
    case 'disc':
    case 'circle':
      c.moveTo(x + r, y);
      c.arc(x, y, r, 0, 2 * Math.PI);
      break;
    case 'square':
      c.rect(x - r * 0.88, y - r * 0.88, r * 1.76, r * 1.76);
      break;
    case 'diamond':
      c.moveTo(x, y - r * 1.2);
      c.lineTo(x + r * 1.2, y);
      c.lineTo(x, y + r * 1.2);
      c.lineTo(x - r * 1.2, y);
      c.closePath();
      break;
    case 'cross':
      c.moveTo(x - r, y - r);
      c.lineTo(x + r, y + r);
      c.moveTo(x + r, y - r);
      c.lineTo(x - r, y + r);
  }
}

/** Whether the mark's inside is painted. */
export const filled = (shape: Shape): boolean => shape !== 'circle' && shape !== 'cross';

/** Dash patterns tell series apart once the colours repeat. */
export const DASHES: number[][] = [[], [6, 3], [2, 2], [8, 3, 2, 3]];

export function seriesColour(theme: Theme, i: number): string {
  return theme.series[((i % theme.series.length) + theme.series.length) % theme.series.length];
}

export function seriesDash(theme: Theme, i: number): number[] {
  return DASHES[Math.floor(i / theme.series.length) % DASHES.length];
}

/** Contrast ratio of two colours `#rrggbb` (WCAG 2). */
export function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [r, g, b] = [1, 3, 5].map((i) => {
      const c = parseInt(colour.slice(i, i + 2), 16) / 255;
      return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}
