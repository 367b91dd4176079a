// Which tiles show a window now, while better ones may still be on their way.
import { flags, Picture } from './api';
import type { Window } from './axis';
import { clipped, joined, SpanRow } from './binary';
import { levelFor, Tile, tilePixels, tileRange, Tiles } from './tiles';

export interface Piece {
  tile: Tile;
  from: number;
  to: number;
}

/** The pieces of a window in the order of the axis. What has no tile at all is left out. */
export function coverOf(tiles: Tiles, window: Window, pixels: number): Piece[] {
  const level = levelFor((window.to - window.from) / pixels);
  const [first, last] = tileRange(window, level);
  const size = 2 ** level;
  const pieces: Piece[] = [];
  for (let index = first; index <= last; index++) {
    const from = index * size;
    const exact = tiles.get(level, index);
    if (exact) pieces.push({ tile: exact, from, to: from + size });
    else pieces.push(...substitute(tiles, level, index, from, from + size));
  }
  return pieces;
}

function substitute(tiles: Tiles, level: number, index: number, from: number, to: number): Piece[] {
  const finer = tiles.below(level, index).sort((a, b) => a.from - b.from || b.to - a.to);
  const coarse = tiles.above(level, index);
  const pieces: Piece[] = [];
  let at = from;
  for (const tile of finer) {
    if (tile.from < at) continue;
    if (tile.from > at && coarse) pieces.push({ tile: coarse, from: at, to: tile.from });
    pieces.push({ tile, from: tile.from, to: tile.to });
    at = tile.to;
  }
  if (at < to && coarse) pieces.push({ tile: coarse, from: at, to });
  return pieces;
}

export const coverKey = (pieces: readonly Piece[]): string =>
  pieces.map((p) => `${p.tile.level}:${p.tile.index}:${p.tile.version}:${p.from}:${p.to}`).join(' ');

export function pictureIn(tile: Tile, track: number): Picture | undefined {
  return tile.timeline?.tracks.find((picture) => picture.track === track);
}

/** All frames of a track in a window, as they are drawn: parts of neighbouring tiles are one. */
export function spansIn(pieces: readonly Piece[], track: number, window: Window): SpanRow[] {
  const parts = pieces.map((piece) => {
    const spans = pictureIn(piece.tile, track)?.spans;
    const from = Math.max(piece.from, window.from);
    const to = Math.min(piece.to, window.to);
    return spans && to > from ? clipped(spans, from, to) : [];
  });
  return joined(parts);
}

/** Frames that may be wide enough for a label. */
export function wideSpans(pieces: readonly Piece[], track: number, pixels: number): SpanRow[] {
  const parts = pieces.map((piece) => {
    const spans = pictureIn(piece.tile, track)?.spans;
    if (!spans) return [];
    const least = ((piece.tile.to - piece.tile.from) / tilePixels) * pixels;
    const rows: SpanRow[] = [];
    for (let i = 0; i < spans.rows; i++) {
      const start = spans.start[i] ?? 0;
      const end = spans.end[i] ?? 0;
      const flag = spans.flags[i] ?? 0;
      const open = flag & (flags.continuesBefore | flags.continuesAfter);
      if (end - start < least && !open) continue;
      if (end <= piece.from || start >= piece.to) continue;
      let shown = flag;
      if (start < piece.from) shown |= flags.continuesBefore;
      if (end > piece.to) shown |= flags.continuesAfter;
      rows.push([
        Math.max(start, piece.from),
        Math.min(end, piece.to),
        spans.depth[i] ?? 0,
        spans.func[i] ?? 0,
        shown,
        spans.count[i] ?? 1,
      ]);
    }
    return rows;
  });
  return joined(parts);
}
