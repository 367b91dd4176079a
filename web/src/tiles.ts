// Answers for parts of the axis, so that moving the window needs few new ones. A tile of level k is
// 2^k units wide and begins at a multiple of that.
import type { Timeline } from './api';
import type { Window } from './axis';
import { Failure, isCancelled, Source } from './source';

/** Tiles are asked for at this width, and drawn at 0.7 to 1.4 times of it. */
export const tilePixels = 1024;

export interface Tile {
  level: number;
  index: number;
  from: number;
  to: number;
  /** Undefined: it is being asked for, or failed. */
  timeline?: Timeline;
  note: string;
  error?: Failure;
  /** The last frame that used it. */
  used: number;
  /** The end of the axis when it was asked for, if that was before the end of the tile. */
  asked: number;
  /** The tile must be asked for again: the capture has grown since. */
  stale: boolean;
  /** Counts the answers, for what was drawn from them. */
  version: number;
}

export function levelFor(unitsPerPixel: number): number {
  return Math.round(Math.log2(unitsPerPixel * tilePixels));
}

export function tileRange(window: Window, level: number): [first: number, last: number] {
  const size = 2 ** level;
  const first = Math.floor(window.from / size);
  return [first, Math.max(first, Math.ceil(window.to / size) - 1)];
}

interface Running {
  tile: Tile;
  slot: number;
  abort: AbortController;
}

export class Tiles {
  private readonly tiles = new Map<string, Tile>();
  private running: Running[] = [];
  private frame = 0;
  private length = 0;
  private retryAt = 0;
  /** Milliseconds from question to answer, of the last thousand. */
  readonly answerTimes: number[] = [];

  constructor(
    private readonly source: Source,
    private readonly changed: (tile: Tile) => void,
    private readonly failed: (failure: Failure) => void,
    private readonly slots = 3,
    private readonly most = 400,
  ) {}

  /** The end of the axis. When it grows, tiles that were not complete are asked for again. */
  grow(length: number, complete: boolean): void {
    if (length === this.length && !complete) return;
    this.length = length;
    for (const tile of this.tiles.values()) {
      if (!tile.timeline) continue;
      if (!tile.timeline.complete || tile.asked < Math.min(tile.to, length)) tile.stale = true;
    }
  }

  get(level: number, index: number): Tile | undefined {
    const tile = this.tiles.get(`${level}:${index}`);
    if (tile) tile.used = this.frame;
    return tile?.timeline ? tile : undefined;
  }

  /** The finest tile above this one that covers it and has an answer. */
  above(level: number, index: number): Tile | undefined {
    const top = this.topLevel();
    for (let up = level + 1; up <= top; up++) {
      index = Math.floor(index / 2);
      const tile = this.get(up, index);
      if (tile) return tile;
    }
    return undefined;
  }

  /** Tiles of the next two levels below this one that have an answer. */
  below(level: number, index: number): Tile[] {
    const found: Tile[] = [];
    for (let down = 1; down <= 2; down++) {
      for (let i = 0; i < 2 ** down; i++) {
        const tile = this.get(level - down, index * 2 ** down + i);
        if (tile) found.push(tile);
      }
    }
    return found;
  }

  topLevel(): number {
    return Math.ceil(Math.log2(Math.max(this.length, 1e-9)));
  }

  /** Asks for what a window needs; `ahead`: also for what is likely to be needed next. */
  want(window: Window, level: number, ahead: boolean): void {
    this.frame++;
    const wanted = this.plan(window, level, ahead);
    const keys = new Set(wanted.map((tile) => keyOf(tile)));
    for (const run of this.running) {
      if (!keys.has(keyOf(run.tile))) run.abort.abort();
    }
    if (performance.now() < this.retryAt) return;
    for (const tile of wanted) {
      if (this.running.length >= this.slots) break;
      if (tile.error || (tile.timeline && !tile.stale)) continue;
      if (this.running.some((run) => run.tile === tile)) continue;
      void this.fetch(tile);
    }
    this.forget();
  }

  /** True if all tiles of a window have their answer. */
  settled(window: Window, level: number): boolean {
    const [first, last] = tileRange(window, level);
    for (let i = first; i <= last; i++) {
      if (!this.isInside(level, i)) continue;
      const tile = this.tiles.get(`${level}:${i}`);
      if (!tile || (!tile.error && (!tile.timeline || tile.stale))) return false;
    }
    return true;
  }

  /** Failed tiles are asked for again. */
  retry(): void {
    this.retryAt = 0;
    for (const [key, tile] of this.tiles) if (tile.error) this.tiles.delete(key);
  }

  errorIn(window: Window, level: number): Failure | undefined {
    const [first, last] = tileRange(window, level);
    for (let i = first; i <= last; i++) {
      const error = this.tiles.get(`${level}:${i}`)?.error;
      if (error) return error;
    }
    return undefined;
  }

  private plan(window: Window, level: number, ahead: boolean): Tile[] {
    const [first, last] = tileRange(window, level);
    const wanted: Tile[] = [];
    const add = (at: number, index: number): void => {
      if (this.isInside(at, index)) wanted.push(this.tile(at, index));
    };
    const middle = (first + last) / 2;
    const indices = [];
    for (let i = first; i <= last; i++) indices.push(i);
    indices.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const i of indices) add(level, i);
    add(this.topLevel(), 0);
    if (ahead) {
      add(level, last + 1);
      add(level, first - 1);
      for (let i = Math.floor(first / 2); i <= Math.floor(last / 2); i++) add(level + 1, i);
    }
    return wanted;
  }

  private isInside(level: number, index: number): boolean {
    return index >= 0 && index * 2 ** level < Math.max(this.length, 1e-9);
  }

  private tile(level: number, index: number): Tile {
    const key = `${level}:${index}`;
    let tile = this.tiles.get(key);
    if (!tile) {
      const size = 2 ** level;
      const from = index * size;
      tile = { level, index, from, to: from + size, note: '', used: 0, asked: 0, stale: false, version: 0 };
      this.tiles.set(key, tile);
    }
    tile.used = this.frame;
    return tile;
  }

  private async fetch(tile: Tile): Promise<void> {
    const taken = new Set(this.running.map((run) => run.slot));
    let slot = 0;
    while (taken.has(slot)) slot++;
    const run: Running = { tile, slot, abort: new AbortController() };
    this.running.push(run);
    tile.stale = false;
    const begin = performance.now();
    try {
      const to = Math.min(tile.to, Math.max(this.length, tile.from + (tile.to - tile.from) / 1024));
      tile.asked = to;
      const share = (to - tile.from) / (tile.to - tile.from);
      const width = Math.max(1, Math.round(tilePixels * share));
      const reply = await this.source.timeline(
        { from: tile.from, to, width },
        { signal: run.abort.signal, key: `tile${slot}` },
      );
      tile.timeline = reply.value;
      tile.note = reply.note;
      tile.version++;
      this.answerTimes.push(performance.now() - begin);
      if (this.answerTimes.length > 1000) this.answerTimes.shift();
    } catch (error) {
      if (isCancelled(error)) tile.stale = tile.timeline !== undefined;
      else this.fail(tile, error);
    }
    this.running = this.running.filter((other) => other !== run);
    this.changed(tile);
  }

  private fail(tile: Tile, error: unknown): void {
    const failure =
      error instanceof Failure
        ? error
        : new Failure('refused', error instanceof Error ? error.message : 'The page failed.');
    if (failure.kind === 'gone' || failure.kind === 'busy') {
      this.retryAt = performance.now() + 1000;
      // A server that is busy is asked again; one that is gone, when the user says so.
      if (failure.kind === 'busy') setTimeout(() => this.changed(tile), 1050);
    } else tile.error = failure;
    this.failed(failure);
  }

  private forget(): void {
    if (this.tiles.size <= this.most) return;
    const old = [...this.tiles.entries()]
      .filter(([, tile]) => tile.used < this.frame && tile.level !== this.topLevel())
      .sort((a, b) => a[1].used - b[1].used);
    for (const [key] of old.slice(0, this.tiles.size - this.most)) this.tiles.delete(key);
  }
}

const keyOf = (tile: Tile): string => `${tile.level}:${tile.index}`;
