// Source and disassembly with counts, what was executed around the cursor, and the call stack.
import type { Code, CodeInstruction, Executed, ExecutedList, Place } from './api';
import { App, Asker, StepBy } from './app';
import { count, placeText, short, widthOf } from './axis';
import { button, clear, emptyState, h, name, VirtualList } from './dom';
import { CodeForm, codeForms } from './links';
import { fileName, visible } from './names';
import { isCancelled, sentence } from './source';

export const steps: { by: StepBy; key: string; label: string; forward: string; back: string }[] = [
  { by: 'instruction', key: 'n', label: 'Step', forward: 'the next instruction', back: 'the previous instruction' },
  { by: 'line', key: 'l', label: 'Line', forward: 'the next source line', back: 'the previous source line' },
  { by: 'over', key: 'o', label: 'Over', forward: 'the next instruction, over calls', back: 'the previous instruction, over calls' },
  { by: 'into', key: 'i', label: 'Into', forward: 'the first instruction of the next call', back: 'the previous call' },
  { by: 'out', key: 'u', label: 'Out', forward: 'the caller, after this call', back: 'the call of this function' },
  { by: 'same_line', key: 'r', label: 'Again', forward: 'the next execution of this line', back: 'the previous execution of this line' },
  { by: 'exception', key: 'e', label: 'Exception', forward: 'the next exception', back: 'the previous exception' },
  { by: 'message', key: 'm', label: 'Message', forward: 'the next message', back: 'the previous message' },
];

const formNames: Record<CodeForm, string> = {
  source: 'Source',
  disassembly: 'Disassembly',
  executed: 'Executed',
};

type Row =
  | { kind: 'line'; number: number; text: string | null; count: number }
  | { kind: 'instruction'; instruction: CodeInstruction }
  | { kind: 'file'; file: string };

const around = 200;

export class CodePane {
  readonly element: HTMLElement;
  private readonly heading: HTMLElement;
  private readonly place: HTMLElement;
  private readonly message: HTMLElement;
  private readonly list = new VirtualList('Code', 18, 'code-list');
  private readonly body: HTMLElement;
  private readonly stack: HTMLElement;
  private readonly forms: HTMLButtonElement[];
  private readonly codeAsker: Asker;
  private readonly executedAsker: Asker;
  private code: Code | undefined;
  private note = '';
  private codeKey = '';
  private rows: Row[] = [];
  private executed: ExecutedList | undefined;
  private most = 1;

  constructor(private readonly app: App) {
    this.codeAsker = new Asker(app, 'code');
    this.executedAsker = new Asker(app, 'executed');
    this.heading = h('div', { class: 'code-heading' });
    this.place = h('div', { class: 'place-line' });
    this.message = h('div', { class: 'step-message', attrs: { role: 'status' } });
    this.body = h('div', { class: 'code-body' });
    this.stack = h('div', { class: 'stack', attrs: { role: 'region', 'aria-label': 'Call stack', tabindex: 0 } });
    this.forms = codeForms.map((form) =>
      button(formNames[form], () => app.set({ code: form }), { class: 'segment' }),
    );
    this.element = h(
      'section',
      { class: 'pane code-pane', attrs: { 'aria-label': 'Code' } },
      h('div', { class: 'pane-bar' }, this.heading, h('div', { class: 'segments', attrs: { role: 'group', 'aria-label': 'Form of the code' } }, ...this.forms)),
      this.stepBar(),
      h('div', { class: 'place-bar' }, this.place, this.message),
      h('div', { class: 'code-and-stack' }, this.body, this.stack),
    );
    app.on('place', () => this.update());
    app.on('settled', () => void this.load());
    app.on('capture', () => {
      if (this.shownFunction() === undefined) this.build();
      else void this.load();
    });
    app.on('view', () => this.showForm());
    this.showForm();
    this.update();
  }

  private stepBar(): HTMLElement {
    const { app } = this;
    const bar = h('div', { class: 'step-bar', attrs: { role: 'toolbar', 'aria-label': 'Steps' } });
    for (const { by, key, label, forward, back } of steps) {
      bar.append(
        h(
          'span',
          { class: 'step', attrs: { role: 'group', 'aria-label': label } },
          button('◂', () => void app.step(by, 'back'), {
            title: `To ${back} (shift + ${key})`,
            name: `To ${back}`,
          }),
          h('span', { class: 'step-label', text: label }),
          button('▸', () => void app.step(by, 'forward'), {
            title: `To ${forward} (${key})`,
            name: `To ${forward}`,
          }),
        ),
      );
    }
    return bar;
  }

  private shownForm = '';
  private showForm(): void {
    const form = this.app.view.code;
    if (form === this.shownForm) return;
    this.shownForm = form;
    this.forms.forEach((element, i) => {
      element.setAttribute('aria-pressed', String(codeForms[i] === form));
    });
    void this.load();
    this.build();
  }

  private update(): void {
    const { app } = this;
    const place = app.place;
    this.message.textContent = app.message;
    clear(this.place);
    this.fillStack(place);
    app.names.add(place?.functions);
    const func = this.shownFunction();
    if (func === undefined) {
      this.heading.replaceChildren(h('h2', { text: 'Code' }));
      this.code = undefined;
      this.codeKey = '';
      this.build();
      return;
    }
    this.heading.replaceChildren(h('h2', {}, name(app.names.get(func).name)));
    void this.load();
    if (this.code && this.code.function === func) this.refresh();
    if (!place) return;
    if (app.codeOf !== undefined) {
      const back = button('Back to the cursor', () => void app.goTo({ source: place.source, n: place.n }));
      this.place.append(back);
      return;
    }
    const { unit } = app.axis;
    const offset = place.offset ? `+${place.offset}` : '';
    const at = placeText(place.t, widthOf(app.window), unit);
    const parts = [
      `instruction ${count(place.n)}`,
      `at ${at}`,
      visible(place.address, 40) + offset,
      place.isa,
      place.context ?? '',
    ];
    this.place.append(...parts.filter(Boolean).map((text) => h('span', { text: visible(text, 200) })));
    this.place.title = `In the trace at byte ${place.element_index}`;
  }

  /** What is shown, for tests. */
  model(): { function: string; exact: boolean; instructions: CodeInstruction[] } | null {
    const { code, app } = this;
    if (!code || app.view.code === 'executed') return null;
    const { exact, instructions } = code;
    return { function: app.names.get(code.function).name, exact, instructions };
  }

  private shownFunction(): number | undefined {
    return this.app.codeOf ?? this.app.place?.function;
  }

  private fillStack(place: Place | undefined): void {
    clear(this.stack);
    this.stack.append(h('h3', { text: 'Call stack' }));
    if (!place) {
      this.stack.append(h('p', { class: 'hint', text: 'No place is chosen.' }));
      return;
    }
    const list = h('ol', { class: 'stack-list' });
    place.stack.forEach((entry, i) => {
      const func = this.app.names.get(entry.function);
      const where =
        i === 0
          ? lineText(place.file, place.line)
          : lineText(entry.file, entry.line) || (entry.call_address && entry.call_address !== '0x0' ? `called at ${visible(entry.call_address, 40)}` : '');
      list.append(
        h(
          'li',
          { class: i === 0 ? 'current' : '' },
          button('', () => this.app.set({ func: func.name }), {
            class: 'link',
            title: `Emphasise ${func.name}`,
          }),
          where ? h('span', { class: 'where', text: where }) : null,
        ),
      );
      list.lastElementChild?.querySelector('button')?.append(name(func.name));
    });
    this.stack.append(list);
  }

  private async load(): Promise<void> {
    const { app } = this;
    const place = app.place;
    const func = this.shownFunction();
    if (func === undefined || !app.capture) return;
    if (app.view.code === 'executed') {
      if (place) await this.loadExecuted(place);
      return;
    }
    const { from, to } = app.scope;
    const key = `${func} ${from} ${to} ${app.growth}`;
    if (key === this.codeKey) return;
    const sameFunction = this.code?.function === func;
    this.codeKey = key;
    if (!sameFunction) this.code = undefined;
    try {
      const byPlace = place && app.codeOf === undefined && app.source.kind === 'server';
      const what = byPlace ? { source: place.source, n: place.n } : { function: func };
      const reply = await this.codeAsker.ask('code', { ...what, from, to });
      this.code = reply.value;
      this.note = reply.note;
      this.build();
    } catch (error) {
      if (isCancelled(error)) return;
      this.codeKey = '';
      if (!sameFunction) this.fail(sentence(error));
    }
  }

  private async loadExecuted(place: Place): Promise<void> {
    const list = this.executed?.instructions;
    const first = list?.[0];
    const last = list?.[list.length - 1];
    const inside = first && last && place.n > first.n + 20 && place.n < last.n - 20;
    const known = list?.some((entry) => entry.n === place.n && entry.address === place.address);
    if (inside && known) {
      this.refresh();
      return;
    }
    try {
      const reply = await this.executedAsker.ask('instructions', {
        source: place.source,
        n: place.n,
        before: around,
        after: around,
      });
      this.executed = reply.value;
      this.build();
    } catch (error) {
      if (!isCancelled(error)) this.fail(sentence(error));
    }
  }

  private fail(text: string): void {
    this.body.replaceChildren(emptyState('The code cannot be shown.', text));
  }

  private build(): void {
    const { app } = this;
    if (this.shownFunction() === undefined || (app.view.code === 'executed' && !app.place)) {
      this.body.replaceChildren(this.nothing());
      return;
    }
    if (app.view.code === 'executed') {
      if (!this.executed) return;
      this.body.replaceChildren(this.list.element);
      this.showExecuted(this.executed.instructions);
      return;
    }
    if (!this.code) return;
    this.rows = app.view.code === 'source' ? sourceRows(this.code) : plainRows(this.code);
    this.most = Math.max(1, ...this.code.instructions.map((entry) => entry.count));
    if (!this.rows.length) {
      this.body.replaceChildren(
        emptyState('The code of this function is not available.', visible(this.code.note) || this.remedy()),
      );
      return;
    }
    const notes = [
      visible(this.code.note),
      this.note,
      this.code.exact ? '' : 'Counts cover only a part of this window, which is too large to count completely.',
    ].filter(Boolean);
    const words = `Counts of ${app.scopeWords}: ${count(this.code.executions)} ${this.code.executions === 1 ? 'execution' : 'executions'} of this function.`;
    this.body.replaceChildren(
      h('p', { class: 'code-note', text: [words, ...notes].join(' ') }),
      this.list.element,
    );
    this.list.show(this.rows.length, (row, i) => this.fillRow(row, i));
    this.follow();
  }

  private nothing(): HTMLElement {
    const { capture } = this.app;
    if (capture && !capture.sources.some((source) => source.executes)) {
      if (!this.app.tracks.length) return emptyState('This capture has no instructions.');
      return emptyState(
        'This capture has no instructions.',
        'Its sources only send messages or events. Choose one on the timeline to read it.',
      );
    }
    return emptyState(
      'No place is chosen.',
      'Click on a thread of the timeline, or press Enter there, to see the code at that place. Then step forwards and backwards.',
    );
  }

  private remedy(): string {
    return 'Name the file of the program, for example with the option --symbols, and open the capture again.';
  }

  private refresh(): void {
    this.list.refresh();
    this.follow();
  }

  private follow(): void {
    const { place, view } = this.app;
    if (!place) return;
    const index =
      view.code === 'executed'
        ? (this.executed?.instructions.findIndex((entry) => entry.n === place.n) ?? -1)
        : this.rows.findIndex((row) => row.kind === 'instruction' && row.instruction.address === place.address);
    if (index >= 0) this.list.reveal(index);
  }

  private fillRow(element: HTMLElement, index: number): void {
    const row = this.rows[index];
    const place = this.app.place;
    if (!row) return;
    if (row.kind === 'file') {
      element.classList.add('file-row');
      element.replaceChildren(name(visible(row.file, 300)));
      return;
    }
    if (row.kind === 'line') {
      element.classList.add('line-row');
      element.classList.toggle('current-line', place?.line === row.number && sameFile(place.file, this.code));
      element.classList.toggle('never', !row.count);
      element.replaceChildren(
        this.countCell(row.count),
        h('span', { class: 'number', text: String(row.number) }),
        row.text === null
          ? h('span', { class: 'text missing', text: 'source file not found' })
          : h('span', { class: 'text' }, h('bdi', { text: visible(row.text.replace(/\t/g, '    '), 1000) })),
      );
      return;
    }
    this.fillInstruction(element, row.instruction);
  }

  private fillInstruction(element: HTMLElement, entry: CodeInstruction): void {
    const current = entry.address === this.app.place?.address;
    element.classList.add('instruction-row');
    element.classList.toggle('current', current);
    element.classList.toggle('never', !entry.count);
    if (current) element.setAttribute('aria-current', 'true');
    else element.removeAttribute('aria-current');
    element.replaceChildren(
      this.countCell(entry.count),
      h('span', { class: 'address', text: visible(entry.address, 40) }),
      h('span', { class: 'text', title: entry.bytes ? `bytes ${visible(entry.bytes, 40)}` : '' }, name(visible(entry.text, 300) || `bytes ${visible(entry.bytes, 40)}`)),
      branchCell(entry) ?? '',
    );
  }

  private countCell(value: number): HTMLElement {
    const cell = h('span', { class: 'count', text: value ? short(value) : '·', title: `${count(value)} executions` });
    if (value) cell.dataset['heat'] = String(Math.ceil((Math.log(value + 1) / Math.log(this.most + 1)) * 5));
    return cell;
  }

  private showExecuted(list: Executed[]): void {
    this.list.show(list.length, (element, index) => {
      const entry = list[index];
      if (!entry) return;
      const current = entry.n === this.app.place?.n;
      element.classList.add('instruction-row', 'executed-row');
      element.classList.toggle('current', current);
      if (current) element.setAttribute('aria-current', 'true');
      else element.removeAttribute('aria-current');
      const went =
        entry.taken === null ? '' : entry.taken ? `taken → ${visible(entry.target, 40)}` : 'not taken';
      const go = button(count(entry.n), () => void this.goTo(entry), {
        class: 'link',
        title: 'Go to this instruction',
      });
      element.replaceChildren(
        h('span', { class: 'number' }, go),
        h('span', { class: 'address', text: visible(entry.address, 40) }),
        h('span', { class: 'text' }, name(visible(entry.text, 300) || `bytes ${visible(entry.bytes, 40)}`)),
        h('span', { class: 'branch', text: visible(entry.event, 200) || went || lineText(entry.file, entry.line) }),
      );
    });
    this.follow();
  }

  private async goTo(entry: Executed): Promise<void> {
    const { place } = this.app;
    if (place) await this.app.goTo({ source: place.source, n: entry.n });
  }
}

function sameFile(file: string, code: Code | undefined): boolean {
  return !file || !code || !code.files[0] || code.files[0] === file || code.file === file;
}

export function lineText(file: string, line: number): string {
  return file && line ? `${fileName(visible(file, 400))}:${line}` : '';
}

function branchCell(entry: CodeInstruction): HTMLElement | null {
  if (entry.taken === null || entry.not_taken === null) return null;
  const all = entry.taken + entry.not_taken;
  if (!all) return h('span', { class: 'branch', text: 'never reached' });
  const one =
    entry.taken === 0 ? 'never taken' : entry.not_taken === 0 ? 'always taken' : '';
  const text = one || `taken ${short(entry.taken)} · not ${short(entry.not_taken)}`;
  return h('span', {
    class: one ? 'branch one-way' : 'branch',
    text,
    title: `taken ${count(entry.taken)} times, not taken ${count(entry.not_taken)} times`,
  });
}

/** Each line of the function's file with its instructions; those of other files where they are. */
export function sourceRows(code: Code): Row[] {
  if (!code.lines.length) return plainRows(code);
  const rows: Row[] = [];
  const byLine = new Map<number, CodeInstruction[]>();
  const others: CodeInstruction[] = [];
  const known = new Set(code.lines.map((line) => line.number));
  for (const entry of code.instructions) {
    if (entry.file_number === 0 && known.has(entry.line)) {
      const list = byLine.get(entry.line) ?? [];
      list.push(entry);
      byLine.set(entry.line, list);
    } else others.push(entry);
  }
  rows.push({ kind: 'file', file: code.files[0] ?? code.file });
  for (const line of code.lines) {
    rows.push({ kind: 'line', ...line });
    for (const instruction of byLine.get(line.number) ?? []) {
      rows.push({ kind: 'instruction', instruction });
    }
  }
  let file = -1;
  for (const instruction of others) {
    if (instruction.file_number !== file) {
      file = instruction.file_number;
      const path = instruction.line ? (code.files[file] ?? '') : '';
      rows.push({ kind: 'file', file: path ? `${path}, inlined or included` : 'without a source line' });
    }
    rows.push({ kind: 'instruction', instruction });
  }
  return rows;
}

export function plainRows(code: Code): Row[] {
  return code.instructions.map((instruction) => ({ kind: 'instruction', instruction }));
}
