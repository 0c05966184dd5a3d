// Elements from script. Data enters the page only as text nodes and attribute values.

type Child = Node | string | null | undefined | false;
type Properties = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function fill<T extends Element>(element: T, properties: Properties, children: Child[]): T {
  for (const [key, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(key, value as EventListener);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

/** `h('button', {class: 'x', click: f}, 'text')`: functions become listeners, other properties attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), properties, children);
}

/** A canvas that fills its parent, in device pixels; `resized` is called with its size in CSS pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, resized: (width: number, height: number, scale: number) => void): void {
  const fit = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0 || height === 0) return;
    const scale = window.devicePixelRatio || 1;
    resized(width, height, scale);
  };
  new ResizeObserver(fit).observe(canvas);
  fit();
}

/** Calls `changed` with the width of an element, first when it has one, then whenever it is another. */
export function onWidth(element: HTMLElement, changed: (width: number) => void): void {
  let last = 0;
  new ResizeObserver(() => {
    const width = element.clientWidth;
    if (width === 0 || width === last) return;
    last = width;
    changed(width);
  }).observe(element);
}

export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...children);
}
