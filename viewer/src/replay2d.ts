// The replay of plane motion on a canvas.
import type { Contacts, Contact, Stage } from './contacts';
import { contactText, MOST_PASSED } from './contacts';
import { fitCanvas, h } from './dom';
import type { Replay } from './format';
import type { Frames, Placed } from './frames';
import { number, roundLength } from './numbers';
import { filled, markPath, seriesColour, STATE_SHAPES } from './palette';
import { onTheme, theme } from './theme';

const HATCH = 7;
/** So many like discs are drawn by stamping. */
const CROWD = 40;

/** The colour inside of bodies: what is behind stays visible. */
const veil = (colour: string) => `${colour}${theme().name === 'dark' ? '50' : '38'}`;

export class Replay2D implements Stage {
  readonly element: HTMLElement;
  private readonly canvas: HTMLCanvasElement;
  private readonly c: CanvasRenderingContext2D;
  private readonly batches: Placed[][] = [];
  private readonly box: { min: number[]; max: number[] };
  private width = 0;
  private height = 0;
  private pixels = 1;
  private readonly camera = { x: 0, y: 0, scale: 0 };
  private moved = false;
  private shown: Contact[] = [];
  private arrows = { visible: true, scale: 1 };
  private drawnTime = 0;
  private readonly stamps = new Map<string, HTMLCanvasElement>();

  constructor(
    private readonly frames: Frames,
    private readonly contactList: Contacts | null,
    replay: Replay,
    hover: (text: string | null, x: number, y: number) => void,
  ) {
    this.canvas = h('canvas', { class: 'stage', role: 'img', 'aria-label': 'Replay of the motion' });
    this.element = this.canvas;
    this.c = this.canvas.getContext('2d')!;
    this.box = frames.box(replay);
    this.makeBatches();
    fitCanvas(this.canvas, (width, height, pixels) => {
      this.canvas.width = Math.round(width * pixels);
      this.canvas.height = Math.round(height * pixels);
      [this.width, this.height, this.pixels] = [width, height, pixels];
      if (!this.moved) this.fit();
      this.redraw();
    });
    onTheme(() => this.redraw());
    this.listen(hover);
  }

  /** Neighbours that look alike are painted as one path: a thousand discs are one stroke. */
  private makeBatches(): void {
    const surroundings = this.frames.placed.filter(({ item }) => item.colour == null);
    const bodies = this.frames.placed.filter(({ item }) => item.colour != null);
    for (const list of [surroundings, bodies]) {
      const open = new Map<string, Placed[]>();
      for (const placed of list) {
        const { kind, colour, fill, closed } = placed.item;
        const key = `${kind} ${colour} ${fill} ${closed}`;
        // Few items keep their order; only crowds are worth the batch.
        const batch = list.length > 60 ? open.get(key) : undefined;
        if (batch) batch.push(placed);
        else {
          const fresh = [placed];
          open.set(key, fresh);
          this.batches.push(fresh);
        }
      }
    }
  }

  private fit(): void {
    const [x0, y0] = this.box.min;
    const [x1, y1] = this.box.max;
    const span = Math.max(x1 - x0, y1 - y0, 1e-9);
    // A motion on a line still gets some height.
    const [w, hh] = [Math.max(x1 - x0, 0.2 * span), Math.max(y1 - y0, 0.2 * span)];
    this.camera.scale = Math.min((this.width - 48) / w, (this.height - 76) / hh);
    if (!(this.camera.scale > 0)) this.camera.scale = 1;
    this.camera.x = (x0 + x1) / 2;
    // The lower edge of the picture holds the scales.
    this.camera.y = (y0 + y1) / 2 - 12 / this.camera.scale;
  }

  private x(x: number): number {
    return this.width / 2 + (x - this.camera.x) * this.camera.scale;
  }

  private y(y: number): number {
    return this.height / 2 - (y - this.camera.y) * this.camera.scale;
  }

  private listen(hover: (text: string | null, x: number, y: number) => void): void {
    const pointers = new Map<number, { x: number; y: number }>();
    const c = this.canvas;
    c.addEventListener('pointerdown', (e) => {
      c.setPointerCapture(e.pointerId);
      pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      hover(this.nameAt(e.offsetX, e.offsetY), e.offsetX, e.offsetY);
    });
    c.addEventListener('pointermove', (e) => {
      const before = pointers.get(e.pointerId);
      if (!before) {
        hover(this.nameAt(e.offsetX, e.offsetY), e.offsetX, e.offsetY);
        return;
      }
      const others = [...pointers].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
      if (others.length > 0) {
        const apart = (p: { x: number; y: number }) => Math.hypot(p.x - others[0].x, p.y - others[0].y) || 1;
        this.zoomAt(apart({ x: e.offsetX, y: e.offsetY }) / apart(before), e.offsetX, e.offsetY);
      } else {
        this.camera.x -= (e.offsetX - before.x) / this.camera.scale;
        this.camera.y += (e.offsetY - before.y) / this.camera.scale;
        this.moved = true;
        hover(null, 0, 0);
      }
      pointers.set(e.pointerId, { x: e.offsetX, y: e.offsetY });
      this.redraw();
    });
    const up = (e: PointerEvent) => pointers.delete(e.pointerId);
    c.addEventListener('pointerup', up);
    c.addEventListener('pointercancel', up);
    c.addEventListener('pointerleave', () => hover(null, 0, 0));
    c.addEventListener('dblclick', () => {
      hover(null, 0, 0);
      this.resetView();
    });
    c.addEventListener(
      'wheel',
      (e) => {
        e.preventDefault();
        this.zoomAt(Math.exp(-e.deltaY * (e.deltaMode === 1 ? 0.05 : 0.0015)), e.offsetX, e.offsetY);
        this.redraw();
      },
      { passive: false },
    );
  }

  private zoomAt(factor: number, px: number, py: number): void {
    const x = this.camera.x + (px - this.width / 2) / this.camera.scale;
    const y = this.camera.y - (py - this.height / 2) / this.camera.scale;
    this.camera.scale *= factor;
    this.camera.x = x - (px - this.width / 2) / this.camera.scale;
    this.camera.y = y + (py - this.height / 2) / this.camera.scale;
    this.moved = true;
  }

  zoom(factor: number): void {
    this.zoomAt(factor, this.width / 2, this.height / 2);
    this.redraw();
  }

  resetView(): void {
    this.moved = false;
    this.fit();
    this.redraw();
  }

  view(): number[] {
    return [this.camera.x, this.camera.y, this.camera.scale];
  }

  setArrows(visible: boolean, scale: number): void {
    this.arrows = { visible, scale };
    this.redraw();
  }

  items(): { name: string; kind: string; pose: number[] }[] {
    return this.frames.placed.map(({ item, offset, count }) => ({
      name: item.name,
      kind: item.kind,
      pose: Array.from(this.frames.drawn.subarray(offset, offset + count)),
    }));
  }

  contacts(): Contact[] {
    return this.shown;
  }

  draw(t: number, passed: number | null): void {
    this.drawnTime = t;
    this.frames.moveTo(t);
    this.shown = [];
    if (this.contactList) {
      const now = this.frames.nearest(t);
      if (passed !== null) {
        for (let i = Math.max(passed, now - MOST_PASSED); i < now; i++) this.contactList.collect(i, this.shown, true);
      }
      this.contactList.collect(now, this.shown);
    }
    this.paint();
  }

  private redraw(): void {
    if (this.width > 0) this.draw(this.drawnTime, null);
  }

  private paint(): void {
    const { c } = this;
    if (this.width === 0) return;
    c.setTransform(this.pixels, 0, 0, this.pixels, 0, 0);
    c.clearRect(0, 0, this.width, this.height);
    const bar = roundLength(140 / this.camera.scale);
    this.paintGrid(bar);
    c.lineJoin = 'round';
    c.lineCap = 'round';
    for (const batch of this.batches) this.paintBatch(batch);
    this.paintLabels();
    this.paintContacts();
    this.paintScales(bar);
  }

  private paintGrid(length: number): void {
    const { c } = this;
    const step = length * this.camera.scale;
    c.strokeStyle = theme().faint.grid;
    c.lineWidth = 1;
    c.beginPath();
    for (let x = ((this.x(0) % step) + step) % step; x < this.width; x += step) {
      c.moveTo(Math.round(x) + 0.5, 0);
      c.lineTo(Math.round(x) + 0.5, this.height);
    }
    for (let y = ((this.y(0) % step) + step) % step; y < this.height; y += step) {
      c.moveTo(0, Math.round(y) + 0.5);
      c.lineTo(this.width, Math.round(y) + 0.5);
    }
    c.stroke();
  }

  private paintBatch(batch: Placed[]): void {
    const { c } = this;
    const { item } = batch[0];
    const now = theme();
    const colour = item.colour == null ? now.surroundings : seriesColour(now, item.colour);
    if (item.kind === 'circle' && batch.length >= CROWD) {
      this.paintDiscs(batch, colour);
      return;
    }
    const body = new Path2D();
    const lines = new Path2D();
    for (const placed of batch) this.addPath(placed, body, lines);
    const inside = ['circle', 'box', 'segment', 'point'].includes(item.kind) || (item.kind === 'line' && item.closed === true);
    if (inside && item.fill !== false) {
      c.fillStyle = item.kind === 'point' ? colour : veil(colour);
      c.fill(body);
    }
    c.strokeStyle = colour;
    c.lineWidth = item.colour == null ? 1.5 : batch.length > 200 ? 1.2 : 2;
    c.stroke(body);
    c.lineWidth = 1;
    c.stroke(lines);
  }

  /** Crowds of discs are stamped from one picture for each radius: filling a path of hundreds of circles is far slower. */
  private paintDiscs(batch: Placed[], colour: string): void {
    const { c } = this;
    const p = this.frames.drawn;
    const lines = new Path2D();
    for (const placed of batch) {
      const { item, offset } = placed;
      const r = (item.radius ?? 0) * this.camera.scale;
      const [x, y, angle] = [this.x(p[offset]), this.y(p[offset + 1]), p[offset + 2]];
      if (!(x + r > 0 && x - r < this.width && y + r > 0 && y - r < this.height)) continue;
      // Large ones are few, and a stamp of them would be large as well.
      if (r > 60) {
        const body = new Path2D();
        this.addPath(placed, body, lines);
        if (item.fill !== false) {
          c.fillStyle = veil(colour);
          c.fill(body);
        }
        c.strokeStyle = colour;
        c.lineWidth = 1.5;
        c.stroke(body);
        continue;
      }
      const stamp = this.stamp(r, colour, item.fill !== false);
      const half = stamp.width / this.pixels / 2;
      c.drawImage(stamp, x - half, y - half, 2 * half, 2 * half);
      if (r < 2) continue;
      lines.moveTo(x, y);
      lines.lineTo(x + r * Math.cos(angle), y - r * Math.sin(angle));
    }
    c.strokeStyle = colour;
    c.lineWidth = 1;
    c.stroke(lines);
  }

  private stamp(r: number, colour: string, inside: boolean): HTMLCanvasElement {
    const key = `${r} ${colour} ${inside} ${this.pixels}`;
    const known = this.stamps.get(key);
    if (known) return known;
    // A zoom makes new ones; the old are of no more use.
    if (this.stamps.size > 500) this.stamps.clear();
    const canvas = document.createElement('canvas');
    const half = Math.ceil(r + 2);
    canvas.width = canvas.height = Math.ceil(2 * half * this.pixels);
    const c = canvas.getContext('2d')!;
    c.scale(this.pixels, this.pixels);
    const middle = canvas.width / this.pixels / 2;
    c.arc(middle, middle, Math.max(0.5, r), 0, 2 * Math.PI);
    if (inside) {
      c.fillStyle = veil(colour);
      c.fill();
    }
    c.strokeStyle = colour;
    c.lineWidth = 1.2;
    c.stroke();
    this.stamps.set(key, canvas);
    return canvas;
  }

  /** Outline into `body`, thin lines (angle marks, hatching) into `lines`. */
  private addPath({ item, offset }: Placed, body: Path2D, lines: Path2D): void {
    const p = this.frames.drawn;
    const scale = this.camera.scale;
    const [px, py] = [this.x(p[offset]), this.y(p[offset + 1])];
    if (!Number.isFinite(px) || !Number.isFinite(py)) return;
    switch (item.kind) {
      case 'point':
        markPath(body, 'disc', px, py, 3.5);
        break;
      case 'line':
        body.moveTo(px, py);
        for (let i = 1; i < (item.points ?? 0); i++) body.lineTo(this.x(p[offset + 2 * i]), this.y(p[offset + 2 * i + 1]));
        if (item.closed) body.closePath();
        break;
      case 'spring':
        this.addSpring(body, px, py, this.x(p[offset + 2]), this.y(p[offset + 3]));
        break;
      case 'circle':
      case 'ring': {
        const r = (item.radius ?? 0) * scale;
        const [s, co] = [Math.sin(p[offset + 2]), Math.cos(p[offset + 2])];
        // Off the picture: nothing to draw.
        if (px + r < 0 || px - r > this.width || py + r < 0 || py - r > this.height) return;
        body.moveTo(px + r, py);
        body.arc(px, py, r, 0, 2 * Math.PI);
        if (r < 2) return;
        const inner = item.kind === 'ring' ? r : 0;
        const outer = item.kind === 'ring' ? r + 8 : r;
        lines.moveTo(px + inner * co, py - inner * s);
        lines.lineTo(px + outer * co, py - outer * s);
        break;
      }
      case 'box': {
        const [a, b] = [((item.size?.[0] ?? 0) * scale) / 2, ((item.size?.[1] ?? 0) * scale) / 2];
        const [s, co] = [Math.sin(p[offset + 2]), Math.cos(p[offset + 2])];
        const corner = (u: number, v: number, move: boolean) => {
          const [x, y] = [px + u * co - v * s, py - u * s - v * co];
          if (move) body.moveTo(x, y);
          else body.lineTo(x, y);
        };
        corner(-a, -b, true);
        corner(a, -b, false);
        corner(a, b, false);
        corner(-a, b, false);
        body.closePath();
        break;
      }
      case 'segment': {
        const [s, co] = [Math.sin(p[offset + 2]), Math.cos(p[offset + 2])];
        const place = (v: number[] | undefined): [number, number] => {
          const [u, w] = [(v?.[0] ?? 0) * scale, (v?.[1] ?? 0) * scale];
          return [px + u * co - w * s, py - u * s - w * co];
        };
        this.addCapsule(body, place(item.from), place(item.to), ((item.thickness ?? 0) * scale) / 2);
        break;
      }
      case 'wall':
        this.addWall(body, lines, px, py, p[offset + 2]);
        break;
    }
  }

  private addSpring(path: Path2D, x0: number, y0: number, x1: number, y1: number): void {
    const length = Math.hypot(x1 - x0, y1 - y0);
    path.moveTo(x0, y0);
    if (length > 1) {
      const turns = 9;
      const [ex, ey] = [(x1 - x0) / length, (y1 - y0) / length];
      const half = Math.min(7, 0.12 * this.width);
      for (let i = 0; i <= 2 * turns; i++) {
        const along = length * (0.12 + (0.76 * i) / (2 * turns));
        const across = i === 0 || i === 2 * turns ? 0 : i % 2 === 1 ? half : -half;
        path.lineTo(x0 + ex * along - ey * across, y0 + ey * along + ex * across);
      }
    }
    path.lineTo(x1, y1);
  }

  private addCapsule(path: Path2D, [x0, y0]: [number, number], [x1, y1]: [number, number], r: number): void {
    if (r < 0.5) {
      path.moveTo(x0, y0);
      path.lineTo(x1, y1);
      return;
    }
    const angle = Math.atan2(y1 - y0, x1 - x0);
    path.moveTo(x0 + r * Math.cos(angle + Math.PI / 2), y0 + r * Math.sin(angle + Math.PI / 2));
    path.arc(x0, y0, r, angle + Math.PI / 2, angle + 1.5 * Math.PI);
    path.arc(x1, y1, r, angle - Math.PI / 2, angle + Math.PI / 2);
    path.closePath();
  }

  /** A line across the picture, hatched on the side away from the normal. */
  private addWall(body: Path2D, lines: Path2D, px: number, py: number, angle: number): void {
    const [nx, ny] = [Math.cos(angle), -Math.sin(angle)];
    const [tx, ty] = [-ny, nx];
    const corners = [0, this.width].flatMap((x) => [0, this.height].map((y) => (x - px) * tx + (y - py) * ty));
    const from = Math.floor(Math.min(...corners) / HATCH) * HATCH;
    const to = Math.max(...corners);
    body.moveTo(px + from * tx, py + from * ty);
    body.lineTo(px + to * tx, py + to * ty);
    for (let a = from; a < to; a += HATCH) {
      lines.moveTo(px + a * tx, py + a * ty);
      lines.lineTo(px + (a - HATCH) * tx - HATCH * nx, py + (a - HATCH) * ty - HATCH * ny);
    }
  }

  private paintLabels(): void {
    const { c } = this;
    c.font = '12px system-ui, sans-serif';
    c.textAlign = 'left';
    c.fillStyle = theme().text;
    for (const { item, offset } of this.frames.placed) {
      if (item.label) c.fillText(item.label, this.x(this.frames.drawn[offset]) + 8, this.y(this.frames.drawn[offset + 1]) - 8);
    }
  }

  /** Pixels of an arrow of 1 N s. */
  private arrowScale(): number {
    const largest = this.contactList?.largest ?? 0;
    const span = Math.max(this.box.max[0] - this.box.min[0], this.box.max[1] - this.box.min[1], 1e-9);
    return largest > 0 ? (0.22 * span * this.camera.scale * this.arrows.scale) / largest : 0;
  }

  /** Half the width of a mark: where contacts are many, a part of their mean distance, so that bodies remain visible. */
  private markSize(): number {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const { point } of this.shown) {
      const [x, y] = [this.x(point[0]), this.y(point[1])];
      [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
    }
    if (this.shown.length < 40) return 4;
    const distance = Math.sqrt(((right - left) * (bottom - top)) / this.shown.length);
    return Number.isFinite(distance) ? Math.min(4, Math.max(0.7, 0.22 * distance)) : 4;
  }

  private paintContacts(): void {
    const { c } = this;
    const now = theme();
    const scale = this.arrowScale();
    const size = this.markSize();
    for (const state of [0, 1, 2, 3]) {
      const marks = new Path2D();
      const shafts = new Path2D();
      const heads = new Path2D();
      for (const contact of this.shown) {
        if (contact.state !== state) continue;
        const [x, y] = [this.x(contact.point[0]), this.y(contact.point[1])];
        if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
        markPath(marks, STATE_SHAPES[state], x, y, size);
        if (this.arrows.visible) this.addArrow(shafts, heads, x, y, contact.arrow[0] * scale, -contact.arrow[1] * scale);
      }
      c.strokeStyle = c.fillStyle = now.states[state];
      c.lineWidth = Math.min(2, 0.5 * size);
      c.stroke(shafts);
      c.fill(heads);
      c.lineWidth = Math.min(1.5, 0.5 * size);
      c.stroke(marks);
      if (filled(STATE_SHAPES[state])) c.fill(marks);
    }
  }

  private addArrow(shafts: Path2D, heads: Path2D, x: number, y: number, dx: number, dy: number): void {
    const length = Math.hypot(dx, dy);
    if (!(length > 2)) return;
    const [ex, ey] = [dx / length, dy / length];
    const head = Math.min(9, 0.5 * length);
    shafts.moveTo(x, y);
    shafts.lineTo(x + dx - ex * head, y + dy - ey * head);
    heads.moveTo(x + dx, y + dy);
    heads.lineTo(x + dx - ex * head - ey * head * 0.45, y + dy - ey * head + ex * head * 0.45);
    heads.lineTo(x + dx - ex * head + ey * head * 0.45, y + dy - ey * head - ex * head * 0.45);
    heads.closePath();
  }

  /** Lower edge: the length of a metre, and of a percussion. */
  private paintScales(bar: number): void {
    const { c } = this;
    const now = theme();
    const y = this.height - 12;
    c.font = '12px system-ui, sans-serif';
    const note = (text: string, x: number, align: CanvasTextAlign) => {
      c.textAlign = align;
      c.lineWidth = 4;
      c.strokeStyle = now.backgrounds.panel;
      c.strokeText(text, x, y - 8);
      c.fillStyle = now.text;
      c.fillText(text, x, y - 8);
    };
    const length = bar * this.camera.scale;
    c.strokeStyle = now.text;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(14, y - 4);
    c.lineTo(14, y);
    c.lineTo(14 + length, y);
    c.lineTo(14 + length, y - 4);
    c.stroke();
    note(`${number(bar, 3)} m`, 20, 'left');

    const scale = this.arrowScale();
    if (!this.arrows.visible || !(scale > 0)) return;
    const percussion = roundLength(110 / scale);
    const right = this.width - 14;
    const shafts = new Path2D();
    const heads = new Path2D();
    this.addArrow(shafts, heads, right - percussion * scale, y, percussion * scale, 0);
    c.strokeStyle = c.fillStyle = now.text;
    c.stroke(shafts);
    c.fill(heads);
    note(`${number(percussion, 3)} N s`, right - 4, 'right');
  }

  /** Name of the contact or item at a place of the picture, the topmost first. */
  private nameAt(px: number, py: number): string | null {
    for (const contact of this.shown) {
      if (Math.hypot(this.x(contact.point[0]) - px, this.y(contact.point[1]) - py) < 6) return contactText(contact);
    }
    for (let i = this.batches.length - 1; i >= 0; i--) {
      const batch = this.batches[i];
      for (let k = batch.length - 1; k >= 0; k--) if (this.hits(batch[k], px, py)) return batch[k].item.name;
    }
    return null;
  }

  private hits(placed: Placed, px: number, py: number): boolean {
    const { item, offset } = placed;
    const p = this.frames.drawn;
    const away = Math.hypot(this.x(p[offset]) - px, this.y(p[offset + 1]) - py);
    if (item.kind === 'point') return away < 8;
    if (item.kind === 'circle') return away < (item.radius ?? 0) * this.camera.scale + 2;
    if (item.kind === 'ring') return Math.abs(away - (item.radius ?? 0) * this.camera.scale) < 6;
    const body = new Path2D();
    this.addPath(placed, body, new Path2D());
    // isPointInPath works in device pixels.
    const [x, y] = [px * this.pixels, py * this.pixels];
    this.c.lineWidth = 8;
    return this.c.isPointInStroke(body, x, y) || (item.kind !== 'line' || item.closed === true ? this.c.isPointInPath(body, x, y) : false);
  }
}
