// Where each track is, from top to bottom.
import type { Track, TrackKind } from './api';

export const rowHeight = 16;
export const stripHeight = 17;
export const groupHeight = 22;
/** Rows of a thread that is neither folded nor shown in full. */
const leastRows = 6;
const usualMost = 24;
export const mostRows = 400;

const kindOrder: Record<TrackKind, number> = { thread: 0, messages: 1, events: 2, counter: 3 };

export type Fold = 'usual' | 'full' | 'folded';

export interface TrackBox {
  kind: 'track';
  track: Track;
  top: number;
  height: number;
  /** Rows of frames of a thread that fit. */
  rows: number;
  /** Levels of the stack that do not fit. */
  hidden: number;
  fold: Fold;
}

export interface GroupBox {
  kind: 'group';
  name: string;
  top: number;
  height: number;
}

export type Box = TrackBox | GroupBox;

export interface Layout {
  boxes: Box[];
  height: number;
}

const collate = new Intl.Collator('en', { numeric: true });

function heightOf(
  track: Track,
  fold: Fold,
  usual: number,
): { height: number; rows: number; hidden: number } {
  switch (track.kind) {
    case 'thread': {
      const depth = Math.max(1, track.depth);
      const rows = fold === 'folded' ? 1 : Math.min(depth, fold === 'full' ? mostRows : usual);
      const height = stripHeight + rows * rowHeight + 6;
      return { height, rows, hidden: depth - rows };
    }
    case 'counter':
      return { height: fold === 'folded' ? 22 : 40, rows: 0, hidden: 0 };
    default:
      return { height: 24, rows: 0, hidden: 0 };
  }
}

/**
 * Tracks by core; in each: threads by name, messages, events, counters. Threads show as many rows
 * as fit, and at least six.
 */
export function layoutOf(
  tracks: readonly Track[],
  foldOf: (track: Track) => Fold,
  room: number,
): Layout {
  for (let rows = usualMost; rows > leastRows; rows--) {
    const layout = layoutWith(tracks, foldOf, rows);
    if (layout.height <= room) return layout;
  }
  return layoutWith(tracks, foldOf, leastRows);
}

function layoutWith(
  tracks: readonly Track[],
  foldOf: (track: Track) => Fold,
  usual: number,
): Layout {
  const groups = new Map<string, Track[]>();
  for (const track of tracks) {
    const list = groups.get(track.group) ?? [];
    list.push(track);
    groups.set(track.group, list);
  }
  const boxes: Box[] = [];
  let top = 0;
  for (const name of [...groups.keys()].sort(collate.compare)) {
    boxes.push({ kind: 'group', name, top, height: groupHeight });
    top += groupHeight;
    const list = groups.get(name) ?? [];
    list.sort(
      (a, b) =>
        kindOrder[a.kind] - kindOrder[b.kind] ||
        a.source - b.source ||
        collate.compare(a.name, b.name) ||
        a.number - b.number,
    );
    for (const track of list) {
      const fold = foldOf(track);
      const size = heightOf(track, fold, usual);
      boxes.push({ kind: 'track', track, top, fold, ...size });
      top += size.height;
    }
  }
  return { boxes, height: top };
}

export function boxAt(layout: Layout, y: number): Box | undefined {
  return layout.boxes.find((box) => y >= box.top && y < box.top + box.height);
}

/** The row of frames at a height inside a thread's box; -1: the strip above them. */
export function rowAt(box: TrackBox, y: number): number {
  return Math.max(-1, Math.floor((y - box.top - stripHeight - 2) / rowHeight));
}

export type Stretch = [left: number, right: number];

/**
 * The first part of a stretch that no gap covers and that is at least `wanted` wide; if there is
 * none, the widest one. Gaps are in order.
 */
export function firstFree(whole: Stretch, gaps: readonly Stretch[], wanted: number): Stretch {
  let [at] = whole;
  const end = whole[1];
  let best: Stretch = [at, at];
  const offer = (left: number, right: number): boolean => {
    if (right - left > best[1] - best[0]) best = [left, right];
    return right - left >= wanted;
  };
  for (const [left, right] of gaps) {
    if (right <= at) continue;
    if (left >= end) break;
    if (left > at && offer(at, left)) return best;
    at = Math.max(at, right);
  }
  if (end > at) offer(at, end);
  return best;
}
