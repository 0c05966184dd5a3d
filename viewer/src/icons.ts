// Pictures on buttons, drawn so that they do not depend on the fonts of the machine.
import { svg } from './dom';

const PATHS = {
  play: 'M4 2.5v11l9-5.5z',
  pause: 'M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z',
  start: 'M2.5 2.5h2v11h-2zM13.5 2.5v11L5 8z',
  end: 'M11.5 2.5h2v11h-2zM2.5 2.5v11L11 8z',
  back: 'M11 2.5v11L3.5 8zM12 2.5h1.5v11H12z',
  forward: 'M5 2.5v11L12.5 8zM2.5 2.5H4v11H2.5z',
  loop: 'M4 4h6.5V2L14 5l-3.5 3V6H4a2 2 0 0 0 0 4v2a4 4 0 0 1 0-8zM12 12H5.5v2L2 11l3.500-3v2H12a2 2 0 0 0 1.500-.7l1.200 1.400A4 4 0 0 1 12 12z',
  nextEvent: 'M2.500 3.500 7 8l-4.500 4.500zM11 3.200 14.200 8 11 12.800 7.800 8z',
  previousEvent: 'M13.500 3.500 9 8l4.500 4.500zM5 3.200 1.800 8 5 12.800 8.200 8z',
} as const;

export type Icon = keyof typeof PATHS;

export function icon(name: Icon): SVGElement {
  return svg('svg', { viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, svg('path', { d: PATHS[name] }));
}
