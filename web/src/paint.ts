// Draws what one track shows in one tile, without text: text is drawn over it, unscaled.
import { Bucket, flags, Gap, GapReason, isAmount, Picture, Point, Spans, Track } from './api';
import { Colours, faded, functionColour, Theme } from './colours';
import { rowHeight, stripHeight, TrackBox } from './layout';
import type { FunctionNames } from './names';

export const gapWords: Record<GapReason, string> = {
  not_stated: 'not traced',
  loss: 'trace lost',
  missing_code: 'code not available',
  pathless: 'path not known',
  overflow: 'overflow: trace lost',
};

export interface Brush {
  theme: Theme;
  colours: Colours;
  names: FunctionNames;
  /** The name of the function that is emphasised; empty: none. */
  emphasis: string;
  /** Device pixels per CSS pixel. */
  ratio: number;
}

export interface Frame {
  from: number;
  to: number;
  /** CSS pixels. */
  width: number;
  box: TrackBox;
  /** The largest value that a counter shows. */
  top: number;
}

type Context = CanvasRenderingContext2D;

const patterns = new Map<string, CanvasPattern | null>();

/** Lines at 45 degrees; crossed for overflows. */
function hatch(context: Context, brush: Brush, crossed: boolean): CanvasPattern | string {
  const key = `${brush.theme} ${brush.ratio} ${crossed}`;
  let pattern = patterns.get(key);
  if (pattern === undefined) {
    const size = Math.round(8 * brush.ratio);
    const cell = document.createElement('canvas');
    cell.width = size;
    cell.height = size;
    const pen = cell.getContext('2d');
    if (pen) {
      pen.fillStyle = brush.colours.hatchBack;
      pen.fillRect(0, 0, size, size);
      pen.strokeStyle = brush.colours.hatch;
      pen.lineWidth = 1.2 * brush.ratio;
      pen.beginPath();
      for (const shift of [-size, 0, size]) {
        pen.moveTo(shift, size);
        pen.lineTo(shift + size, 0);
        if (crossed) {
          pen.moveTo(shift, 0);
          pen.lineTo(shift + size, size);
        }
      }
      pen.stroke();
    }
    pattern = context.createPattern(cell, 'repeat');
    patterns.set(key, pattern);
  }
  return pattern ?? brush.colours.hatchBack;
}

export const framesTop = stripHeight + 2;

/** Draws in CSS pixels: the context is scaled. */
export function paintPicture(context: Context, picture: Picture, frame: Frame, brush: Brush): void {
  const { box } = frame;
  if (box.track.kind === 'counter') {
    paintPoints(context, picture.points ?? [], frame, brush);
    return;
  }
  if (box.track.kind !== 'thread') return;
  if (picture.buckets) paintBuckets(context, picture.buckets, frame, brush);
  if (picture.spans) paintSpans(context, picture.spans, frame, brush);
  for (const gap of picture.gaps ?? []) paintGap(context, gap, frame, brush);
}

const placeOf = (frame: Frame): ((t: number) => number) => {
  const scale = frame.width / (frame.to - frame.from);
  return (t) => (t - frame.from) * scale;
};

/** If a function is emphasised, all others are faint. */
function colourOf(func: number, brush: Brush): string {
  const { name, kind } = brush.names.get(func);
  const colour = functionColour(name, kind, brush.theme);
  return brush.emphasis && brush.emphasis !== name ? faded(colour, brush.theme) : colour;
}

function paintSpans(context: Context, spans: Spans, frame: Frame, brush: Brush): void {
  const x = placeOf(frame);
  const fill = new Map<number, string>();
  const tall = rowHeight - 1;
  const edges: [number, number][] = [];
  for (let i = 0; i < spans.rows; i++) {
    const depth = spans.depth[i] ?? 0;
    if (depth >= frame.box.rows) continue;
    const left = Math.max(x(spans.start[i] ?? 0), -1);
    const right = Math.min(x(spans.end[i] ?? 0), frame.width + 1);
    if (right <= 0 || left >= frame.width) continue;
    const func = spans.func[i] ?? 0;
    let colour = fill.get(func);
    if (colour === undefined) {
      colour = colourOf(func, brush);
      fill.set(func, colour);
    }
    const top = framesTop + depth * rowHeight;
    const wide = right - left;
    context.fillStyle = colour;
    context.fillRect(left, top, Math.max(wide, 0.6), tall);
    if (wide < 3) continue;
    const flag = spans.flags[i] ?? 0;
    if (flag & flags.merged) paintMerged(context, left, right, top, brush);
    else if (!(flag & flags.continuesBefore)) edges.push([left, top]);
    if (wide < 8) continue;
    if (flag & flags.exception) paintException(context, left, right, top, brush);
    if (!(flag & flags.continuesBefore)) {
      if (flag & flags.startUnknown) paintTorn(context, left, top, 1, brush);
      if (flag & flags.tailCall) paintTailCall(context, left, top, brush);
    }
    if ((flag & flags.endUnknown) && !(flag & flags.continuesAfter)) paintTorn(context, right, top, -1, brush);
  }
  context.fillStyle = brush.colours.edge;
  for (const [left, top] of edges) context.fillRect(left, top, 0.8, tall);
}

/** Frames too narrow to draw: fine vertical lines. */
function paintMerged(context: Context, left: number, right: number, top: number, brush: Brush): void {
  context.fillStyle = brush.colours.edge;
  for (let at = left + 1; at < right - 0.5; at += 3) context.fillRect(at, top + rowHeight - 6, 1, 5);
}

/** An exception has a double line above it. */
function paintException(
  context: Context,
  left: number,
  right: number,
  top: number,
  brush: Brush,
): void {
  context.fillStyle = brush.colours.onSpan;
  context.fillRect(left, top, right - left, 1.4);
  context.fillRect(left, top + 3, right - left, 1);
}

/** The beginning or end is not known: the edge is torn. */
function paintTorn(context: Context, at: number, top: number, side: 1 | -1, brush: Brush): void {
  context.fillStyle = brush.colours.background;
  context.beginPath();
  context.moveTo(at - side, top);
  const step = (rowHeight - 1) / 4;
  for (let i = 0; i < 4; i++) {
    context.lineTo(at + side * 4, top + (i + 0.5) * step);
    context.lineTo(at, top + (i + 1) * step);
  }
  context.lineTo(at - side, top + rowHeight - 1);
  context.fill();
}

/** A tail call begins with a notch. */
function paintTailCall(context: Context, left: number, top: number, brush: Brush): void {
  context.fillStyle = brush.colours.onSpan;
  context.beginPath();
  context.moveTo(left, top);
  context.lineTo(left + 5, top);
  context.lineTo(left, top + 5);
  context.fill();
}

function paintGap(context: Context, [start, end, why]: Gap, frame: Frame, brush: Brush): void {
  const x = placeOf(frame);
  const left = Math.max(x(start), -1);
  const right = Math.min(x(end), frame.width + 1);
  if (right <= 0 || left >= frame.width) return;
  context.fillStyle = hatch(context, brush, why === 'overflow');
  context.fillRect(left, 1, Math.max(right - left, 1), frame.box.height - 3);
  if (right - left > 3) {
    context.fillStyle = brush.colours.hatch;
    context.fillRect(left, 1, 1, frame.box.height - 3);
    context.fillRect(right - 1, 1, 1, frame.box.height - 3);
  }
}

/** Shares of functions from the bottom up; what is not known is hatched; the line is the depth. */
function paintBuckets(
  context: Context,
  buckets: readonly Bucket[],
  frame: Frame,
  brush: Brush,
): void {
  const x = placeOf(frame);
  const top = framesTop;
  const tall = frame.box.rows * rowHeight;
  const deepest = Math.max(1, frame.box.track.depth);
  for (const [start, end, instructions, , , , gapShare, functions] of buckets) {
    const left = Math.max(x(start), 0);
    const right = Math.min(x(end), frame.width);
    if (right <= left) continue;
    const wide = Math.max(right - left, 0.6);
    const known = instructions > 0 ? tall * (1 - Math.min(1, gapShare)) : 0;
    let bottom = top + tall;
    let sum = 0;
    for (const [func, share] of functions) {
      const part = known * Math.max(0, Math.min(share, 1 - sum));
      sum += share;
      context.fillStyle = colourOf(func, brush);
      context.fillRect(left, bottom - part, wide, part);
      bottom -= part;
    }
    if (sum < 0.999 && known > 0) {
      context.fillStyle = brush.theme === 'dark' ? '#4a5361' : '#e5e8ec';
      context.fillRect(left, top + tall - known, wide, Math.max(0, bottom - (top + tall - known)));
    }
    if (gapShare > 0.002) {
      context.fillStyle = hatch(context, brush, false);
      context.fillRect(left, top, wide, Math.max(2, tall * Math.min(1, gapShare)));
    }
  }
  context.strokeStyle = brush.colours.depth;
  context.lineWidth = 1;
  context.beginPath();
  let last = NaN;
  for (const [start, end, instructions, depth] of buckets) {
    if (!instructions) continue;
    const y = top + tall - (tall - 1) * Math.min(1, depth / deepest);
    const left = Math.max(x(start), 0);
    if (left === last) context.lineTo(left, y);
    else context.moveTo(left, y);
    last = Math.min(x(end), frame.width);
    context.lineTo(last, y);
  }
  context.stroke();
}

/** How high a point of a counter is. */
export const levelOf = (track: Track, [start, end, value]: Point): number =>
  isAmount(track) ? value / (end - start) : value;

/** A step chart from 0 to the largest value. */
function paintPoints(
  context: Context,
  points: readonly Point[],
  frame: Frame,
  brush: Brush,
): void {
  const x = placeOf(frame);
  const bottom = frame.box.height - 4;
  const tall = frame.box.height - 8;
  const y = (value: number): number =>
    bottom - (frame.top > 0 ? tall * Math.max(0, Math.min(1, value / frame.top)) : 0);
  context.fillStyle = brush.colours.counter;
  for (const point of points) {
    const left = Math.max(x(point[0]), 0);
    const right = Math.min(x(point[1]), frame.width);
    const at = y(levelOf(frame.box.track, point));
    if (right > left) context.fillRect(left, at, right - left, bottom - at);
  }
  context.strokeStyle = brush.colours.counterLine;
  context.lineWidth = 1.2;
  context.beginPath();
  let last = NaN;
  for (const point of points) {
    const left = Math.max(x(point[0]), -2);
    const right = Math.min(x(point[1]), frame.width + 2);
    if (right <= left) continue;
    const at = y(levelOf(frame.box.track, point));
    if (Math.abs(left - last) < 0.01) context.lineTo(left, at);
    else context.moveTo(left, at);
    context.lineTo(right, at);
    last = right;
  }
  context.stroke();
}

export type IconKind = 'exception' | 'message' | 'event' | 'loss';

export function iconOf(kind: string): IconKind {
  if (/overflow|loss|gap|discard/i.test(kind)) return 'loss';
  if (/exception|interrupt|irq|fiq|abort|return/i.test(kind)) return 'exception';
  if (/event|trigger|marker/i.test(kind)) return 'event';
  return 'message';
}

/** A triangle for exceptions, a circle for messages, a diamond for events, a cross for loss. */
export function paintIcon(
  context: Context,
  kind: IconKind,
  x: number,
  y: number,
  brush: Brush,
  size = 5,
): void {
  const { colours } = brush;
  context.beginPath();
  context.strokeStyle = colours.background;
  context.lineWidth = 1;
  switch (kind) {
    case 'exception':
      context.fillStyle = colours.hit;
      context.moveTo(x, y - size);
      context.lineTo(x + size, y + size - 1);
      context.lineTo(x - size, y + size - 1);
      context.closePath();
      break;
    case 'event':
      context.fillStyle = colours.markerB;
      context.moveTo(x, y - size);
      context.lineTo(x + size, y);
      context.lineTo(x, y + size);
      context.lineTo(x - size, y);
      context.closePath();
      break;
    case 'message':
      context.fillStyle = colours.accent;
      context.arc(x, y, size - 0.5, 0, 2 * Math.PI);
      break;
    case 'loss':
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.moveTo(x - size + 1, y - size + 1);
      context.lineTo(x + size - 1, y + size - 1);
      context.moveTo(x + size - 1, y - size + 1);
      context.lineTo(x - size + 1, y + size - 1);
      context.stroke();
      return;
  }
  context.fill();
  context.stroke();
}
