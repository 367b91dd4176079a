// The functions that the window executed, and who calls them.
import type { Functions, Neighbours } from './api';
import { App, Asker } from './app';
import { count, short } from './axis';
import { button, emptyState, h, name, VirtualList } from './dom';
import { fileName, visible } from './names';
import { isCancelled, sentence } from './source';

type Column = 'self' | 'total' | 'calls' | 'cycles' | 'name';
type FunctionsRow = Functions['rows'][number];

const columns: { id: Column; label: string; title: string }[] = [
  { id: 'self', label: 'Self', title: 'Instructions of the function itself' },
  { id: 'total', label: 'Total', title: 'Instructions including callees' },
  { id: 'calls', label: 'Calls', title: 'How often it was called' },
  { id: 'cycles', label: 'Cycles', title: 'Cycles of the function itself' },
  { id: 'name', label: 'Function', title: 'Its name' },
];

/** Exact, or not: in words. */
export function exactWords(exact: boolean, scope: string, note: string): string {
  if (note) return note;
  return exact
    ? `Exact counts of ${scope}.`
    : `Approximate counts of ${scope}, which is too large to count exactly. Zoom in for exact counts.`;
}

export class FunctionsPane {
  readonly element: HTMLElement;
  private readonly summary = h('p', { class: 'pane-note' });
  private readonly filter: HTMLInputElement;
  private readonly thread: HTMLSelectElement;
  private readonly headers = new Map<Column, HTMLButtonElement>();
  private readonly list = new VirtualList('Functions', 20, 'function-list');
  private readonly table: HTMLElement;
  private readonly neighbours: HTMLElement;
  private readonly asker: Asker;
  private readonly neighbourAsker: Asker;
  private answer: Functions | undefined;
  private rows: FunctionsRow[] = [];
  private sort: Column = 'self';
  private down = true;
  private key = '';
  private neighbourKey = '';

  constructor(private readonly app: App) {
    this.asker = new Asker(app, 'functions');
    this.neighbourAsker = new Asker(app, 'callers');
    this.filter = h('input', {
      class: 'filter',
      attrs: { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter functions by name' },
      on: { input: () => this.build() },
    });
    this.thread = h('select', {
      attrs: { 'aria-label': 'Threads that count' },
      on: { change: () => this.load() },
    });
    const head = h('div', { class: 'function-head' });
    for (const { id, label, title } of columns) {
      const header = button(label, () => this.sortBy(id), { class: `column ${id}`, title });
      this.headers.set(id, header);
      head.append(header);
    }
    this.table = h('div', { class: 'function-table' }, head, this.list.element);
    this.neighbours = h('div', { class: 'neighbours', attrs: { role: 'region', 'aria-label': 'Callers and callees', tabindex: 0 } });
    this.element = h(
      'div',
      { class: 'functions-pane' },
      h('div', { class: 'pane-tools' }, this.filter, this.thread, this.summary),
      h('div', { class: 'function-split' }, this.table, this.neighbours),
    );
    app.on(['settled'], () => this.load());
    app.on('tracks', () => this.fillThreads());
    app.on('view', () => {
      if (app.view.pane === 'functions') this.load();
      this.showEmphasis();
    });
  }

  private emphasised = '';
  private showEmphasis(): void {
    if (this.emphasised === this.app.view.func) return;
    this.emphasised = this.app.view.func;
    this.list.refresh();
    this.loadNeighbours();
  }

  private fillThreads(): void {
    const chosen = this.thread.value;
    const threads = this.app.tracks.filter((track) => track.kind === 'thread');
    const options = [h('option', { text: 'All threads', attrs: { value: '' } })];
    for (const track of threads) {
      const text = visible(`${track.group}: ${track.name}`, 80);
      options.push(h('option', { text, attrs: { value: track.number } }));
    }
    this.thread.replaceChildren(...options);
    this.thread.value = threads.some((track) => String(track.number) === chosen) ? chosen : '';
    this.thread.hidden = threads.length < 2;
  }

  private load(): void {
    const { app } = this;
    if (app.view.pane !== 'functions' || !app.capture) return;
    const { from, to } = app.scope;
    const tracks = this.thread.value || undefined;
    const done = app.growth;
    const key = `${from} ${to} ${tracks} ${done}`;
    if (key === this.key) return;
    this.key = key;
    void this.ask(from, to, tracks);
    this.neighbourKey = '';
    this.loadNeighbours();
  }

  private async ask(from: number, to: number, tracks: string | undefined): Promise<void> {
    const { app } = this;
    this.element.setAttribute('aria-busy', 'true');
    try {
      const { value, note } = await this.asker.ask('functions', { from, to, tracks, limit: 1000 });
      this.answer = value;
      const cycles = value.cycles === null ? '' : `, ${short(value.cycles)} cycles`;
      this.summary.textContent = !value.instructions ? '' :
        `${short(value.instructions)} instructions${cycles}. ` + exactWords(value.exact, app.scopeWords, note);
      this.build();
    } catch (error) {
      if (isCancelled(error)) return;
      this.answer = undefined;
      this.key = '';
      this.summary.textContent = '';
      this.table.replaceChildren(emptyState('The functions cannot be shown.', sentence(error)));
    } finally {
      this.element.removeAttribute('aria-busy');
    }
  }

  private sortBy(column: Column): void {
    this.down = this.sort === column ? !this.down : column !== 'name';
    this.sort = column;
    this.build();
  }

  private build(): void {
    const { answer, app } = this;
    if (!answer) return;
    const wanted = this.filter.value.toLowerCase();
    this.rows = answer.rows.filter(([func]) => app.names.get(func).name.toLowerCase().includes(wanted));
    const of = (row: FunctionsRow): number =>
      ({ self: row[1], total: row[2], calls: row[3], cycles: row[4] ?? 0, name: 0 })[this.sort];
    const sign = this.down ? -1 : 1;
    this.rows.sort((a, b) => {
      const order =
        this.sort === 'name'
          ? app.names.get(a[0]).name.localeCompare(app.names.get(b[0]).name)
          : of(a) - of(b);
      return sign * order || b[1] - a[1];
    });
    for (const [id, header] of this.headers) {
      const sorted = id === this.sort;
      const label = columns.find((column) => column.id === id)?.label ?? '';
      header.textContent = label + (sorted ? (this.down ? ' ▾' : ' ▴') : '');
      const order = sorted ? (this.down ? ', largest first' : ', smallest first') : '';
      header.setAttribute('aria-label', `${label}${order}. Sort.`);
    }
    this.table.classList.toggle('has-cycles', answer.cycles !== null);
    this.showRows(answer);
  }

  private showRows(answer: Functions): void {
    const head = this.headers.get('self')?.parentElement;
    if (!head) return;
    if (!answer.rows.length) {
      this.table.replaceChildren(this.nothing());
      return;
    }
    if (!this.rows.length) {
      this.table.replaceChildren(head, emptyState('No function has this name.', 'Change the filter to see others.'));
      return;
    }
    this.table.replaceChildren(head, this.list.element);
    const all = Math.max(1, answer.instructions);
    this.list.show(this.rows.length, (element, index) => this.fillRow(element, index, all));
  }

  private nothing(): HTMLElement {
    const { app } = this;
    if (app.capture && !app.capture.sources.some((source) => source.executes)) {
      return emptyState('This capture has no instructions.', 'Its sources only send messages or events.');
    }
    return emptyState(
      `Nothing was executed in ${app.scopeWords}.`,
      'Move the window, or press 0 to see the whole capture.',
    );
  }

  private fillRow(element: HTMLElement, index: number, all: number): void {
    const row = this.rows[index];
    if (!row) return;
    const [func, self, total, calls, cycles] = row;
    const entry = this.app.names.get(func);
    const share = ((self / all) * 100).toFixed(self / all < 0.0995 ? 1 : 0);
    element.classList.toggle('current', this.app.view.func === entry.name);
    const select = button('', () => this.app.set({ func: this.app.view.func === entry.name ? '' : entry.name }), {
      class: 'link',
      title: entry.program ? `${entry.name}\n${entry.program}` : entry.name,
    });
    select.setAttribute('aria-pressed', String(this.app.view.func === entry.name));
    select.append(name(entry.name));
    const bar = h('span', { class: 'bar' });
    bar.style.width = `${Math.min(100, (self / all) * 100)}%`;
    element.replaceChildren(
      h('span', { class: 'cell self', title: `${count(self)} instructions` }, bar, h('span', { class: 'over', text: `${short(self)}  ${share} %` })),
      h('span', { class: 'cell total', text: short(total), title: count(total) }),
      h('span', { class: 'cell calls', text: short(calls), title: count(calls) }),
      h('span', { class: 'cell cycles', text: cycles === null ? '' : short(cycles) }),
      h('span', { class: 'cell name' }, select, entry.program ? h('span', { class: 'where', text: fileName(entry.program) }) : null),
    );
  }

  private loadNeighbours(): void {
    const { app } = this;
    if (app.view.pane !== 'functions' || !app.capture) return;
    const wanted = app.view.func;
    if (!wanted) {
      this.neighbourKey = '';
      this.neighbours.hidden = true;
      return;
    }
    this.neighbours.hidden = false;
    const func = app.names.numberOf(wanted);
    const { from, to } = app.scope;
    const key = `${func} ${from} ${to} ${this.thread.value}`;
    if (key === this.neighbourKey) return;
    this.neighbourKey = key;
    if (func === undefined) {
      this.neighbours.replaceChildren(emptyState(`${visible(wanted, 1024)} is not in ${app.scopeWords}.`));
      return;
    }
    void this.askNeighbours(func, from, to);
  }

  private async askNeighbours(func: number, from: number, to: number): Promise<void> {
    try {
      const tracks = this.thread.value || undefined;
      const reply = await this.neighbourAsker.ask('callers', { function: func, from, to, tracks });
      this.showNeighbours(reply.value, reply.note);
    } catch (error) {
      if (isCancelled(error)) return;
      this.neighbours.replaceChildren(emptyState('The callers cannot be shown.', sentence(error)));
    }
  }

  private showNeighbours(answer: Neighbours, note: string): void {
    const { app } = this;
    const entry = app.names.get(answer.function);
    const list = (title: string, rows: [number, number, number][], none: string): HTMLElement =>
      h(
        'section',
        {},
        h('h3', { text: title }),
        rows.length ? null : h('p', { class: 'hint', text: none }),
        h(
          'ul',
          { class: 'call-list' },
          ...rows.map(([func, calls, instructions]) => {
            const other = app.names.get(func);
            const go = button('', () => app.set({ func: other.name }), { class: 'link', title: other.name });
            go.append(name(other.name));
            return h(
              'li',
              {},
              go,
              h('span', { class: 'where', text: `${short(calls)} ${calls === 1 ? 'call' : 'calls'}, ${short(instructions)} instructions` }),
            );
          }),
        ),
      );
    this.neighbours.replaceChildren(
      h('h3', { class: 'chosen' }, name(entry.name)),
      h(
        'p',
        { class: 'row-buttons' },
        button('Show its code', () => app.showCode(answer.function)),
        button('Find its calls', () => app.set({ pane: 'find', find: { what: 'function', text: entry.name } })),
        button('Clear', () => app.set({ func: '' }), { title: 'No longer emphasise this function' }),
      ),
      answer.exact && !note ? '' : h('p', { class: 'hint', text: exactWords(answer.exact, app.scopeWords, note) }),
      list('Called by', answer.callers, 'No caller is known.'),
      list('Calls', answer.callees, 'It calls nothing.'),
    );
  }
}
