// Single instructions, above the frames of a thread, where the window has few enough of them.
import type { Executed, Track } from './api';
import { App, Asker } from './app';
import { widthOf, Window } from './axis';
import { debounced } from './dom';
import type { TrackBox } from './layout';
import { stripHeight } from './layout';
import { visible } from './names';
import type { Brush } from './paint';
import type { Piece } from './cover';
import { coverKey, pictureIn } from './cover';
import { isCancelled } from './source';
import type { Timeline } from './timeline';

/** The most that one answer has before, and after, an instruction. */
const reach = 512;
/** Tracks for which instructions are asked. */
const mostTracks = 4;

interface Held {
  window: Window;
  list: Executed[];
}

export class InstructionStrip {
  private readonly held = new Map<number, Held>();
  private readonly askers = new Map<number, Asker>();
  private window: Window | undefined;
  private tracks: Track[] = [];
  private few = false;
  private asking = 0;
  private asked = '';
  private pending = false;
  private readonly later = debounced(() => void this.load(), 120);

  constructor(
    private readonly app: App,
    private readonly changed: () => void,
  ) {}

  /** Asks for the instructions of a window, if its frames say that they may be few. */
  want(window: Window, threads: Track[], pieces: readonly Piece[]): void {
    const key = `${window.from} ${window.to} ${coverKey(pieces)}`;
    if (key === this.asked) return;
    this.window = window;
    this.tracks = threads.filter((track) => track.last >= window.from && track.first <= window.to);
    this.few = pieces.length > 0 && this.mayBeFew(window, pieces);
    this.asked = key;
    if (!this.few) {
      this.held.clear();
      return;
    }
    this.pending = true;
    this.later();
  }

  /**
   * The counter tracks say how many instructions there are. Where they say nothing, a window with
   * frames that are wide on average may have few.
   */
  private mayBeFew(window: Window, pieces: readonly Piece[]): boolean {
    const { axis } = this.app;
    if (axis.unit === 'instructions') return widthOf(window) <= reach * 2;
    let frames = 0;
    for (const piece of pieces) {
      for (const track of this.tracks) {
        const picture = pictureIn(piece.tile, track.number);
        if (picture?.buckets?.length) return false;
        const spans = picture?.spans;
        if (!spans) continue;
        for (let i = 0; i < spans.rows && frames <= 3 * reach; i++) {
          const inside = (spans.start[i] ?? 0) < window.to && (spans.end[i] ?? 0) > window.from;
          if (inside) frames += spans.count[i] ?? 1;
        }
      }
    }
    return frames <= reach;
  }

  private async load(): Promise<void> {
    this.pending = false;
    const window = this.window;
    if (!window || !this.few) return;
    await Promise.all(this.tracks.slice(0, mostTracks).map((track) => this.loadTrack(track, window)));
    this.changed();
  }

  private async loadTrack(track: Track, window: Window): Promise<void> {
    const have = this.held.get(track.number);
    if (have && have.window.from <= window.from && have.window.to >= window.to) return;
    const asker = this.askers.get(track.number) ?? new Asker(this.app, `strip${track.number}`);
    this.askers.set(track.number, asker);
    this.asking++;
    try {
      // Before its first instruction, a track has none.
      const t = Math.min(Math.max((window.from + window.to) / 2, track.first), track.last);
      const { value: place } = await asker.ask('at', { track: track.number, t });
      const { value } = await asker.ask('instructions', {
        source: place.source,
        n: place.n,
        before: reach,
        after: reach,
      });
      const list = value.instructions;
      const first = list[0]?.t ?? t;
      const last = list[list.length - 1]?.t ?? t;
      // An answer shorter than asked ends where the source does.
      const whole = list.length < 2 * reach + 1;
      const range = { from: whole ? Math.min(first, window.from) : first, to: whole ? Math.max(last, window.to) : last };
      this.held.set(track.number, { window: range, list });
    } catch (error) {
      if (!isCancelled(error)) this.held.delete(track.number);
    } finally {
      this.asking--;
      this.changed();
    }
  }

  settled(): boolean {
    return this.asking === 0 && !this.pending;
  }

  at(track: number, t: number): Executed | undefined {
    const list = this.held.get(track)?.list ?? [];
    let found: Executed | undefined;
    for (const entry of list) if (entry.t <= t) found = entry;
    return found?.track === track ? found : undefined;
  }

  /** The instructions that are drawn. */
  drawn(track: number): Executed[] {
    const { window } = this.app;
    const list = this.held.get(track)?.list ?? [];
    return list.filter((entry) => entry.track === track && entry.t >= window.from && entry.t < window.to);
  }

  draw(
    context: CanvasRenderingContext2D,
    box: TrackBox,
    pieces: readonly Piece[],
    timeline: Timeline,
    brush: Brush,
  ): void {
    const list = this.held.get(box.track.number)?.list;
    if (!list || list.length < 2) return;
    const { window } = this.app;
    const pixels = timeline.pixels / widthOf(window);
    const first = list[0];
    const last = list[list.length - 1];
    if (!first || !last || ((last.t - first.t) * pixels) / list.length < 1.6) return;
    context.font = '10px "DejaVu Sans Mono", ui-monospace, monospace';
    context.textBaseline = 'middle';
    const { n } = this.app.place ?? {};
    const gaps = pieces.flatMap((piece) => pictureIn(piece.tile, box.track.number)?.gaps ?? []);
    list.forEach((entry, i) => {
      const next = list[i + 1];
      if (!next || entry.track !== box.track.number) return;
      // Nothing is known to execute in a gap.
      const gap = gaps.find(([from, to]) => to > entry.t && from < next.t);
      const left = timeline.xOf(entry.t);
      const right = timeline.xOf(gap ? Math.max(gap[0], entry.t) : next.t);
      if (right < 0 || left > timeline.pixels) return;
      this.cell(context, entry, left, right, n === entry.n, brush);
    });
  }

  private cell(
    context: CanvasRenderingContext2D,
    entry: Executed,
    left: number,
    right: number,
    current: boolean,
    brush: Brush,
  ): void {
    const { colours } = brush;
    const width = right - left;
    if (width < 0.4) return;
    if (current) {
      context.fillStyle = colours.cursor;
      context.fillRect(left, 1, Math.max(width, 2), stripHeight - 2);
    } else {
      context.fillStyle = entry.taken ? colours.accent : colours.strongLine;
      context.fillRect(left, stripHeight - (entry.taken ? 6 : 3), Math.max(width - 1, 0.6), entry.taken ? 5 : 2);
    }
    const text = visible(entry.text, 60) || entry.address;
    const start = Math.max(left, 0);
    const shown = Math.floor((Math.min(right, 10000) - start - 4) / 6.1);
    if (shown < 3) return;
    context.fillStyle = current ? colours.background : colours.text;
    const cut = text.length > shown ? text.slice(0, shown - 1) + '…' : text;
    context.fillText(cut, start + 2, stripHeight / 2);
  }
}
