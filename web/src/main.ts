// Starts the page.
import { App } from './app';
import { inside, Window } from './axis';
import { Embedded, EmbeddedSource } from './embedded_source';
import { HttpSource } from './http_source';
import type { CodePane } from './code_pane';
import { viewFromLink } from './links';
import { Page } from './page';
import type { Source } from './source';
import type { TrackModel } from './timeline';

interface Model {
  window: Window;
  unit: string;
  length: number;
  pixels: number;
  complete: boolean;
  cursor: unknown;
  place: { source: number; n: number; address: string; t: number } | null;
  selection: Window | null;
  markers: [number | null, number | null];
  hits: number[];
  tracks: TrackModel[];
  code: ReturnType<CodePane['model']>;
}

/** What tests use: what is drawn, and how long it took. */
interface Waymark {
  model(): Model;
  show(from: number, to: number): void;
  /** Ends when everything for the window has arrived and is drawn. */
  settled(): Promise<void>;
  timings(): { first: number; answers: number[]; frames: number[] };
}

declare global {
  interface Window {
    waymark: Waymark;
  }
}

function source(): Source {
  const element = document.getElementById('waymark-data');
  if (!element) return new HttpSource();
  return new EmbeddedSource(JSON.parse(element.textContent ?? '{}') as Embedded);
}

function start(): void {
  const app = new App(source());
  app.view = viewFromLink(location.hash);
  const page = new Page(app);
  app.followLink();
  void app.follow();
  window.waymark = readBack(app, page);
}

function readBack(app: App, page: Page): Waymark {
  const { timeline } = page;
  return {
    model: () => ({
      window: app.window,
      unit: app.axis.unit,
      length: app.axis.length,
      pixels: timeline.pixels,
      complete: app.complete,
      cursor: app.view.cursor,
      place: app.place
        ? { source: app.place.source, n: app.place.n, address: app.place.address, t: app.place.t }
        : null,
      selection: app.view.selection,
      markers: app.view.markers,
      hits: app.hits.map((hit) => hit.t),
      tracks: timeline.model(),
      code: page.code.model(),
    }),
    show: (from, to) => app.set({ window: inside({ from, to }, app.axis) }),
    settled: async () => {
      const frame = (): Promise<unknown> => new Promise((resolve) => requestAnimationFrame(resolve));
      await frame();
      while (!timeline.settled() || app.waiting > 0) await frame();
      await frame();
    },
    timings: () => ({
      first: timeline.firstPaint,
      answers: [...timeline.tiles.answerTimes],
      frames: [...timeline.drawTimes],
    }),
  };
}

start();
