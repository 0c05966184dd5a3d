// Numbers as text.

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** `digits` significant digits; powers of ten outside of 1e-3 .. 1e5. */
export function number(value: unknown, digits = 4): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value !== 'number') return String(value);
  if (Number.isNaN(value)) return 'none';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return grouped(value);
  let text: string;
  if (size >= 1e-3 && size < 1e5) {
    text = value.toPrecision(Math.max(digits, Math.ceil(Math.log10(size + 1))));
    if (text.includes('.') && !text.includes('e')) text = text.replace(/\.?0+$/, '');
  } else {
    const [mantissa, power] = value.toExponential(digits - 1).split('e');
    text = `${mantissa.includes('.') ? mantissa.replace(/\.?0+$/, '') : mantissa}e${Number(power)}`;
  }
  return text.replace(/-/g, '−');
}

export function withUnit(value: unknown, unit: string | undefined | null, digits = 4): string {
  const text = number(value, digits);
  return unit && text !== 'none' ? `${text} ${unit}` : text;
}

/** An integer with thin spaces between the thousands. */
export function grouped(value: number): string {
  const text = String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, '\u2009');
  return value < 0 ? `−${text}` : text;
}

/** Decimal places that a multiple of `increment` needs. */
function decimals(increment: number): number {
  if (!(increment > 0)) return 0;
  let digits = 0;
  while (digits < 12 && Math.abs(increment * 10 ** digits - Math.round(increment * 10 ** digits)) > 1e-6 * increment * 10 ** digits) digits++;
  return digits;
}

/** Labels for equidistant ticks: as many digits as their distance needs. */
export function ticks(values: number[], increment: number, unit = ''): string[] {
  const largest = Math.max(...values.map(Math.abs), 0);
  const end = unit ? ` ${unit}` : '';
  return values.map((v) => {
    if (v === null || v === undefined) return '';
    if (Math.abs(v) < increment * 1e-6) return `0${end}`;
    if (largest >= 1e5 || largest < 2e-3) {
      const power = Math.floor(Math.log10(Math.abs(v)) + 1e-9);
      const digits = decimals(increment / 10 ** power);
      return `${v.toExponential(Math.min(digits, 12)).replace('e+', 'e').replace(/-/g, '−')}${end}`;
    }
    return `${v.toFixed(decimals(increment)).replace('-', '−')}${end}`;
  });
}

const isPower = (v: number | null): v is number => v !== null && v > 0 && Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-6;

/** Ticks of a logarithmic axis: powers of ten, at most `most`; less than two decades get 2 and 5 as well. */
export function logTicks(min: number, max: number, most: number): number[] {
  const [low, high] = [Math.ceil(Math.log10(min) - 1e-9), Math.floor(Math.log10(max) + 1e-9)];
  const every = Math.max(1, Math.ceil((high - low + 1) / most));
  const found: number[] = [];
  for (let power = low; power <= high; power++) if (power % every === 0) found.push(10 ** power);
  if (found.length > 1) return found;
  const finer: number[] = [];
  for (let power = low - 1; power <= high; power++) for (const m of [1, 2, 5]) finer.push(m * 10 ** power);
  const inside = finer.filter((v) => v >= min && v <= max);
  // Zoomed in so far that the axis is as good as linear.
  return inside.length > 1 ? inside : [0.1, 0.5, 0.9].map((part) => min + part * (max - min));
}

/** Labels for ticks of a logarithmic axis. */
export function powers(values: (number | null)[]): string[] {
  return values.map((v) => {
    if (v === null || !(v > 0)) return '';
    if (!isPower(v)) return number(v, 2);
    const power = Math.log10(v);
    const digits = String(Math.abs(Math.round(power)));
    return `10${power < -0.5 ? '⁻' : ''}${[...digits].map((d) => SUPERSCRIPT[Number(d)]).join('')}`;
  });
}

/** The time with as many digits as tell neighbouring frames apart. */
export function timeText(t: number, duration: number): string {
  if (!Number.isFinite(t)) return 'none';
  const digits = duration > 0 ? Math.min(12, Math.max(0, 5 - Math.floor(Math.log10(duration)))) : 6;
  return t.toFixed(digits).replace('-', '−');
}

/** A round length (1, 2 or 5 times a power of ten) not longer than `length`. */
export function roundLength(length: number): number {
  if (!(length > 0) || !Number.isFinite(length)) return 1;
  const power = 10 ** Math.floor(Math.log10(length));
  const times = length / power;
  return (times >= 5 ? 5 : times >= 2 ? 2 : 1) * power;
}

/** A key such as `gap_velocity` as words. */
export const words = (key: string): string => key.replace(/_/g, ' ');
