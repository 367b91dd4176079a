// Where each track is, from top to bottom.
import type { Track, TrackKind } from './api';

export const rowHeight = 17;
export const stripHeight = 17;
export const groupHeight = 22;
/** Rows of a thread that is neither folded nor shown in full. */
export const usualRows = 12;
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

function heightOf(track: Track, fold: Fold): { height: number; rows: number; hidden: number } {
  switch (track.kind) {
    case 'thread': {
      const depth = Math.max(1, track.depth);
      const rows = fold === 'folded' ? 1 : Math.min(depth, fold === 'full' ? mostRows : usualRows);
      const height = stripHeight + rows * rowHeight + 6;
      return { height, rows, hidden: depth - rows };
    }
    case 'counter':
      return { height: fold === 'folded' ? 22 : 40, rows: 0, hidden: 0 };
    default:
      return { height: 24, rows: 0, hidden: 0 };
  }
}

/** Tracks by core; in each: threads by name, messages, events, counters. */
export function layoutOf(tracks: readonly Track[], foldOf: (track: Track) => Fold): Layout {
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
      const size = heightOf(track, fold);
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
  return Math.floor((y - box.top - stripHeight - 2) / rowHeight);
}
