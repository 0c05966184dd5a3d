// The replay of motion in space, by three.js; z is up.
import {
  BoxGeometry,
  BufferAttribute,
  BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DirectionalLight,
  EdgesGeometry,
  GridHelper,
  Group,
  HemisphereLight,
  InstancedMesh,
  Line,
  LineBasicMaterial,
  LineLoop,
  LineSegments,
  Matrix4,
  Mesh,
  MeshLambertMaterial,
  type Object3D,
  PerspectiveCamera,
  PlaneGeometry,
  Quaternion,
  Raycaster,
  Scene,
  SphereGeometry,
  Vector2,
  Vector3,
  WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { type Contact, type Contacts, contactText, MOST_PASSED, type Stage } from './contacts';
import { fitCanvas, h } from './dom';
import type { Item, Replay } from './format';
import type { Frames, Placed } from './frames';
import { number, roundLength } from './numbers';
import type { Theme } from './palette';
import { onTheme, theme } from './theme';

const UP = new Vector3(0, 0, 1);
const ALONG = new Vector3(0, 1, 0);
const MOST_ARROWS = 4096;

interface Shown {
  placed: Placed;
  object: Object3D;
  recolour: (theme: Theme) => void;
}

export class Replay3D implements Stage {
  readonly element: HTMLElement;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly camera = new PerspectiveCamera(35, 1, 0.01, 100);
  private readonly controls: OrbitControls;
  private readonly sun = new DirectionalLight(0xffffff, 2.2);
  private readonly shown: Shown[] = [];
  private readonly centre = new Vector3();
  private readonly diameter: number;
  private readonly shafts: InstancedMesh;
  private readonly heads: InstancedMesh;
  private readonly dots: InstancedMesh;
  private readonly scaleText = h('span', { class: 'stage-note' });
  private contactsNow: Contact[] = [];
  private arrows = { visible: true, scale: 1 };
  private drawnTime = 0;

  /** Throws if the browser has no WebGL. */
  constructor(
    private readonly frames: Frames,
    private readonly contactList: Contacts | null,
    replay: Replay,
    hover: (text: string | null, x: number, y: number) => void,
  ) {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true });
    const canvas = this.renderer.domElement;
    canvas.classList.add('stage');
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'Replay of the motion');
    this.element = h('div', { class: 'stage-3d' }, canvas, this.scaleText);

    const box = frames.box(replay);
    const [min, max] = [new Vector3(...box.min), new Vector3(...box.max)];
    this.centre.copy(min).add(max).multiplyScalar(0.5);
    this.diameter = Math.max(min.distanceTo(max), 1e-6);

    this.renderer.shadowMap.enabled = frames.placed.length <= 200;
    this.scene.add(new HemisphereLight(0xffffff, 0x8a8f98, 1.6));
    this.light();
    // A weak light from the eye: sides in the shade keep their colour.
    this.camera.add(new DirectionalLight(0xffffff, 0.9));
    this.scene.add(this.camera);
    for (const placed of frames.placed) this.addItem(placed);
    if (!frames.placed.some(({ item }) => item.kind === 'floor')) this.addGrid(new Vector3(this.centre.x, this.centre.y, box.min[2]), UP);

    const thin = 0.006 * this.diameter;
    this.shafts = this.instances(new CylinderGeometry(thin * 0.55, thin * 0.55, 1, 10));
    this.heads = this.instances(new ConeGeometry(thin * 1.7, thin * 4.5, 16));
    this.dots = this.instances(new SphereGeometry(thin * 1.4, 12, 8));

    this.camera.up.copy(UP);
    this.camera.near = this.diameter / 200;
    this.camera.far = this.diameter * 40;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.maxDistance = this.diameter * 15;
    this.controls.minDistance = this.diameter / 50;
    // Not below the floor.
    this.controls.maxPolarAngle = 0.98 * (Math.PI / 2);
    this.resetView();
    this.controls.addEventListener('change', () => this.render());

    fitCanvas(canvas, (width, height, pixels) => {
      this.renderer.setPixelRatio(pixels);
      this.renderer.setSize(width, height, false);
      const before = this.camera.aspect;
      this.camera.aspect = width / height;
      this.camera.updateProjectionMatrix();
      if (before === 1) this.resetView();
      this.render();
    });
    onTheme((now) => {
      this.recolour(now);
      this.draw(this.drawnTime, null);
    });
    this.recolour(theme());
    this.listen(canvas, hover);
  }

  private light(): void {
    const d = this.diameter;
    this.sun.position.copy(this.centre).add(new Vector3(-0.6 * d, -0.9 * d, 1.8 * d));
    this.sun.target.position.copy(this.centre);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -d;
    camera.right = camera.top = d;
    camera.near = 0.1 * d;
    camera.far = 5 * d;
    this.sun.shadow.normalBias = 0.01 * d;
    this.scene.add(this.sun, this.sun.target);
  }

  private instances(geometry: BufferGeometry): InstancedMesh {
    // In front of everything: a contact lies between bodies and would be hidden.
    const material = new MeshLambertMaterial({ color: 0xffffff, emissive: 0x303030, depthTest: false, transparent: true });
    const mesh = new InstancedMesh(geometry, material, MOST_ARROWS);
    mesh.renderOrder = 10;
    mesh.count = 0;
    mesh.frustumCulled = false;
    mesh.setColorAt(0, new Color(0xffffff));
    this.scene.add(mesh);
    return mesh;
  }

  private addItem(placed: Placed): void {
    const { item, offset } = placed;
    let object: Object3D;
    let recolour: (theme: Theme) => void = () => {};
    const paint = (material: { color: Color }) => {
      recolour = (now) => {
        material.color.set(item.colour == null ? now.surroundings : now.solids[Math.abs(item.colour) % now.solids.length]);
      };
    };
    switch (item.kind) {
      case 'floor': {
        const p = this.frames.drawn;
        const normal = new Vector3(p[offset + 3], p[offset + 4], p[offset + 5]);
        if (!(normal.length() > 0)) normal.copy(UP);
        normal.normalize();
        // The part of the plane that lies under the motion.
        const point = new Vector3(p[offset], p[offset + 1], p[offset + 2]);
        const foot = this.centre.clone().addScaledVector(normal, -normal.dot(this.centre.clone().sub(point)));
        object = this.addGrid(foot, normal);
        break;
      }
      case 'line3': {
        const geometry = new BufferGeometry();
        geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * (item.points ?? 0)), 3));
        const material = new LineBasicMaterial();
        object = item.closed ? new LineLoop(geometry, material) : new Line(geometry, material);
        object.frustumCulled = false;
        paint(material);
        break;
      }
      default: {
        const material = new MeshLambertMaterial({ vertexColors: item.kind === 'sphere' });
        paint(material);
        const solid = new Mesh(this.geometry(item), material);
        solid.castShadow = item.colour != null;
        solid.receiveShadow = true;
        const edges = this.marks(item);
        if (edges) {
          const ink = new LineBasicMaterial({ transparent: true, opacity: 0.75 });
          solid.add(new LineSegments(edges, ink));
          const body = recolour;
          recolour = (now) => {
            body(now);
            ink.color.set(now.name === 'dark' ? '#f4f6f8' : '#1c2229');
          };
        }
        object = solid;
      }
    }
    object.name = item.name;
    if (item.kind !== 'floor') this.scene.add(object);
    this.shown.push({ placed, object, recolour });
  }

  private geometry(item: Item): BufferGeometry {
    const radius = item.radius ?? 0.5;
    switch (item.kind) {
      case 'sphere': {
        // Eight fields, light and dark in turn, show the rotation.
        const geometry = new SphereGeometry(radius, 32, 24).toNonIndexed();
        const place = geometry.getAttribute('position');
        const shade = new Float32Array(place.count * 3);
        for (let i = 0; i < place.count; i += 3) {
          const middle = (get: (k: number) => number) => get(i) + get(i + 1) + get(i + 2);
          const sign = middle((k) => place.getX(k)) * middle((k) => place.getY(k)) * middle((k) => place.getZ(k));
          shade.fill(sign > 0 ? 1 : 0.55, 3 * i, 3 * i + 9);
        }
        geometry.setAttribute('color', new BufferAttribute(shade, 3));
        return geometry;
      }
      case 'box3':
        return new BoxGeometry(item.size?.[0] ?? 1, item.size?.[1] ?? 1, item.size?.[2] ?? 1);
      case 'disc3':
        return new CylinderGeometry(radius, radius, Math.max(item.thickness ?? 0, 0.004 * radius), 64).rotateX(Math.PI / 2);
      default:
        return new SphereGeometry(0.012 * this.diameter, 16, 12);
    }
  }

  /** Lines on the surface: edges, and what shows the rotation of a disc. */
  private marks(item: Item): BufferGeometry | null {
    if (item.kind === 'box3') return new EdgesGeometry(this.geometry(item));
    if (item.kind !== 'disc3') return null;
    const r = item.radius ?? 0.5;
    const z = Math.max(item.thickness ?? 0, 0.004 * r) / 2 + 0.002 * r;
    const points: number[] = [];
    for (const side of [z, -z]) {
      points.push(0, 0, side, r, 0, side, -0.25 * r, 0, side, 0, 0, side, 0, -0.25 * r, side, 0, 0.25 * r, side);
      for (let i = 0; i < 64; i++) {
        for (const k of [i, i + 1]) points.push(r * Math.cos((k * Math.PI) / 32), r * Math.sin((k * Math.PI) / 32), side);
      }
    }
    points.push(r * 1.001, 0, z, r * 1.001, 0, -z);
    const geometry = new BufferGeometry();
    geometry.setAttribute('position', new BufferAttribute(new Float32Array(points), 3));
    return geometry;
  }

  /** A plane with a grid of round length. */
  private addGrid(at: Vector3, normal: Vector3): Group {
    const group = new Group();
    const cell = roundLength(this.diameter / 5);
    const cells = 20;
    const turn = new Quaternion().setFromUnitVectors(ALONG, normal);
    let grid: GridHelper | null = null;
    const build = (now: Theme) => {
      if (grid) {
        group.remove(grid);
        grid.dispose();
      }
      grid = new GridHelper(cell * cells, cells, now.faint.border, now.faint.border);
      group.add(grid);
    };
    const plane = new Mesh(
      new PlaneGeometry(cell * cells, cell * cells).rotateX(-Math.PI / 2),
      new MeshLambertMaterial({ transparent: true, opacity: 0.9, depthWrite: false }),
    );
    plane.position.y = -0.002 * this.diameter;
    plane.receiveShadow = true;
    plane.renderOrder = -1;
    group.add(plane);
    group.quaternion.copy(turn);
    // Grid lines at multiples of the cell where the plane is level.
    const round = (v: number) => (Math.abs(normal.z) > 0.999 ? Math.round(v / cell) * cell : v);
    group.position.set(round(at.x), round(at.y), at.z);
    const recolour = (now: Theme) => {
      build(now);
      plane.material.color.set(now.backgrounds.panel);
    };
    onTheme(recolour);
    recolour(theme());
    this.scene.add(group);
    this.scaleText.textContent = `grid ${number(cell)} m`;
    return group;
  }

  private recolour(now: Theme): void {
    for (const { recolour } of this.shown) recolour(now);
  }

  private listen(canvas: HTMLCanvasElement, hover: (text: string | null, x: number, y: number) => void): void {
    const ray = new Raycaster();
    const pointed = (e: PointerEvent) => {
      const { clientWidth: width, clientHeight: height } = canvas;
      const place = new Vector2((2 * e.offsetX) / width - 1, 1 - (2 * e.offsetY) / height);
      for (const contact of this.contactsNow) {
        const p = new Vector3(...contact.point).project(this.camera);
        if (Math.hypot((p.x - place.x) * width, (p.y - place.y) * height) < 14) return contactText(contact);
      }
      ray.setFromCamera(place, this.camera);
      ray.params.Line = { threshold: 0.01 * this.diameter };
      const bodies = this.shown.filter(({ placed }) => placed.item.kind !== 'floor').map(({ object }) => object);
      return ray.intersectObjects(bodies, false)[0]?.object.name ?? null;
    };
    canvas.addEventListener('pointermove', (e) => {
      if (e.buttons === 0) hover(pointed(e), e.offsetX, e.offsetY);
      else hover(null, 0, 0);
    });
    canvas.addEventListener('pointerdown', (e) => hover(pointed(e), e.offsetX, e.offsetY));
    canvas.addEventListener('pointerleave', () => hover(null, 0, 0));
    canvas.addEventListener('dblclick', () => {
      hover(null, 0, 0);
      this.resetView();
    });
  }

  zoom(factor: number): void {
    const away = this.camera.position.clone().sub(this.controls.target);
    const length = Math.min(this.controls.maxDistance, Math.max(this.controls.minDistance, away.length() / factor));
    this.camera.position.copy(this.controls.target).add(away.setLength(length));
    this.controls.update();
    this.render();
  }

  resetView(): void {
    // Far enough for the sphere around everything, in the narrower direction.
    const half = (this.camera.fov * Math.PI) / 360;
    const narrow = Math.min(half, Math.atan(Math.tan(half) * this.camera.aspect));
    const distance = (0.46 * this.diameter) / Math.sin(narrow);
    this.controls.target.copy(this.centre);
    this.camera.position.copy(this.centre).add(new Vector3(0.55, -1, 0.5).setLength(distance));
    this.controls.update();
    this.render();
  }

  view(): number[] {
    return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
  }

  setArrows(visible: boolean, scale: number): void {
    this.arrows = { visible, scale };
    this.draw(this.drawnTime, null);
  }

  /** The poses of the objects in the scene graph. */
  items(): { name: string; kind: string; pose: number[] }[] {
    return this.shown.map(({ placed, object }) => {
      const { item, offset, count } = placed;
      if (item.kind === 'line3') {
        const place = (object as Line).geometry.getAttribute('position');
        return { name: item.name, kind: item.kind, pose: Array.from(place.array) };
      }
      if (item.kind === 'floor') {
        return { name: item.name, kind: item.kind, pose: Array.from(this.frames.drawn.subarray(offset, offset + count)) };
      }
      const { x, y, z } = object.position;
      const q = object.quaternion;
      return { name: item.name, kind: item.kind, pose: count === 3 ? [x, y, z] : [x, y, z, q.w, q.x, q.y, q.z] };
    });
  }

  contacts(): Contact[] {
    return this.contactsNow;
  }

  draw(t: number, passed: number | null): void {
    this.drawnTime = t;
    this.frames.moveTo(t);
    const p = this.frames.drawn;
    for (const { placed, object } of this.shown) {
      const { item, offset, count } = placed;
      if (item.kind === 'floor') continue;
      if (item.kind === 'line3') {
        const place = (object as Line).geometry.getAttribute('position');
        for (let k = 0; k < count; k++) place.array[k] = p[offset + k];
        place.needsUpdate = true;
        continue;
      }
      object.visible = Number.isFinite(p[offset]);
      object.position.set(p[offset], p[offset + 1], p[offset + 2]);
      if (count === 7) object.quaternion.set(p[offset + 4], p[offset + 5], p[offset + 6], p[offset + 3]);
    }
    this.contactsNow = [];
    if (this.contactList) {
      const now = this.frames.nearest(t);
      if (passed !== null) {
        for (let i = Math.max(passed, now - MOST_PASSED); i < now; i++) this.contactList.collect(i, this.contactsNow, true);
      }
      this.contactList.collect(now, this.contactsNow);
    }
    this.placeContacts();
    this.render();
  }

  private placeContacts(): void {
    const largest = this.contactList?.largest ?? 0;
    const scale = largest > 0 ? (0.25 * this.diameter * this.arrows.scale) / largest : 0;
    const colours = theme().states.map((colour) => new Color(colour));
    const head = 0.006 * 4.5 * this.diameter;
    const matrix = new Matrix4();
    const turn = new Quaternion();
    const one = new Vector3(1, 1, 1);
    let arrows = 0;
    let dots = 0;
    for (const contact of this.contactsNow) {
      if (dots >= MOST_ARROWS) break;
      const at = new Vector3(...contact.point);
      if (!Number.isFinite(at.x + at.y + at.z)) continue;
      const colour = colours[contact.state] ?? colours[0];
      this.dots.setMatrixAt(dots, matrix.makeTranslation(at));
      this.dots.setColorAt(dots++, colour);
      const along = new Vector3(...contact.arrow).multiplyScalar(scale);
      const length = along.length();
      if (!this.arrows.visible || !(length > 0.01 * this.diameter)) continue;
      along.normalize();
      turn.setFromUnitVectors(ALONG, along);
      const tip = Math.min(head, 0.6 * length);
      const shaft = length - tip;
      matrix.compose(at.clone().addScaledVector(along, shaft / 2), turn, new Vector3(1, shaft, 1));
      this.shafts.setMatrixAt(arrows, matrix);
      this.shafts.setColorAt(arrows, colour);
      matrix.compose(at.clone().addScaledVector(along, shaft + tip / 2), turn, one.setScalar(tip / head));
      this.heads.setMatrixAt(arrows, matrix);
      this.heads.setColorAt(arrows++, colour);
    }
    this.dots.count = dots;
    this.shafts.count = this.heads.count = arrows;
    for (const mesh of [this.dots, this.shafts, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  private render(): void {
    if (this.shafts) this.renderer.render(this.scene, this.camera);
  }
}
