// Spans as columns, and the binary form of a timeline: the length of a JSON head, the head, and
// the columns.
import { flags, Picture, Spans, Timeline } from './api';

export type SpanRow = [
  start: number,
  end: number,
  depth: number,
  func: number,
  flags: number,
  count: number,
];

export function emptySpans(rows: number): Spans {
  return {
    rows,
    start: new Float64Array(rows),
    end: new Float64Array(rows),
    func: new Uint32Array(rows),
    count: new Uint32Array(rows),
    depth: new Uint16Array(rows),
    flags: new Uint16Array(rows),
  };
}

export function spansFromRows(rows: readonly SpanRow[]): Spans {
  const spans = emptySpans(rows.length);
  rows.forEach(([start, end, depth, func, flag, count], i) => {
    spans.start[i] = start;
    spans.end[i] = end;
    spans.depth[i] = depth;
    spans.func[i] = func;
    spans.flags[i] = flag;
    spans.count[i] = count;
  });
  return spans;
}

export function rowOf(spans: Spans, i: number): SpanRow {
  return [
    spans.start[i] ?? 0,
    spans.end[i] ?? 0,
    spans.depth[i] ?? 0,
    spans.func[i] ?? 0,
    spans.flags[i] ?? 0,
    spans.count[i] ?? 1,
  ];
}

type RawPicture = Omit<Picture, 'spans'> & { spans?: SpanRow[] | { rows: number; at: number } };
type RawTimeline = Omit<Timeline, 'tracks'> & { tracks: RawPicture[] };

const padded = (bytes: number, to: number): number => Math.ceil(bytes / to) * to;

class BadAnswer extends Error {}

function columns(bytes: ArrayBuffer, body: number, place: { rows: number; at: number }): Spans {
  const { rows, at } = place;
  let offset = body + at;
  if (!Number.isInteger(rows) || rows < 0 || !Number.isInteger(at) || at < 0) {
    throw new BadAnswer('The answer of the server is damaged: its header is invalid.');
  }
  if (offset + rows * 28 > bytes.byteLength) {
    throw new BadAnswer('The answer of the server ends too early.');
  }
  const take = <T>(make: (from: number) => T, size: number): T => {
    const column = make(offset);
    offset += rows * size;
    return column;
  };
  // A copy, because a view needs an offset that is a multiple of its element size.
  const part = (from: number, size: number): ArrayBuffer => bytes.slice(from, from + rows * size);
  return {
    rows,
    start: take((o) => new Float64Array(part(o, 8)), 8),
    end: take((o) => new Float64Array(part(o, 8)), 8),
    func: take((o) => new Uint32Array(part(o, 4)), 4),
    count: take((o) => new Uint32Array(part(o, 4)), 4),
    depth: take((o) => new Uint16Array(part(o, 2)), 2),
    flags: take((o) => new Uint16Array(part(o, 2)), 2),
  };
}

/** The columns are little-endian, as all machines with a browser are. */
export function timelineFromBinary(bytes: ArrayBuffer): Timeline {
  if (bytes.byteLength < 4) throw new BadAnswer('The answer of the server is empty.');
  const length = new DataView(bytes).getUint32(0, true);
  if (4 + length > bytes.byteLength) throw new BadAnswer('The answer of the server ends too early.');
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as RawTimeline;
  const body = padded(4 + length, 8);
  return fromRaw(head, (place) => columns(bytes, body, place));
}

export function timelineFromJson(raw: unknown): Timeline {
  return fromRaw(raw as RawTimeline, () => {
    throw new BadAnswer('The answer refers to columns that it does not have.');
  });
}

function fromRaw(
  raw: RawTimeline,
  binary: (place: { rows: number; at: number }) => Spans,
): Timeline {
  return {
    ...raw,
    tracks: raw.tracks.map((picture): Picture => {
      const { spans, ...rest } = picture;
      if (spans === undefined) return rest;
      return { ...rest, spans: Array.isArray(spans) ? spansFromRows(spans) : binary(spans) };
    }),
  };
}

/** The parts of spans between two places. What is cut off is stated by flags. */
export function clipped(spans: Spans, from: number, to: number): SpanRow[] {
  const rows: SpanRow[] = [];
  for (let i = 0; i < spans.rows; i++) {
    let [start, end, depth, func, flag, count] = rowOf(spans, i);
    if (end < from || start > to || (end === from && start < from) || start === to) continue;
    if (start < from) {
      start = from;
      flag = (flag & ~flags.startUnknown) | flags.continuesBefore;
    }
    if (end > to) {
      end = to;
      flag |= flags.continuesAfter;
    }
    rows.push([start, end, depth, func, flag, count]);
  }
  return rows;
}

/**
 * Joins the parts of one window's spans. Where two parts meet, a frame that continues after the
 * first and before the second is one frame. Parts are in the order of the axis.
 */
export function joined(parts: readonly (readonly SpanRow[])[]): SpanRow[] {
  const all: SpanRow[] = [];
  let open = new Map<string, SpanRow>();
  for (const part of parts) {
    const stillOpen = new Map<string, SpanRow>();
    for (const row of part) {
      const key = `${row[2]} ${row[3]}`;
      const before = row[4] & flags.continuesBefore ? open.get(key) : undefined;
      let now = row;
      if (before && before[1] === row[0]) {
        now = before;
        now[1] = row[1];
        now[4] =
          (now[4] & ~flags.continuesAfter) | (row[4] & ~flags.continuesBefore & ~flags.startUnknown);
        now[5] = Math.max(now[5], row[5]);
      } else {
        now = [...row];
        all.push(now);
      }
      if (now[4] & flags.continuesAfter) stillOpen.set(key, now);
    }
    open = stillOpen;
  }
  return all.sort((a, b) => a[2] - b[2] || a[0] - b[0] || a[1] - b[1]);
}
