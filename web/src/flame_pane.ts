// The flame graph of the visible window or the selection: calls from the top down.
import type { Flame } from './api';
import { App, Asker } from './app';
import { count, percent } from './axis';
import { colours, functionColour } from './colours';
import { button, emptyState, h } from './dom';
import { exactWords } from './functions_pane';
import { isCancelled, sentence } from './source';

const rowHeight = 19;

export interface FlameBox {
  node: number;
  depth: number;
  /** Shares of the width, 0 to 1. */
  left: number;
  right: number;
}

/** Where each node is when `top` fills the width. What is narrower than `least` is left out. */
export function flameLayout(nodes: Flame['nodes'], top: number, least: number): FlameBox[] {
  const children = new Map<number, number[]>();
  nodes.forEach(([parent], i) => {
    if (i === 0) return;
    const list = children.get(parent) ?? [];
    list.push(i);
    children.set(parent, list);
  });
  const total = (node: number): number => nodes[node]?.[3] ?? 0;
  const boxes: FlameBox[] = [];
  const path: number[] = [];
  for (let node = top; node !== 0; node = nodes[node]?.[0] ?? 0) path.unshift(node);
  if (nodes.length) path.unshift(0);
  path.slice(0, -1).forEach((node, depth) => boxes.push({ node, depth, left: 0, right: 1 }));
  const whole = Math.max(1, total(top));
  const open: FlameBox[] = [{ node: top, depth: Math.max(0, path.length - 1), left: 0, right: 1 }];
  while (open.length) {
    const box = open.pop();
    if (!box || !nodes[box.node]) continue;
    boxes.push(box);
    let left = box.left;
    const list = (children.get(box.node) ?? []).sort((a, b) => total(b) - total(a));
    for (const node of list) {
      const width = total(node) / whole;
      if (width >= least) open.push({ node, depth: box.depth + 1, left, right: Math.min(left + width, box.right) });
      left += width;
    }
  }
  return boxes;
}

export class FlamePane {
  readonly element: HTMLElement;
  private readonly note = h('p', { class: 'pane-note' });
  private readonly details = h('p', { class: 'flame-details', attrs: { role: 'status' } });
  private readonly canvas: HTMLCanvasElement;
  private readonly box: HTMLElement;
  private readonly asker: Asker;
  private flame: Flame | undefined;
  private boxes: FlameBox[] = [];
  private top = 0;
  private at = 0;
  private key = '';

  constructor(private readonly app: App) {
    this.asker = new Asker(app, 'flame');
    this.canvas = h('canvas', {
      attrs: {
        role: 'application',
        tabindex: 0,
        'aria-label': 'Flame graph',
        'aria-describedby': 'flame-keys',
      },
      on: {
        click: (event) => this.click(event as MouseEvent),
        pointermove: (event) => this.hover(event as PointerEvent),
        keydown: (event) => this.key_(event as KeyboardEvent),
        focus: () => this.draw(),
        blur: () => this.draw(),
      },
    });
    this.box = h('div', { class: 'flame-box' }, this.canvas);
    this.element = h(
      'div',
      { class: 'flame-pane' },
      h(
        'div',
        { class: 'pane-tools' },
        button('Whole graph', () => this.zoomTo(0)),
        this.note,
      ),
      this.details,
      this.box,
      h('p', {
        id: 'flame-keys',
        class: 'sr-only',
        text: 'Arrow keys choose a function, Enter widens it, Escape shows the whole graph. The Functions pane has the same counts as a list.',
      }),
    );
    new ResizeObserver(() => this.draw()).observe(this.box);
    app.on('settled', () => this.load());
    app.on('view', () => this.load());
    app.on('theme', () => this.draw());
  }

  private load(): void {
    const { app } = this;
    if (app.view.pane !== 'flame' || !app.capture) return;
    const { from, to } = app.scope;
    const key = `${from} ${to} ${app.growth}`;
    if (key === this.key) {
      this.draw();
      return;
    }
    this.key = key;
    void this.ask(from, to);
  }

  private async ask(from: number, to: number): Promise<void> {
    const { app } = this;
    try {
      const { value, note } = await this.asker.ask('flame', { from, to, limit: 4000 });
      this.flame = value;
      this.top = 0;
      this.at = 0;
      const total = value.nodes[0]?.[3] ?? 0;
      this.note.textContent = exactWords(value.exact, app.scopeWords, note);
      if (total > 0) this.box.replaceChildren(this.canvas);
      else {
        this.box.replaceChildren(
          emptyState(`Nothing was executed in ${app.scopeWords}.`, 'Move the window, or press 0 to see the whole capture.'),
        );
      }
      this.draw();
      this.describe();
    } catch (error) {
      if (isCancelled(error)) return;
      this.key = '';
      this.note.textContent = '';
      this.details.textContent = '';
      this.flame = undefined;
      this.box.replaceChildren(emptyState('The flame graph cannot be shown.', sentence(error)));
    }
  }

  private nameOf(node: number): string {
    const row = this.flame?.nodes[node];
    return node === 0 || !row ? 'All threads' : this.app.names.get(row[1]).name;
  }

  private describe(node = this.at): void {
    const nodes = this.flame?.nodes;
    const row = nodes?.[node];
    if (!nodes || !row) return;
    const all = Math.max(1, nodes[0]?.[3] ?? 1);
    this.details.textContent = `${this.nameOf(node)}: ${count(row[3])} instructions, ${percent(row[3] / all, 1)} of all; itself ${count(row[2])}`;
  }

  private draw(): void {
    const { flame, app } = this;
    const width = this.box.clientWidth;
    if (!flame || app.view.pane !== 'flame' || !width || !this.canvas.isConnected) return;
    this.boxes = flameLayout(flame.nodes, this.top, 0.7 / width);
    const deepest = Math.max(0, ...this.boxes.map((box) => box.depth));
    const height = (deepest + 1) * rowHeight + 2;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d');
    if (!context) return;
    context.scale(ratio, ratio);
    const look = colours[app.theme];
    context.font = '11px "DejaVu Sans", system-ui, sans-serif';
    context.textBaseline = 'middle';
    for (const { node, depth, left, right } of this.boxes) {
      const x = left * width;
      const wide = (right - left) * width;
      const y = depth * rowHeight;
      const entry = app.names.get(flame.nodes[node]?.[1] ?? -1);
      context.fillStyle = node === 0 ? look.line : functionColour(entry.name, entry.kind, app.theme);
      context.fillRect(x, y, Math.max(0.5, wide - 1), rowHeight - 1);
      const faded = app.view.func && node !== 0 && entry.name !== app.view.func;
      if (faded) {
        context.fillStyle = look.dim;
        context.fillRect(x, y, Math.max(0.5, wide - 1), rowHeight - 1);
      }
      if (wide > 26) {
        context.fillStyle = node === 0 ? look.text : look.onSpan;
        const text = this.nameOf(node);
        const most = Math.floor((wide - 8) / 6.6);
        context.fillText(text.length > most ? text.slice(0, Math.max(1, most - 1)) + '…' : text, x + 4, y + rowHeight / 2);
      }
      if (node === this.at && document.activeElement === this.canvas) {
        context.strokeStyle = look.text;
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, Math.max(1, wide - 3), rowHeight - 3);
      }
    }
  }

  private find(event: MouseEvent): FlameBox | undefined {
    const outer = this.canvas.getBoundingClientRect();
    const share = (event.clientX - outer.left) / outer.width;
    const depth = Math.floor((event.clientY - outer.top) / rowHeight);
    return this.boxes.find((box) => box.depth === depth && share >= box.left && share < box.right);
  }

  private click(event: MouseEvent): void {
    const box = this.find(event);
    if (!box) return;
    this.at = box.node;
    this.zoomTo(box.node);
  }

  private hover(event: PointerEvent): void {
    const box = this.find(event);
    this.describe(box ? box.node : this.at);
  }

  private zoomTo(node: number): void {
    this.top = node;
    this.at = node;
    this.draw();
    this.describe();
  }

  private key_(event: KeyboardEvent): void {
    const current = this.boxes.find((box) => box.node === this.at) ?? this.boxes[0];
    if (!current || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = (depth: number): FlameBox[] =>
      this.boxes.filter((box) => box.depth === depth).sort((a, b) => a.left - b.left);
    const peers = row(current.depth);
    const index = peers.indexOf(current);
    const middle = (current.left + current.right) / 2;
    const next: Record<string, () => FlameBox | undefined> = {
      ArrowLeft: () => peers[index - 1],
      ArrowRight: () => peers[index + 1],
      ArrowUp: () => row(current.depth - 1).find((box) => box.left <= middle && box.right >= middle),
      ArrowDown: () => row(current.depth + 1).find((box) => box.left >= current.left && box.right <= current.right + 1e-9),
    };
    const step = next[event.key];
    if (step) {
      const box = step();
      if (box) this.at = box.node;
      this.draw();
      this.describe();
    } else if (event.key === 'Enter') {
      this.zoomTo(this.at);
      this.app.set({ func: this.at ? this.nameOf(this.at) : '' });
    } else if (event.key === 'Escape') this.zoomTo(0);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
