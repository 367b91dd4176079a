// Searches in the whole capture or in the selection.
import type { FindWhat, Hit } from './api';
import { App, Asker } from './app';
import { count, listedText, widthOf } from './axis';
import { button, emptyState, h, name, VirtualList } from './dom';
import { findWhats } from './links';
import { visible } from './names';
import { isCancelled, sentence } from './source';

const whatWords: Record<FindWhat, [label: string, hint: string]> = {
  function: ['Function', 'Part of its name: sort'],
  address: ['Address', 'Hexadecimal: 0x8000f40'],
  line: ['Source line', 'File and line: main.c:42'],
  text: ['Message text', 'Part of a message'],
  exception: ['Exception', 'Name or number: IRQ'],
  time: ['Time', 'A value of the axis, or t:123 for a raw timestamp'],
};

const limit = 200;

export class FindPane {
  readonly element: HTMLElement;
  readonly input: HTMLInputElement;
  private readonly what: HTMLSelectElement;
  private readonly note = h('p', { class: 'pane-note', attrs: { role: 'status' } });
  private readonly more: HTMLButtonElement;
  private readonly list = new VirtualList('Results', 22, 'hit-list');
  private readonly body: HTMLElement;
  private readonly asker: Asker;
  private searchedTo = 0;
  private until = 0;
  private asked = '';
  private current = -1;

  constructor(private readonly app: App) {
    this.asker = new Asker(app, 'find');
    this.what = h('select', { attrs: { 'aria-label': 'What to find' }, on: { change: () => this.hint() } });
    for (const what of findWhats) {
      this.what.append(h('option', { text: whatWords[what][0], attrs: { value: what } }));
    }
    this.input = h('input', {
      class: 'filter wide',
      attrs: { type: 'search', 'aria-label': 'Text to find', autocomplete: 'off', spellcheck: 'false', maxlength: 1024 },
    });
    this.more = button('Continue the search', () => void this.search(true));
    this.more.hidden = true;
    this.body = h('div', { class: 'find-body' });
    const form = h(
      'form',
      {
        class: 'pane-tools',
        attrs: { role: 'search' },
        on: {
          submit: (event) => {
            event.preventDefault();
            this.submit();
          },
        },
      },
      this.what,
      this.input,
      h('button', { text: 'Find', attrs: { type: 'submit' } }),
      button('Clear', () => this.clear(), { name: 'Clear the results' }),
    );
    const below = h('div', { class: 'find-note' }, this.note, this.more, this.neighbour(-1), this.neighbour(1));
    this.element = h('div', { class: 'find-pane' }, form, below, this.body);
    app.on('view', () => this.follow());
    app.on('capture', () => this.follow());
    this.hint();
    this.empty();
  }

  private neighbour(by: 1 | -1): HTMLButtonElement {
    const words = by > 0 ? 'Next result' : 'Previous result';
    return button(by > 0 ? '▸' : '◂', () => this.move(by), { name: words, title: words, class: 'hit-step' });
  }

  private empty(): void {
    this.element.classList.remove('has-hits');
    this.body.replaceChildren(
      emptyState(
        'Find a function, an address, a source line, a message, an exception or a time.',
        'The search covers the whole capture, or the selection if there is one. Results are marked on the axis.',
      ),
    );
  }

  private hint(): void {
    const what = this.what.value as FindWhat;
    this.input.placeholder = whatWords[what][1];
  }

  /** A link or another pane asks for a search. */
  private follow(): void {
    const { app } = this;
    const find = app.view.find;
    if (!app.capture || !find) return;
    const key = `${find.what}:${find.text}`;
    if (key === this.asked) return;
    this.what.value = find.what;
    this.input.value = find.text;
    this.hint();
    // A link may be opened before anything is read. When something is, the capture says so.
    if (!app.view.selection && !app.axis.length && !app.capture.progress.complete) return;
    void this.search(false);
  }

  private submit(): void {
    const text = this.input.value.trim();
    if (!text) return;
    const what = this.what.value as FindWhat;
    this.asked = '';
    this.app.set({ pane: 'find', find: { what, text } });
  }

  private clear(): void {
    this.asker.stop();
    this.asked = '';
    this.input.value = '';
    this.app.hits = [];
    this.app.set({ find: null });
    this.app.emit('hits');
    this.note.textContent = '';
    this.more.hidden = true;
    this.empty();
  }

  private async search(onwards: boolean): Promise<void> {
    const { app } = this;
    const find = app.view.find;
    if (!find) return;
    this.asked = `${find.what}:${find.text}`;
    const scope = app.view.selection ?? { from: 0, to: app.axis.length };
    this.until = scope.to;
    if (!onwards) {
      this.searchedTo = scope.from;
      app.hits = [];
      this.current = -1;
      app.emit('hits');
    }
    if (this.until <= this.searchedTo) {
      this.show(this.isAtEnd(), '');
      return;
    }
    this.note.textContent = 'Searching…';
    this.more.hidden = true;
    try {
      const { value, note } = await this.asker.ask('find', {
        what: find.what,
        text: find.text,
        from: this.searchedTo,
        to: this.until,
        limit,
      });
      const known = new Set(app.hits.map(hitKey));
      app.hits = [...app.hits, ...value.hits.filter((hit) => !known.has(hitKey(hit)))];
      const stuck = onwards && value.searched_to <= this.searchedTo;
      this.searchedTo = value.searched_to;
      this.show(this.isAtEnd() && (value.complete || stuck), visible(value.note) || note);
    } catch (error) {
      if (isCancelled(error)) return;
      this.note.textContent = '';
      this.body.replaceChildren(emptyState('The search failed.', sentence(error)));
    }
    app.emit('hits');
  }

  /** The axis may have grown since the search began. */
  private isAtEnd(): boolean {
    return !!this.app.view.selection || this.until >= this.app.axis.length;
  }

  private show(complete: boolean, note: string): void {
    const { app } = this;
    const many = app.hits.length;
    const results = `${count(many)} ${many === 1 ? 'result' : 'results'}`;
    const where = app.view.selection ? 'in the selection' : 'in the whole capture';
    const reached = `up to ${listedText(this.searchedTo, app.axis)}`;
    this.note.textContent = `${results} ${complete ? where : `${reached}; the rest was not searched`}. ${note}`;
    this.more.hidden = complete;
    this.element.classList.toggle('has-hits', many > 0);
    if (!many) {
      this.body.replaceChildren(
        emptyState('Nothing was found.', complete ? 'Check the spelling, or choose another kind of search.' : 'Continue the search to look further.'),
      );
      return;
    }
    if (!this.list.element.isConnected) this.body.replaceChildren(this.list.element);
    this.list.show(many, (element, index) => this.fillRow(element, index));
  }

  private fillRow(element: HTMLElement, index: number): void {
    const { app } = this;
    const hit = app.hits[index];
    if (!hit) return;
    element.classList.toggle('current', index === this.current);
    const at = listedText(hit.t, app.axis);
    const track = app.track(hit.track);
    const go = button('', () => this.open(index), { class: 'link' });
    go.append(
      h('span', { class: 'hit-at', text: at }),
      h('span', { class: 'hit-track' }, name(visible(track?.name ?? '', 60))),
      h('span', { class: 'hit-text' }, name(visible(hit.text, 500))),
    );
    element.replaceChildren(go);
  }

  private open(index: number): void {
    const hit = this.app.hits[index];
    if (!hit) return;
    this.current = index;
    this.list.refresh();
    openHit(this.app, hit);
  }

  move(by: 1 | -1): void {
    const many = this.app.hits.length;
    if (!many) return;
    const next = this.current < 0 && by < 0 ? many - 1 : (this.current + by + many) % many;
    this.open(next);
    this.list.reveal(next);
  }
}

const hitKey = (hit: Hit): string => `${hit.t} ${hit.track} ${hit.n} ${hit.text}`;

export function openHit(app: App, hit: Hit): void {
  const width = widthOf(app.window);
  if (hit.t < app.window.from || hit.t > app.window.to) {
    app.show({ from: hit.t - width / 2, to: hit.t + width / 2 });
  }
  if (hit.source !== null && hit.n !== null) void app.goTo({ source: hit.source, n: hit.n });
  else void app.goTo({ track: hit.track, t: hit.t });
}
