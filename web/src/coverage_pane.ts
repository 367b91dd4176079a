// What of the source files was executed.
import type { Coverage, CoveredPart } from './api';
import type { App } from './app';
import { count, percent } from './axis';
import { button, emptyState, h, name, VirtualList } from './dom';
import { fileName, visible } from './names';

type Row = Coverage['rows'][number];

export class CoveragePane {
  readonly element = h('div', { class: 'coverage-pane' });
  private readonly list = new VirtualList('Source files', 20, 'coverage-list');
  private readonly details = h('div', {
    class: 'coverage-details',
    attrs: { role: 'region', 'aria-label': 'What was not executed', tabindex: 0, 'aria-live': 'polite' },
  });
  private chosen = 0;

  constructor(app: App) {
    const { coverage } = app;
    if (!coverage) return;
    const { lines, functions, branches, rows, note } = coverage;
    const sums = [partText(lines, 'lines'), partText(functions, 'functions'), partText(branches, 'outcomes of branches')];
    this.element.append(
      h('p', { class: 'pane-note', text: `The whole capture executed ${sums.join(', ')}. ${visible(note)}` }),
      h(
        'div',
        { class: 'coverage-head' },
        h('span', { text: 'Lines' }),
        h('span', { text: 'Functions' }),
        h('span', { text: 'Branches' }),
        h('span', { text: 'File' }),
      ),
      rows.length ? this.list.element : emptyState('No source line is known.'),
      this.details,
    );
    this.list.show(rows.length, (element, index) => this.fillRow(element, rows, index));
    this.choose(rows, 0);
  }

  private fillRow(element: HTMLElement, rows: Row[], index: number): void {
    const row = rows[index];
    if (!row) return;
    const [path, lines, allLines, functions, allFunctions, outcomes, allOutcomes] = row;
    element.classList.toggle('current', index === this.chosen);
    const bar = h('span', { class: 'bar' });
    bar.style.width = allLines ? percent(lines / allLines).replace(/\s/, '') : '0';
    const select = button('', () => this.choose(rows, index), { class: 'link', title: visible(path, 1000) });
    select.append(name(visible(fileName(path), 300)));
    const cell = (done: number, all: number): HTMLElement =>
      h('span', { class: 'cell', text: all ? `${count(done)} of ${count(all)}` : '' });
    element.replaceChildren(
      h('span', { class: 'cell', title: allLines ? percent(lines / allLines, 1) : '' }, bar, h('span', { class: 'over', text: `${count(lines)} of ${count(allLines)}` })),
      cell(functions, allFunctions),
      cell(outcomes, allOutcomes),
      h('span', { class: 'cell name' }, select),
    );
  }

  private choose(rows: Row[], index: number): void {
    const row = rows[index];
    if (!row) return;
    this.chosen = index;
    this.list.refresh();
    const [path, , , , , , , lines, functions] = row;
    const line = (title: string, text: string): HTMLElement =>
      h('p', {}, h('strong', { text: `${title}: ` }), text ? name(visible(text)) : 'none');
    this.details.replaceChildren(
      h('h3', {}, name(visible(path, 1000))),
      line('Lines not executed', lines),
      line('Functions not called', functions.map((func) => visible(func, 300)).join(', ')),
    );
  }
}

function partText([executed, all]: CoveredPart, what: string): string {
  const share = all ? ` (${percent(executed / all)})` : '';
  return `${count(executed)} of ${count(all)} ${what}${share}`;
}
