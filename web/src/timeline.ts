// The timeline: ruler, overview of the whole capture, and tracks.
import { Executed, flags, GapReason, isAmount, Mark, Picture, Track } from './api';
import type { App } from './app';
import {
  count,
  lengthText,
  moved,
  niceStep,
  percent,
  placeText,
  rateText,
  ruler,
  short,
  widthOf,
  Window,
  zoomed,
} from './axis';
import { rowOf, SpanRow } from './binary';
import { Colours, colours } from './colours';
import { coverKey, coverOf, Piece, pictureIn, spansIn, wideSpans } from './cover';
import { button, h, name } from './dom';
import { firstFree, Fold, Layout, layoutOf, rowAt, rowHeight, Stretch, TrackBox } from './layout';
import { visible } from './names';
import {
  Brush,
  framesTop,
  gapWords,
  iconOf,
  levelOf,
  paintIcon,
  paintPicture,
} from './paint';
import { levelFor, Tile, Tiles } from './tiles';
import { drive } from './timeline_input';
import { InstructionStrip } from './instruction_strip';

const fontText = '11px "DejaVu Sans", system-ui, sans-serif';
const settledAfter = 140;

interface Bitmap {
  canvas: HTMLCanvasElement;
  version: number;
  pixels: number;
  look: string;
  used: number;
}

/** What is drawn, for tests. */
export interface TrackModel {
  track: number;
  kind: string;
  name: string;
  mode: 'spans' | 'summary' | 'mixed' | 'empty';
  spans: { start: number; end: number; depth: number; function: string; number: number; flags: number; count: number }[];
  gaps: [number, number, string][];
  buckets: unknown[];
  marks: unknown[];
  instants: unknown[];
  points: unknown[];
  instructions: { n: number; t: number; address: string }[];
}

export interface Hover {
  box: TrackBox | undefined;
  t: number;
  span?: SpanRow;
  text: string[];
}

export class Timeline {
  readonly element: HTMLElement;
  readonly scroller: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  readonly rulerCanvas: HTMLCanvasElement;
  readonly mapCanvas: HTMLCanvasElement;
  readonly tiles: Tiles;
  readonly strip: InstructionStrip;
  layout: Layout = { boxes: [], height: 0 };
  /** The track that keys move. */
  focused = 0;
  /** Where the pointer is, on the axis. */
  pointer: number | null = null;
  dragging = false;
  /** Milliseconds that frames took to draw. */
  readonly drawTimes: number[] = [];
  /** Milliseconds until the first answer was drawn. */
  firstPaint = 0;

  private readonly gutter: HTMLElement;
  private readonly spacer: HTMLElement;
  private readonly tooltip: HTMLElement;
  private readonly baseLabel: HTMLElement;
  private readonly state: HTMLElement;
  private readonly bitmaps = new Map<string, Bitmap>();
  private readonly labels = new Map<string, SpanRow[]>();
  private labelKey = '';
  private queued = false;
  private frame = 0;
  private lastChange = 0;
  private lastUnits = 0;
  private late = 0;
  private timer = 0;
  private stateText = '';

  constructor(readonly app: App) {
    this.tiles = new Tiles(
      app.source,
      (tile) => this.arrived(tile),
      (failure) => app.noteFailure(failure),
    );
    this.strip = new InstructionStrip(app, () => this.queue());
    this.rulerCanvas = h('canvas', { class: 'ruler', attrs: { 'aria-hidden': true } });
    this.mapCanvas = h('canvas', {
      class: 'map',
      title: 'The whole capture. Drag the frame to move the visible window.',
      attrs: { role: 'img', 'aria-label': 'Overview of the whole capture' },
    });
    this.canvas = h('canvas', {
      class: 'tracks',
      attrs: {
        role: 'application',
        tabindex: 0,
        'aria-label': 'Timeline',
        'aria-roledescription': 'timeline',
        'aria-describedby': 'timeline-keys summary',
      },
    });
    this.gutter = h('div', { class: 'gutter' });
    this.spacer = h('div', { class: 'spacer' });
    this.tooltip = h('div', { class: 'tooltip', attrs: { role: 'tooltip', hidden: true } });
    this.baseLabel = h('div', { class: 'axis-words' });
    this.state = h('div', { class: 'timeline-state', attrs: { hidden: true } });
    this.scroller = h(
      'div',
      { class: 'scroller', on: { scroll: () => this.queue() } },
      this.spacer,
      h('div', { class: 'sticky' }, this.gutter, h('div', { class: 'canvas-box' }, this.canvas)),
    );
    this.element = h(
      'section',
      { class: 'timeline', attrs: { 'aria-label': 'Timeline' } },
      h('div', { class: 'map-row' }, h('div', { class: 'map-label', text: 'Whole capture' }), this.mapCanvas),
      h('div', { class: 'ruler-row' }, this.baseLabel, this.rulerCanvas),
      this.scroller,
      this.state,
      this.tooltip,
      h('p', {
        id: 'timeline-keys',
        class: 'sr-only',
        text:
          'W and S zoom, A and D or the left and right arrows move, up and down choose a track, ' +
          'Enter puts the cursor in its middle, 0 shows the whole capture, ? shows all keys.',
      }),
    );
    new ResizeObserver(() => this.update()).observe(this.scroller);
    app.on(['view', 'place', 'hits', 'theme'], () => this.queue());
    app.on(['capture', 'tracks'], () => this.update());
    drive(this);
  }

  get colours(): Colours {
    return colours[this.app.theme];
  }

  /** Pixels from left to right on which the axis is drawn. */
  get pixels(): number {
    return Math.max(1, this.canvas.clientWidth);
  }

  xOf(t: number): number {
    const window = this.app.window;
    return ((t - window.from) / widthOf(window)) * this.pixels;
  }

  tAt(x: number): number {
    const window = this.app.window;
    return window.from + (x / this.pixels) * widthOf(window);
  }

  zoom(factor: number, about = (this.app.window.from + this.app.window.to) / 2): void {
    this.app.show(zoomed(this.app.window, factor, about, this.app.axis));
  }

  pan(pixels: number): void {
    const window = this.app.window;
    this.app.show(moved(window, (pixels / this.pixels) * widthOf(window), this.app.axis));
  }

  queue(): void {
    if (this.queued) return;
    this.queued = true;
    requestAnimationFrame(() => {
      this.queued = false;
      const begin = performance.now();
      this.draw();
      this.drawTimes.push(performance.now() - begin);
      if (this.drawTimes.length > 2000) this.drawTimes.shift();
    });
  }

  retry(): void {
    this.tiles.retry();
    this.queue();
  }

  private arrived(tile: Tile): void {
    this.app.names.add(tile.timeline?.functions);
    if (tile.timeline) this.app.works();
    this.queue();
  }

  private update(): void {
    const { app } = this;
    this.tiles.grow(app.axis.length, app.complete);
    this.layout = layoutOf(app.tracks, (track) => this.foldOf(track), this.scroller.clientHeight);
    if (!app.track(this.focused)) this.focused = this.threads()[0]?.number ?? 0;
    this.fillGutter();
    this.queue();
  }

  threads(): Track[] {
    return this.boxes()
      .map((box) => box.track)
      .filter((track) => track.kind === 'thread');
  }

  boxes(): TrackBox[] {
    return this.layout.boxes.filter((box): box is TrackBox => box.kind === 'track');
  }

  private foldOf(track: Track): Fold {
    if (this.app.view.folded.includes(track.number)) return 'folded';
    return this.app.view.full.includes(track.number) ? 'full' : 'usual';
  }

  private toggle(track: Track, fold: 'full' | 'folded'): void {
    const { view } = this.app;
    const flip = (list: number[]): number[] =>
      list.includes(track.number)
        ? list.filter((entry) => entry !== track.number)
        : [...list, track.number];
    this.app.set(fold === 'full' ? { full: flip(view.full) } : { folded: flip(view.folded) });
    this.update();
  }

  private fillGutter(): void {
    const rows = this.layout.boxes.map((box) => {
      const row = h('div', { class: box.kind === 'group' ? 'group-row' : `track-row ${box.track.kind}` });
      row.style.top = `${box.top}px`;
      row.style.height = `${box.height}px`;
      if (box.kind === 'group') {
        row.append(name(visible(box.name, 200) || 'No core'));
        return row;
      }
      this.fillTrackRow(row, box);
      return row;
    });
    this.gutter.replaceChildren(...rows);
    this.spacer.style.height = `${this.layout.height}px`;
  }

  private fillTrackRow(row: HTMLElement, box: TrackBox): void {
    const { track } = box;
    const text = visible(track.name || track.thread, 300) || `source ${track.source}`;
    row.dataset['track'] = String(track.number);
    const label = h('span', { class: 'track-name', title: text }, name(text));
    if (track.kind !== 'thread' && track.kind !== 'counter') {
      row.append(label);
      return;
    }
    const folded = box.fold === 'folded';
    const fold = button(folded ? '▸' : '▾', () => this.toggle(track, 'folded'), {
      class: 'fold',
      name: `${folded ? 'Unfold' : 'Fold'} ${text}`,
    });
    fold.setAttribute('aria-expanded', String(!folded));
    row.append(fold, label);
    if (track.kind === 'thread' && !folded && (box.hidden > 0 || box.fold === 'full')) {
      const words = box.hidden > 0 ? `${count(box.hidden)} more levels` : 'fewer levels';
      const levels = button(words, () => this.toggle(track, 'full'), {
        class: 'levels',
        name: `${words} of ${text}`,
      });
      row.append(h('div', { class: 'levels-row' }, levels));
    }
  }

  // Drawing -------------------------------------------------------------------------------------

  private draw(): void {
    this.frame++;
    const { app } = this;
    const ratio = window.devicePixelRatio || 1;
    const brush: Brush = {
      theme: app.theme,
      colours: this.colours,
      names: app.names,
      emphasis: app.view.func,
      ratio,
    };
    const view = app.window;
    const units = widthOf(view) / this.pixels;
    if (units !== this.lastUnits) {
      this.lastUnits = units;
      this.lastChange = performance.now();
    }
    const calm = performance.now() - this.lastChange > settledAfter;
    this.showState();
    this.scroller.dataset['calm'] = String(calm);
    this.drawRuler(view);
    if (!app.capture) return;
    const level = levelFor(units);
    this.tiles.want(view, level, calm && !this.dragging);
    const pieces = coverOf(this.tiles, view, this.pixels);
    this.drawTracks(view, pieces, brush, calm);
    if (pieces.length && app.tracks.length) this.firstPaint ||= performance.now();
    this.drawMap(brush);
    this.strip.want(view, this.threads(), pieces);
    if (!calm || this.late > 0) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.queue(), this.late > 0 ? 0 : settledAfter + 10);
    }
    this.forget();
  }

  private prepared(canvas: HTMLCanvasElement, height: number): CanvasRenderingContext2D | null {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const tall = Math.max(1, Math.round(height * ratio));
    if (canvas.width !== width || canvas.height !== tall) {
      canvas.width = width;
      canvas.height = tall;
    }
    const context = canvas.getContext('2d', { alpha: false });
    context?.setTransform(ratio, 0, 0, ratio, 0, 0);
    return context;
  }

  private drawTracks(view: Window, pieces: Piece[], brush: Brush, calm: boolean): void {
    const height = this.scroller.clientHeight;
    const scroll = this.scroller.scrollTop;
    this.canvas.style.height = `${height}px`;
    this.gutter.style.transform = `translateY(${-scroll}px)`;
    const context = this.prepared(this.canvas, height);
    if (!context) return;
    const { colours } = this;
    context.fillStyle = colours.background;
    context.fillRect(0, 0, this.pixels, height);
    this.drawGrid(context, view, height);
    const key = coverKey(pieces);
    if (key !== this.labelKey) {
      this.labels.clear();
      this.labelKey = key;
    }
    this.late = 0;
    const deadline = performance.now() + (calm ? 24 : 7);
    for (const box of this.layout.boxes) {
      if (box.top + box.height < scroll || box.top > scroll + height) continue;
      context.save();
      context.translate(0, box.top - scroll);
      if (box.kind === 'group') {
        context.fillStyle = colours.panel;
        context.fillRect(0, 0, this.pixels, box.height);
      } else {
        this.drawTrack(context, box, pieces, brush, calm, deadline);
      }
      context.restore();
    }
    this.drawOverlays(context, height);
  }

  private drawGrid(context: CanvasRenderingContext2D, view: Window, height: number): void {
    context.fillStyle = this.colours.line;
    for (const tick of ruler(view, this.pixels, this.app.axis.unit).ticks) {
      if (tick.major) context.fillRect(Math.round(this.xOf(tick.t)), 0, 1, height);
    }
  }

  private drawTrack(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: Piece[],
    brush: Brush,
    calm: boolean,
    deadline: number,
  ): void {
    const { colours } = this;
    context.beginPath();
    context.rect(0, 0, this.pixels, box.height);
    context.clip();
    const kind = box.track.kind;
    const top = kind === 'counter' ? this.counterTop(box, pieces) : 0;
    if (kind === 'thread' || kind === 'counter') {
      for (const piece of pieces) {
        this.drawPiece(context, box, piece, brush, top, calm, deadline);
      }
    }
    if (kind === 'thread') {
      this.drawLabels(context, box, pieces, brush);
      this.strip.draw(context, box, pieces, this, brush);
      this.drawInstants(context, box, pieces, brush);
    } else if (kind === 'counter') {
      this.drawCounterScale(context, box.track, top);
    } else {
      this.drawMarks(context, box, pieces, brush);
    }
    context.fillStyle = colours.line;
    context.fillRect(0, box.height - 1, this.pixels, 1);
    if (box.track.number === this.focused && document.activeElement === this.canvas) {
      context.fillStyle = colours.accent;
      context.fillRect(0, 0, 3, box.height - 1);
    }
  }

  private drawPiece(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    piece: Piece,
    brush: Brush,
    top: number,
    calm: boolean,
    deadline: number,
  ): void {
    const picture = pictureIn(piece.tile, box.track.number);
    if (!picture) return;
    const bitmap = this.bitmapOf(piece.tile, picture, box, brush, top, calm, deadline);
    if (!bitmap) return;
    const { from, to } = piece.tile;
    const share = (t: number): number => ((t - from) / (to - from)) * bitmap.canvas.width;
    const snap = (x: number): number => Math.round(x * brush.ratio) / brush.ratio;
    const view = this.app.window;
    const first = Math.max(piece.from, view.from - widthOf(view) * 0.02);
    const last = Math.min(piece.to, view.to + widthOf(view) * 0.02);
    if (last <= first) return;
    const left = snap(this.xOf(first));
    const right = snap(this.xOf(last));
    if (right <= left) return;
    context.imageSmoothingEnabled = false;
    context.drawImage(
      bitmap.canvas,
      share(first),
      0,
      Math.max(share(last) - share(first), 1e-3),
      bitmap.canvas.height,
      left,
      0,
      right - left,
      bitmap.canvas.height / brush.ratio,
    );
  }

  private bitmapOf(
    tile: Tile,
    picture: Picture,
    box: TrackBox,
    brush: Brush,
    top: number,
    calm: boolean,
    deadline: number,
  ): Bitmap | undefined {
    const key = `${tile.level}:${tile.index}:${box.track.number}`;
    const view = this.app.window;
    const exact = ((tile.to - tile.from) / widthOf(view)) * this.pixels * brush.ratio;
    const pixels = Math.round(Math.min(Math.max(exact, 64), 1500 * brush.ratio));
    const look = `${box.height} ${box.rows} ${box.track.depth} ${brush.theme} ${brush.ratio} ${top} ${brush.emphasis}`;
    let bitmap = this.bitmaps.get(key);
    const fits = bitmap && bitmap.version === tile.version && bitmap.look === look;
    const sharp = bitmap && Math.abs(bitmap.pixels - pixels) <= 1;
    if (!bitmap || !fits || (calm && !sharp)) {
      if (performance.now() > deadline) {
        this.late++;
        return bitmap;
      }
      const canvas = bitmap?.canvas ?? document.createElement('canvas');
      canvas.width = pixels;
      canvas.height = Math.round(box.height * brush.ratio);
      const context = canvas.getContext('2d');
      if (!context) return undefined;
      context.setTransform(brush.ratio, 0, 0, brush.ratio, 0, 0);
      const { from, to } = tile;
      paintPicture(context, picture, { from, to, width: pixels / brush.ratio, box, top }, brush);
      bitmap = { canvas, version: tile.version, pixels, look, used: 0 };
      this.bitmaps.set(key, bitmap);
    }
    bitmap.used = this.frame;
    return bitmap;
  }

  private forget(): void {
    if (this.bitmaps.size < 160) return;
    const old = [...this.bitmaps.entries()].filter(([, bitmap]) => bitmap.used < this.frame - 30);
    old.sort((a, b) => a[1].used - b[1].used);
    for (const [key] of old.slice(0, this.bitmaps.size - 120)) this.bitmaps.delete(key);
  }

  private counterTop(box: TrackBox, pieces: Piece[]): number {
    const pixel = widthOf(this.app.window) / this.pixels;
    let most = 0;
    let narrow = 0;
    for (const piece of pieces) {
      for (const point of pictureIn(piece.tile, box.track.number)?.points ?? []) {
        if (point[1] <= piece.from || point[0] >= piece.to) continue;
        const level = levelOf(box.track, point);
        // An invisible peak would flatten all that is visible.
        if (point[1] - point[0] >= pixel) most = Math.max(most, level);
        else narrow = Math.max(narrow, level);
      }
    }
    const top = most || narrow;
    return top > 0 ? niceStep(top) : 0;
  }

  private drawCounterScale(context: CanvasRenderingContext2D, track: Track, top: number): void {
    if (!top) return;
    const text = this.levelText(track, top);
    context.font = fontText;
    context.textBaseline = 'top';
    const width = context.measureText(text).width + 8;
    context.fillStyle = this.colours.background;
    context.globalAlpha = 0.8;
    context.fillRect(this.pixels - width, 2, width, 14);
    context.globalAlpha = 1;
    context.fillStyle = this.colours.faint;
    context.fillText(text, this.pixels - width + 4, 3);
    context.fillStyle = this.colours.line;
    context.fillRect(0, 4, this.pixels - width, 1);
  }

  private levelText(track: Track, level: number): string {
    return isAmount(track) ? rateText(level, this.app.axis.unit) : short(level);
  }

  private drawLabels(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: Piece[],
    brush: Brush,
  ): void {
    const number = box.track.number;
    let rows = this.labels.get(String(number));
    if (!rows) {
      rows = wideSpans(pieces, number, 14);
      this.labels.set(String(number), rows);
    }
    context.font = fontText;
    context.textBaseline = 'middle';
    const gaps = this.drawGapLabels(context, box, pieces);
    const wanted = brush.emphasis;
    for (const [start, end, depth, func, flag, frames] of rows) {
      if (depth >= box.rows) continue;
      const whole: Stretch = [Math.max(this.xOf(start), 0), Math.min(this.xOf(end), this.pixels)];
      if (whole[1] - whole[0] < 3) continue;
      const [left, right] = firstFree(whole, gaps, 60);
      const top = framesTop + depth * rowHeight;
      const entry = brush.names.get(func);
      if (right - left < 22) continue;
      const torn = flag & flags.startUnknown && !(flag & flags.continuesBefore) ? 6 : 0;
      const room = right - left - 6 - torn;
      const text = flag & flags.merged ? `${short(frames)} frames: ${entry.name}` : entry.name;
      const faint = wanted && entry.name !== wanted;
      context.fillStyle = faint ? brush.colours.faint : brush.colours.onSpan;
      const fitted = this.fitted(context, text, room);
      if (fitted) context.fillText(fitted, left + 3 + torn, top + rowHeight / 2);
    }
  }

  /** What is not known says why. Gives the gaps, in pixels, which have no other labels. */
  private drawGapLabels(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: Piece[],
  ): Stretch[] {
    const stretches: Stretch[] = [];
    let last: { end: number; why: string } | undefined;
    const labels: { left: number; right: number; why: GapReason }[] = [];
    for (const piece of pieces) {
      for (const [start, end, why] of pictureIn(piece.tile, box.track.number)?.gaps ?? []) {
        const from = Math.max(start, piece.from);
        const to = Math.min(end, piece.to);
        if (to <= from) continue;
        const left = Math.max(this.xOf(from), 0);
        const right = Math.min(this.xOf(to), this.pixels);
        if (right - left < 2) continue;
        stretches.push([left, right]);
        const open = labels[labels.length - 1];
        if (open && last?.end === from && last.why === why) open.right = right;
        else labels.push({ left, right, why });
        last = { end: to, why };
      }
    }
    for (const { left, right, why } of labels) {
      const text = this.fitted(context, gapWords[why], right - left - 12);
      if (text.length < 5) continue;
      const width = context.measureText(text).width + 8;
      const middle = (left + right - width) / 2;
      const top = box.height / 2 - 8;
      context.fillStyle = this.colours.background;
      context.fillRect(middle, top, width, 16);
      context.fillStyle = this.colours.text;
      context.fillText(text, middle + 4, top + 8);
    }
    return stretches;
  }

  private readonly widths = new Map<string, number>();

  /** The text as far as it fits; empty: not even a few characters. */
  private fitted(context: CanvasRenderingContext2D, text: string, room: number): string {
    if (room < 14) return '';
    const cut = text.slice(0, 400);
    let width = this.widths.get(cut);
    if (width === undefined) {
      width = context.measureText(cut).width;
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(cut, width);
    }
    if (width <= room && cut.length === text.length) return text;
    const length = Math.floor((cut.length * (room - 8)) / Math.max(width, 1));
    return length < 2 ? '' : cut.slice(0, length) + '…';
  }

  private drawInstants(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: Piece[],
    brush: Brush,
  ): void {
    for (const piece of pieces) {
      const picture = pictureIn(piece.tile, box.track.number);
      for (const [t, kind] of picture?.instants ?? []) {
        if (t < piece.from || t >= piece.to) continue;
        const x = this.xOf(t);
        if (x > -6 && x < this.pixels + 6) paintIcon(context, iconOf(kind), x, 9, brush);
      }
      for (const [start, end, , , exceptions, messages] of picture?.buckets ?? []) {
        if (!exceptions && !messages) continue;
        const middle = (start + end) / 2;
        if (middle < piece.from || middle >= piece.to) continue;
        const x = this.xOf(middle);
        if (x < -6 || x > this.pixels + 6) continue;
        const kind = exceptions ? 'exception' : 'message';
        paintIcon(context, kind, x, 9, brush, 3);
      }
    }
  }

  private drawMarks(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: Piece[],
    brush: Brush,
  ): void {
    const marks: Mark[] = [];
    for (const piece of pieces) {
      for (const mark of pictureIn(piece.tile, box.track.number)?.marks ?? []) {
        if (mark[0] >= piece.from && mark[0] < piece.to) marks.push(mark);
      }
    }
    context.font = fontText;
    context.textBaseline = 'middle';
    marks.forEach(([t, kind, text, many], i) => {
      const x = this.xOf(t);
      if (x > this.pixels + 6) return;
      const next = marks[i + 1];
      const room = (next ? this.xOf(next[0]) : this.pixels) - x - 18;
      const words = many > 1 ? `${short(many)}: ${visible(text, 120)}` : visible(text, 120);
      if (room > 24 && x + room > 0) {
        const fitted = this.fitted(context, words, Math.min(room, 420));
        context.fillStyle = brush.colours.text;
        if (fitted) context.fillText(fitted, x + 9, 12);
      }
      const icon = box.track.kind === 'messages' ? 'message' : iconOf(kind);
      if (x > -6) paintIcon(context, icon, x, 12, brush, many > 1 ? 5.5 : 4.5);
    });
  }

  private drawOverlays(context: CanvasRenderingContext2D, height: number): void {
    const { view, hits } = this.app;
    const { colours } = this;
    if (view.selection) {
      const left = this.xOf(view.selection.from);
      const right = this.xOf(view.selection.to);
      context.fillStyle = colours.selection;
      context.fillRect(left, 0, right - left, height);
      context.fillStyle = colours.accent;
      context.fillRect(left - 0.5, 0, 1, height);
      context.fillRect(right - 0.5, 0, 1, height);
    }
    const shown = hits.map((hit) => this.xOf(hit.t)).filter((x) => x >= 0 && x <= this.pixels);
    context.fillStyle = colours.hit;
    // Many lines would hide what is below them.
    context.globalAlpha = shown.length > 30 ? 0.12 : 0.9;
    for (const x of shown) context.fillRect(x - 0.5, 0, 1, height);
    context.globalAlpha = 1;
    [colours.markerA, colours.markerB].forEach((colour, i) => {
      const t = view.markers[i as 0 | 1];
      if (t === null) return;
      this.dashed(context, this.xOf(t), height, colour);
    });
    if (view.cursor) {
      context.fillStyle = colours.cursor;
      context.fillRect(this.xOf(view.cursor.t) - 0.75, 0, 1.5, height);
    }
  }

  private dashed(context: CanvasRenderingContext2D, x: number, height: number, colour: string): void {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.setLineDash([6, 3]);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
    context.setLineDash([]);
  }

  private drawRuler(view: Window): void {
    const context = this.prepared(this.rulerCanvas, 30);
    if (!context) return;
    const { colours, app } = this;
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, this.rulerCanvas.clientWidth, 30);
    const marks = ruler(view, this.pixels, app.axis.unit);
    context.font = fontText;
    context.textBaseline = 'alphabetic';
    for (const tick of marks.ticks) {
      const x = this.xOf(tick.t);
      context.fillStyle = tick.major ? colours.faint : colours.strongLine;
      context.fillRect(Math.round(x), tick.major ? 18 : 24, 1, tick.major ? 12 : 6);
      if (!tick.text) continue;
      if (x + 5 + context.measureText(tick.text).width > this.pixels) continue;
      context.fillStyle = colours.text;
      context.fillText(tick.text, x + 4, 25);
    }
    const from = marks.baseText ? ` after ${marks.baseText}` : '';
    const words = `${visible(app.axis.words, 80) || app.axis.unit}${from}`;
    if (this.baseLabel.textContent !== words) {
      this.baseLabel.textContent = words;
      this.baseLabel.title = `The axis counts ${words}, from ${app.axis.origin}.`;
    }
    if (view && app.view.selection) {
      const { from: start, to: end } = app.view.selection;
      context.fillStyle = colours.selection;
      context.fillRect(this.xOf(start), 0, this.xOf(end) - this.xOf(start), 30);
    }
    for (const hit of app.hits) {
      context.fillStyle = colours.hit;
      context.fillRect(this.xOf(hit.t) - 1.5, 0, 3, 5);
    }
    this.drawFlags(context);
  }

  private drawFlags(context: CanvasRenderingContext2D): void {
    const { colours, app } = this;
    const flag = (t: number, text: string, colour: string): void => {
      const x = this.xOf(t);
      const width = context.measureText(text).width + 8;
      context.fillStyle = colour;
      context.fillRect(x, 0, width, 13);
      context.fillStyle = colours.background;
      context.fillText(text, x + 4, 10.5);
    };
    if (app.view.markers[0] !== null) flag(app.view.markers[0], 'A', colours.markerA);
    if (app.view.markers[1] !== null) flag(app.view.markers[1], 'B', colours.markerB);
    if (app.view.cursor) {
      const x = this.xOf(app.view.cursor.t);
      context.fillStyle = colours.cursor;
      context.beginPath();
      context.moveTo(x - 5, 0);
      context.lineTo(x + 5, 0);
      context.lineTo(x, 8);
      context.fill();
    }
  }

  private drawMap(brush: Brush): void {
    const height = 36;
    const context = this.prepared(this.mapCanvas, height);
    if (!context) return;
    const { app, colours } = this;
    const width = Math.max(1, this.mapCanvas.clientWidth);
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, width, height);
    const whole = Math.max(app.axis.length, 1e-9);
    const root = this.tiles.get(this.tiles.topLevel(), 0);
    const threads = this.threads();
    if (root && threads.length) {
      const tall = height / Math.min(threads.length, 6);
      threads.slice(0, 6).forEach((track, i) => {
        const picture = pictureIn(root, track.number);
        const box = this.boxes().find((entry) => entry.track === track);
        if (!picture || !box) return;
        const bitmap = this.bitmapOf(root, picture, box, brush, 0, false, Infinity);
        if (!bitmap) return;
        const part = (whole / (root.to - root.from)) * bitmap.canvas.width;
        const top = framesTop * brush.ratio;
        const source = Math.max(1, bitmap.canvas.height - top - 6 * brush.ratio);
        context.imageSmoothingEnabled = true;
        context.drawImage(bitmap.canvas, 0, top, part, source, 0, i * tall, width, tall - 1);
      });
    }
    const x = (t: number): number => (t / whole) * width;
    for (const hit of app.hits) {
      context.fillStyle = colours.hit;
      context.fillRect(x(hit.t) - 0.5, 0, 1.5, height);
    }
    if (app.view.cursor) {
      context.fillStyle = colours.cursor;
      context.fillRect(x(app.view.cursor.t) - 0.5, 0, 1.5, height);
    }
    const left = x(app.window.from);
    const right = Math.max(x(app.window.to), left + 3);
    context.fillStyle = colours.dim;
    context.fillRect(0, 0, left, height);
    context.fillRect(right, 0, width - right, height);
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(left + 1, 1, Math.max(1, right - left - 2), height - 2);
  }

  // States --------------------------------------------------------------------------------------

  private showState(): void {
    const { app } = this;
    const level = levelFor(widthOf(app.window) / this.pixels);
    let text = '';
    if (!app.capture) {
      text = app.failure ? '' : 'Opening the capture…';
    } else if (!app.tracks.length) {
      text = app.readingFailure
        ? 'Nothing can be shown, because reading the capture ended early.'
        : app.complete
          ? 'This capture has nothing to show: no source sent instructions, messages or events. The Health pane says what looks wrong.'
          : 'Reading the capture. Tracks appear here as soon as the first part has been read.';
    } else {
      text = this.tiles.errorIn(app.window, level)?.message ?? '';
    }
    this.state.hidden = !text;
    if (this.stateText === text) return;
    this.stateText = text;
    const failed = app.capture && app.tracks.length;
    this.state.replaceChildren(text, failed ? button('Try again', () => this.retry()) : '');
  }

  // What is at a place --------------------------------------------------------------------------

  hoverAt(x: number, y: number): Hover {
    const t = this.tAt(x);
    const inner = y + this.scroller.scrollTop;
    const found = this.layout.boxes.find((entry) => inner >= entry.top && inner < entry.top + entry.height);
    if (!found || found.kind === 'group') return { box: undefined, t, text: [] };
    const pieces = coverOf(this.tiles, this.app.window, this.pixels);
    const text = this.words(found, pieces, t, inner, x);
    return { box: found, t, ...text };
  }

  private words(
    box: TrackBox,
    pieces: Piece[],
    t: number,
    y: number,
    x: number,
  ): { text: string[]; span?: SpanRow } {
    const piece = pieces.find((entry) => t >= entry.from && t < entry.to);
    const picture = piece && pictureIn(piece.tile, box.track.number);
    if (!picture) return { text: [] };
    const near = (at: number): boolean => Math.abs(this.xOf(at) - x) < 6;
    const mark = picture.marks?.find((entry) => near(entry[0]));
    if (mark) {
      const more = mark[3] > 1 ? [`and ${count(mark[3] - 1)} more here`] : [];
      return { text: [visible(mark[1], 60), visible(mark[2], 600), ...more] };
    }
    const row = rowAt(box, y);
    const instant = picture.instants?.find((entry) => row < 0 && near(entry[0]));
    if (instant) return { text: [visible(instant[1], 60), visible(instant[2], 600)] };
    const gap = picture.gaps?.find((entry) => t >= entry[0] && t < entry[1]);
    if (gap) return { text: [gapWords[gap[2]], lengthText(gap[1] - gap[0], this.app.axis.unit)] };
    const executed = row < 0 ? this.strip.at(box.track.number, t) : undefined;
    if (executed) return { text: executedWords(executed) };
    const point = picture.points?.find((entry) => t >= entry[0] && t < entry[1]);
    if (point) {
      const level = this.levelText(box.track, levelOf(box.track, point));
      return { text: [`${visible(box.track.name, 100)}: ${level}`] };
    }
    const bucket = picture.buckets?.find((entry) => t >= entry[0] && t < entry[1]);
    if (bucket) return { text: this.bucketWords(bucket) };
    return row < 0 ? { text: [] } : this.spanWords(pieces, box, t, row);
  }

  private bucketWords(bucket: NonNullable<Picture['buckets']>[number]): string[] {
    const [, , instructions, depth, exceptions, messages, gapShare, functions] = bucket;
    const shares = functions
      .slice(0, 5)
      .map(([func, share]) => `${percent(share)} ${this.app.names.get(func).name}`);
    return [
      `${count(instructions)} instructions, depth ${depth}`,
      ...shares,
      exceptions ? `${count(exceptions)} exceptions` : '',
      messages ? `${count(messages)} messages` : '',
      gapShare > 0.002 ? `${percent(gapShare)} not known` : '',
    ].filter(Boolean);
  }

  private spanWords(
    pieces: Piece[],
    box: TrackBox,
    t: number,
    row: number,
  ): { text: string[]; span?: SpanRow } {
    const span = this.spanAt(pieces, box.track.number, t, row);
    if (!span) return { text: [] };
    const [start, end, , func, flag, frames] = span;
    const entry = this.app.names.get(func);
    const merged = flag & flags.merged;
    return {
      span,
      text: [
        merged ? `${count(frames)} frames, most of ${entry.name}` : entry.name,
        entry.program,
        lengthText(end - start, this.app.axis.unit) + (flag & 12 ? ' in this window' : ''),
        flag & flags.exception ? 'exception' : '',
        flag & flags.tailCall ? 'entered by a tail call' : '',
        flag & flags.startUnknown ? 'its start is not known' : '',
        flag & flags.endUnknown ? 'its end is not known' : '',
      ].filter(Boolean),
    };
  }

  private spanAt(pieces: Piece[], track: number, t: number, row: number): SpanRow | undefined {
    const piece = pieces.find((entry) => t >= entry.from && t < entry.to);
    const spans = piece && pictureIn(piece.tile, track)?.spans;
    if (!spans) return undefined;
    const slack = widthOf(this.app.window) / this.pixels / 2;
    let found: SpanRow | undefined;
    for (let i = 0; i < spans.rows; i++) {
      if (spans.depth[i] !== row) continue;
      const start = spans.start[i] ?? 0;
      const end = spans.end[i] ?? 0;
      if (t < start - slack || t >= end + slack) continue;
      found = rowOf(spans, i);
      if (t >= start && t < end) break;
    }
    const open = flags.continuesBefore | flags.continuesAfter;
    if (!found || !(found[4] & open)) return found;
    // Its other parts are in other tiles.
    const whole = spansIn(pieces, track, this.app.window);
    return whole.find((entry) => entry[2] === row && t >= entry[0] && t < entry[1]) ?? found;
  }

  showTooltip(hover: Hover | null, x: number, y: number): void {
    const { tooltip } = this;
    if (!hover || !hover.text.length) {
      tooltip.hidden = true;
      return;
    }
    const at = placeText(hover.t, widthOf(this.app.window), this.app.axis.unit);
    tooltip.replaceChildren(
      ...hover.text.map((text, i) => h('div', { class: i ? '' : 'tooltip-title' }, name(text))),
      h('div', { class: 'tooltip-at', text: `at ${at}` }),
    );
    tooltip.hidden = false;
    const { width, height } = tooltip.getBoundingClientRect();
    const outer = this.element.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14 - outer.left, outer.width - width - 8));
    const below = y + 18 - outer.top;
    const top = below + height > outer.height ? y - outer.top - height - 10 : below;
    tooltip.style.transform = `translate(${Math.round(left)}px, ${Math.round(Math.max(top, 2))}px)`;
  }

  // For tests -----------------------------------------------------------------------------------

  settled(): boolean {
    const { app } = this;
    if (!app.capture) return app.failure !== undefined;
    const level = levelFor(widthOf(app.window) / this.pixels);
    return (
      !this.queued && this.late === 0 && this.tiles.settled(app.window, level) && this.strip.settled()
    );
  }

  model(): TrackModel[] {
    const { app } = this;
    const view = app.window;
    const pieces = coverOf(this.tiles, view, this.pixels);
    return this.boxes().map(({ track }) => {
      const all = <T>(pick: (picture: Picture) => T[] | undefined, inside: (row: T, piece: Piece) => boolean): T[] =>
        pieces.flatMap((piece) => {
          const picture = pictureIn(piece.tile, track.number);
          return picture ? (pick(picture) ?? []).filter((row) => inside(row, piece)) : [];
        });
      const overlaps = (row: readonly unknown[], piece: Piece): boolean =>
        (row[0] as number) < Math.min(piece.to, view.to) &&
        (row[1] as number) > Math.max(piece.from, view.from);
      const within = (row: readonly unknown[], piece: Piece): boolean =>
        (row[0] as number) >= Math.max(piece.from, view.from) &&
        (row[0] as number) < Math.min(piece.to, view.to);
      const spans = spansIn(pieces, track.number, view).map(
        ([start, end, depth, func, flag, frames]) => ({
          start, end, depth, number: func, function: app.names.get(func).name, flags: flag, count: frames,
        }),
      );
      const buckets = all((picture) => picture.buckets, overlaps);
      const mode = spans.length ? (buckets.length ? 'mixed' : 'spans') : buckets.length ? 'summary' : 'empty';
      return {
        track: track.number,
        kind: track.kind,
        name: track.name,
        mode,
        spans,
        gaps: all((picture) => picture.gaps, overlaps),
        buckets,
        marks: all((picture) => picture.marks, within),
        instants: all((picture) => picture.instants, within),
        points: all((picture) => picture.points, overlaps),
        instructions: this.strip.drawn(track.number).map(({ n, t, address }) => ({ n, t, address })),
      };
    });
  }
}

function executedWords(executed: Executed): string[] {
  const where = executed.file && executed.line ? `${visible(executed.file, 300)}:${executed.line}` : '';
  return [
    `${executed.address} ${visible(executed.text, 200)}`,
    where,
    executed.taken === null ? '' : executed.taken ? `taken, to ${executed.target}` : 'not taken',
    visible(executed.event, 300),
  ].filter(Boolean);
}
