// The visible window in words: for the status line, and for people who do not see the timeline.
import type { Functions, Measure } from './api';
import { App, Asker } from './app';
import { count, lengthText, percent, placeText, rawText, short, widthOf } from './axis';
import { button, debounced, h } from './dom';
import { isCancelled } from './source';

export class Summary {
  readonly element: HTMLElement;
  private readonly text = h('p', { id: 'summary', attrs: { 'aria-live': 'polite', 'aria-atomic': true } });
  private readonly measure: HTMLElement;
  private readonly asker: Asker;
  private readonly functionsAsker: Asker;
  private readonly markersAsker: Asker;
  private key = '';
  private markersKey = '';
  private readonly later = debounced(() => void this.load(), 500);

  constructor(private readonly app: App) {
    this.asker = new Asker(app, 'summary');
    this.functionsAsker = new Asker(app, 'summary-functions');
    this.markersAsker = new Asker(app, 'markers');
    this.measure = h('div', { class: 'measure', attrs: { hidden: true, role: 'region', 'aria-label': 'Between the markers' } });
    this.element = h('footer', { class: 'status' }, this.text, this.measure);
    app.on('settled', () => this.later());
    app.on(['view', 'capture'], () => void this.measureMarkers());
  }

  private async load(): Promise<void> {
    const { app } = this;
    if (!app.capture || !app.tracks.length) return;
    const { from, to } = app.scope;
    const key = `${from} ${to} ${app.growth}`;
    if (key === this.key) return;
    this.key = key;
    const { unit } = app.axis;
    const share = app.axis.length > 0 ? (to - from) / app.axis.length : 1;
    const part = share > 0.999 ? 'The whole capture' : `${share >= 0.001 ? percent(share, 1) : `Less than ${percent(0.001, 1)}`} of the capture`;
    const what = app.view.selection ? 'Selection' : 'Window';
    const head = `${what}: ${placeText(from, to - from, unit)} to ${placeText(to, to - from, unit)}, ${lengthText(to - from, unit)}. ${part}.`;
    try {
      const { value, note } = await this.asker.ask('measure', { from, to });
      const functions = await this.functionsAsker.ask('functions', { from, to, limit: 3 });
      this.text.textContent = [head, measureWords(value), topWords(functions.value, app), note].filter(Boolean).join(' ');
    } catch (error) {
      if (isCancelled(error)) this.key = '';
      else this.text.textContent = head;
    }
  }

  private async measureMarkers(): Promise<void> {
    const { app } = this;
    const [a, b] = app.view.markers;
    const key = `${a} ${b}`;
    if (key === this.markersKey || !app.capture) return;
    this.markersKey = key;
    this.measure.hidden = a === null && b === null;
    if (a === null && b === null) return;
    const clear = button('Remove the markers', () => app.set({ markers: [null, null] }));
    const { unit } = app.axis;
    const width = widthOf(app.window);
    if (a === null || b === null || a === b) {
      const one = a ?? b ?? 0;
      const where = `Marker ${a === null ? 'B' : 'A'} at ${placeText(one, width, unit)} (${rawText(one, app.axis)}). Set the other one with key ${a === null ? 1 : 2}.`;
      this.measure.replaceChildren(h('span', { text: where }), clear);
      return;
    }
    const [from, to] = a < b ? [a, b] : [b, a];
    const line = h('span', { text: `A to B: ${lengthText(to - from, unit)}.` });
    const zoom = button('Select', () => app.set({ selection: { from, to } }), { name: 'Select what is between the markers' });
    this.measure.replaceChildren(line, zoom, clear);
    try {
      const { value, note } = await this.markersAsker.ask('measure', { from, to });
      line.textContent = `A to B: ${lengthText(to - from, unit)}. ${measureWords(value)} ${note}`;
    } catch (error) {
      if (!isCancelled(error)) this.markersKey = '';
    }
  }
}

export function measureWords(value: Measure): string {
  const some = (many: number, one: string, more: string): string =>
    many ? `${count(many)} ${many === 1 ? one : more}` : '';
  const parts = [
    value.instructions || !value.messages ? `${count(value.instructions)} instructions` : '',
    value.cycles ? `${count(value.cycles)} cycles` : '',
    some(value.calls, 'call', 'calls'),
    some(value.functions_entered, 'function', 'functions'),
    some(value.exceptions, 'exception', 'exceptions'),
    some(value.gaps, 'gap', 'gaps'),
    some(value.messages, 'message', 'messages'),
  ].filter(Boolean);
  return `${value.exact ? '' : 'About '}${parts.join(', ')}.`;
}

function topWords(value: Functions, app: App): string {
  const all = Math.max(1, value.instructions);
  const top = value.rows.filter((row) => row[1] / all >= 0.005).sort((a, b) => b[1] - a[1]).slice(0, 3);
  if (!top.length) return '';
  const words = top.map(([func, self]) => `${app.names.get(func).name} ${percent(self / all)}`);
  return `Most in ${words.join(', ')}.`;
}

/** Bytes in a form that is easy to read. */
export const bytesText = (bytes: number): string => `${short(bytes)}${bytes < 1000 ? '\u202f' : ''}B`;
