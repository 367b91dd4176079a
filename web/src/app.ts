// What all parts of the page share: the capture, the view, the place of the cursor, and the way to
// ask questions.
import type {
  Answers,
  Axis,
  Capture,
  Compare,
  Coverage,
  Hit,
  Place,
  Question,
  Track,
} from './api';
import { isAmount } from './api';
import { inside, Window, widthOf } from './axis';
import type { Theme } from './colours';
import { debounced } from './dom';
import { linkOf, plainView, View, viewFromLink } from './links';
import { FunctionNames, visible } from './names';
import { Failure, isCancelled, Params, Reply, sentence, Source } from './source';

export type Topic =
  | 'capture'
  | 'tracks'
  | 'view'
  | 'settled'
  | 'place'
  | 'hits'
  | 'failure'
  | 'theme'
  | 'names';

export type StepBy =
  | 'instruction'
  | 'line'
  | 'over'
  | 'out'
  | 'into'
  | 'same_line'
  | 'exception'
  | 'message';

/** Asks one kind of question at a time: a new one withdraws the one before. */
export class Asker {
  private abort: AbortController | undefined;

  constructor(
    private readonly app: App,
    private readonly key: string,
  ) {}

  async ask<K extends Question>(name: K, params: Params = {}): Promise<Reply<Answers[K]>> {
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    const reply = await this.app.ask(name, params, { signal: abort.signal, key: this.key });
    if (abort.signal.aborted) throw new Failure('cancelled', 'The request was cancelled.');
    return reply;
  }

  stop(): void {
    this.abort?.abort();
  }
}

const pollMilliseconds = 250;
const growMilliseconds = 1500;

export class App {
  readonly names = new FunctionNames();
  capture: Capture | undefined;
  tracks: Track[] = [];
  view: View = plainView;
  place: Place | undefined;
  /** The function whose code is shown although the cursor is not in it. */
  codeOf: number | undefined;
  hits: Hit[] = [];
  failure: Failure | undefined;
  readonly compare: Compare | undefined;
  readonly coverage: Coverage | undefined;

  private readonly listeners = new Map<Topic, (() => void)[]>();
  private readonly dark = matchMedia('(prefers-color-scheme: dark)');
  private readonly cursorAsker = new Asker(this, 'cursor');
  private readonly settle = debounced(() => this.emit('settled'), 160);
  private readonly writeLink = debounced(() => {
    history.replaceState(null, '', linkOf(this.view) || location.pathname);
  }, 300);
  private open = 0;
  /** Changes when answers about the same window may have changed. */
  growth = 0;

  constructor(readonly source: Source) {
    this.compare = source.compare();
    this.coverage = source.coverage();
    this.dark.addEventListener('change', () => this.emit('theme'));
    window.addEventListener('hashchange', () => this.followLink());
  }

  on(topics: Topic | Topic[], listener: () => void): void {
    for (const topic of Array.isArray(topics) ? topics : [topics]) {
      const list = this.listeners.get(topic) ?? [];
      list.push(listener);
      this.listeners.set(topic, list);
    }
  }

  emit(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  get axis(): Axis {
    return (
      this.capture?.axis ?? { unit: 'instructions', words: 'instructions', origin: '0', length: 0 }
    );
  }

  get window(): Window {
    return inside(this.view.window ?? { from: 0, to: this.axis.length }, this.axis);
  }

  /** What functions and counts are about: the selection, else the visible window. */
  get scope(): Window {
    return this.view.selection ?? this.window;
  }

  get scopeWords(): string {
    return this.view.selection ? 'the selection' : 'the visible window';
  }

  get theme(): Theme {
    const { theme } = this.view;
    return theme === 'auto' ? (this.dark.matches ? 'dark' : 'light') : theme;
  }

  get complete(): boolean {
    return this.capture?.progress.complete ?? false;
  }

  /** Why reading ended early; empty: it did not. */
  get readingFailure(): string {
    return visible(this.capture?.progress.failure ?? '', 1000);
  }

  /** Nothing more will become known. */
  get ended(): boolean {
    return this.complete || this.readingFailure !== '';
  }

  track(number: number): Track | undefined {
    return this.tracks.find((track) => track.number === number);
  }

  /** Questions that are under way. */
  get waiting(): number {
    return this.open;
  }

  async ask<K extends Question>(
    name: K,
    params: Params = {},
    options: { signal?: AbortSignal; key?: string } = {},
  ): Promise<Reply<Answers[K]>> {
    this.open++;
    try {
      const reply = await this.source.ask(name, params, options);
      this.names.add((reply.value as { functions?: never }).functions);
      this.works();
      return reply;
    } catch (error) {
      this.noteFailure(error);
      throw error;
    } finally {
      this.open--;
    }
  }

  /** The server does not answer: everything shows it. Other failures belong to who asked. */
  noteFailure(error: unknown): void {
    if (!(error instanceof Failure) || error.kind !== 'gone' || this.failure) return;
    this.failure = error;
    this.emit('failure');
  }

  works(): void {
    if (!this.failure) return;
    this.failure = undefined;
    this.emit('failure');
  }

  set(patch: Partial<View>): void {
    const before = this.view;
    const theme = this.theme;
    this.view = { ...before, ...patch };
    this.writeLink();
    this.emit('view');
    if (this.theme !== theme) this.emit('theme');
    const scopeChanged =
      this.view.window !== before.window || this.view.selection !== before.selection;
    if (scopeChanged || this.view.func !== before.func) this.settle();
  }

  show(window: Window): void {
    this.set({ window: inside(window, this.axis) });
  }

  /** Moves the window so that a place is visible, as little as possible. */
  reveal(t: number): void {
    const window = this.window;
    const width = widthOf(window);
    if (t >= window.from + width * 0.04 && t <= window.to - width * 0.04) return;
    this.show({ from: t - width / 2, to: t + width / 2 });
  }

  followLink(): void {
    const view = viewFromLink(location.hash);
    this.view = view;
    this.emit('view');
    this.emit('theme');
    this.settle();
    // Without the facts there is no axis yet; facts() follows then.
    if (this.capture) this.followCursor();
  }

  private followCursor(): void {
    const { cursor, window } = this.view;
    if (!cursor) return;
    if (cursor.n !== undefined && cursor.source !== undefined) {
      void this.goTo({ source: cursor.source, n: cursor.n }, window === null);
    } else void this.goTo({ track: cursor.track, t: cursor.t }, window === null);
  }

  /** Puts the cursor on an instruction, and asks for it. */
  async goTo(
    where: { track: number; t: number } | { source: number; n: number },
    reveal = 'source' in where,
  ): Promise<void> {
    if ('track' in where) {
      this.set({ cursor: { track: where.track, t: where.t } });
      if (this.track(where.track)?.kind !== 'thread') return;
    }
    try {
      const { value } = await this.cursorAsker.ask('at', { ...where });
      const before = 'track' in where && value.t < this.window.from;
      this.say(before ? 'The thread executed nothing in this part of the window. This is its last instruction before.' : '');
      this.placed(value, reveal);
    } catch (error) {
      if (isCancelled(error)) return;
      this.place = undefined;
      this.say(sentence(error));
      this.emit('place');
    }
  }

  private placed(place: Place, reveal: boolean): void {
    this.place = place;
    this.codeOf = undefined;
    this.set({ cursor: { track: place.track, t: place.t, source: place.source, n: place.n } });
    if (reveal) this.reveal(place.t);
    this.emit('place');
  }

  async step(by: StepBy, direction: 'forward' | 'back'): Promise<void> {
    const place = this.place;
    if (!place) {
      this.say('There is no current instruction. Click on a thread first.');
      return;
    }
    try {
      const { source, n } = place;
      const { value } = await this.cursorAsker.ask('step', { source, n, by, direction });
      if (value.moved === false) {
        this.say(value.reason || 'There is no such place.');
        return;
      }
      this.say('');
      this.placed(value, true);
    } catch (error) {
      if (!isCancelled(error)) this.say(sentence(error));
    }
  }

  /** Shows the code of a function without a place in it. */
  showCode(func: number): void {
    this.codeOf = func;
    if (this.view.code === 'executed') this.set({ code: 'source' });
    this.emit('place');
  }

  /** A sentence for the user, next to the steps. */
  message = '';
  say(text: string): void {
    this.message = text;
    this.emit('place');
  }

  /** Reads the facts again until the whole capture is known. */
  async follow(): Promise<void> {
    for (;;) {
      try {
        await this.facts();
        if (this.ended) return;
        await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== 'gone') {
          this.failure = error instanceof Failure ? error : new Failure('refused', sentence(error));
          this.emit('failure');
        }
        return;
      }
    }
  }

  private async facts(): Promise<void> {
    const before = this.capture;
    const capture = (await this.ask('capture')).value;
    const same =
      before?.progress.done === capture.progress.done &&
      before.progress.complete === capture.progress.complete &&
      before.progress.failure === capture.progress.failure;
    const tracks = same ? this.tracks : (await this.ask('tracks')).value.tracks;
    // Both at the same time, so that nothing is drawn with only one of them.
    this.capture = capture;
    // On an axis of instructions, each unit has one.
    this.tracks = tracks.filter((track) => capture.axis.unit !== 'instructions' || track.kind !== 'counter' || !isAmount(track));
    if (!same) this.emit('tracks');
    this.emit('capture');
    this.grown(!before, same);
    if (!before) this.followCursor();
  }

  private grownAt = 0;
  /** Counts of a window that grows are asked for from time to time, never while others wait. */
  private grown(isFirst: boolean, same: boolean): void {
    const now = performance.now();
    const finished = this.ended && !same;
    const due = now - this.grownAt > growMilliseconds && this.open === 0 && !same;
    if (!isFirst && !finished && !due) return;
    this.grownAt = now;
    this.growth++;
    this.settle();
  }

  /** After a failure. */
  retry(): void {
    this.works();
    void this.follow();
  }
}
