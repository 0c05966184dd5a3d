// Which of the two themes is shown. The style sheet reads the colours from custom properties set here.
import { DARK, LIGHT, type Theme } from './palette';

const preferred = window.matchMedia('(prefers-color-scheme: dark)');
const listeners: ((theme: Theme) => void)[] = [];
let chosen: 'light' | 'dark' | null = null;

export function theme(): Theme {
  return (chosen ?? (preferred.matches ? 'dark' : 'light')) === 'dark' ? DARK : LIGHT;
}

export function onTheme(listener: (theme: Theme) => void): void {
  listeners.push(listener);
}

function apply(): void {
  const now = theme();
  const root = document.documentElement;
  root.dataset.theme = now.name;
  const set = (name: string, value: string) => root.style.setProperty(`--${name}`, value);
  set('page', now.backgrounds.page);
  set('panel', now.backgrounds.panel);
  for (const [name, value] of Object.entries(now.faint)) set(name, value);
  for (const name of ['text', 'muted', 'accent', 'good', 'warn', 'bad'] as const) set(name, now[name]);
  now.series.forEach((colour, i) => set(`series-${i}`, colour));
  root.style.colorScheme = now.name;
  for (const listener of listeners) listener(now);
}

export function toggleTheme(): void {
  chosen = theme().name === 'dark' ? 'light' : 'dark';
  apply();
}

export function startTheme(): void {
  preferred.addEventListener('change', () => {
    if (chosen === null) apply();
  });
  apply();
}
