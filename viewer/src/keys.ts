// The keyboard, and the overlay that lists it.
import { h } from './dom';

export interface Key {
  /** As in KeyboardEvent.key; with `Shift+` in front where it matters. */
  keys: string[];
  shown: string;
  does: string;
  run: () => void;
}

/** Fields in which letters and arrows are the user's text. */
function typing(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return target instanceof HTMLInputElement && target.type !== 'checkbox' && target.id !== 'time';
}

export function helpOverlay(keys: Key[], hints: string[]): HTMLDialogElement {
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    h('div', { class: 'row head' }, h('h2', {}, 'Keys'), h('button', { type: 'button', class: 'close', 'aria-label': 'Close', click: () => dialog.close() }, '×')),
    h('table', { class: 'facts' }, h('tbody', {}, ...keys.map(({ shown, does }) => h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, shown)), h('td', {}, does))))),
    h('h2', {}, 'Pointer'),
    h('ul', { class: 'plain' }, ...hints.map((hint) => h('li', {}, hint))),
  );
  dialog.addEventListener('click', (e) => {
    if (e.target === dialog) dialog.close();
  });
  return dialog;
}

export function listenKeys(keys: Key[], dialog: HTMLDialogElement): void {
  document.addEventListener('keydown', (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e.target)) return;
    if (dialog.open && e.key !== '?') return;
    // On a control reached by the keyboard, space and the arrows mean the control.
    const control = e.target instanceof HTMLButtonElement || (e.target instanceof Element && e.target.matches('summary, input[type=checkbox]'));
    if (control && (e.key === ' ' || e.key === 'Enter')) return;
    const name = e.shiftKey && e.key.startsWith('Arrow') ? `Shift+${e.key}` : e.key;
    const key = keys.find((k) => k.keys.includes(name) || (name.length === 1 && k.keys.includes(name.toLowerCase())));
    if (!key) return;
    e.preventDefault();
    key.run();
  });
  // A control clicked with the pointer gives the keyboard back, so that space plays and does not click again.
  document.addEventListener('click', (e) => {
    const control = e.target instanceof Element ? e.target.closest('button, input[type=checkbox], input[type=range], summary') : null;
    if (e.detail > 0 && control instanceof HTMLElement) control.blur();
  });
}
