// What looks wrong with the capture, and two captures side by side.
import type { Compare, Finding } from './api';
import { App, Asker } from './app';
import { count, listedText, short } from './axis';
import { button, emptyState, h, name, VirtualList } from './dom';
import { openHit } from './find_pane';
import { visible } from './names';
import { isCancelled, sentence } from './source';

const severityWords: Record<Finding['severity'], [icon: string, word: string]> = {
  error: ['✖', 'Error'],
  warning: ['▲', 'Warning'],
  note: ['●', 'Note'],
};

export class HealthPane {
  readonly element = h('div', { class: 'health-pane', attrs: { tabindex: 0, role: 'region', 'aria-label': 'Findings' } });
  private readonly asker: Asker;
  private key = '';

  constructor(private readonly app: App) {
    this.asker = new Asker(app, 'health');
    app.on(['view', 'capture'], () => void this.load());
  }

  private async load(): Promise<void> {
    const { app } = this;
    if (app.view.pane !== 'health' || !app.capture) return;
    const key = `${app.ended}`;
    if (key === this.key) return;
    this.key = key;
    try {
      this.show((await this.asker.ask('health')).value.findings);
    } catch (error) {
      if (isCancelled(error)) return;
      this.key = '';
      this.element.replaceChildren(emptyState('The findings cannot be shown.', sentence(error)));
    }
  }

  private show(findings: Finding[]): void {
    const programs = this.programs();
    if (!findings.length) {
      this.element.replaceChildren(
        emptyState('Nothing looks wrong with the trace.', 'No damage, no lost trace and no contradiction to the programs was found.'),
        programs ?? '',
      );
      return;
    }
    this.element.replaceChildren(
      h('ul', { class: 'findings' }, ...findings.map((finding) => this.row(finding))),
      programs ?? '',
    );
  }

  private row(finding: Finding): HTMLElement {
    const { app } = this;
    const [icon, word] = severityWords[finding.severity] ?? severityWords.note;
    const t = finding.t;
    const go =
      t === null
        ? null
        : button(`Show at ${listedText(t, app.axis)}`, () =>
            openHit(app, { t, track: finding.track ?? -1, source: null, n: null, text: '' }),
          );
    return h(
      'li',
      { class: `finding ${finding.severity}` },
      h('span', { class: 'severity' }, h('span', { text: icon, attrs: { 'aria-hidden': true } }), ` ${word}`),
      h(
        'div',
        {},
        h('p', { class: 'finding-title' }, name(visible(finding.title, 400)), finding.count > 1 ? h('span', { class: 'where', text: `${count(finding.count)} times` }) : null),
        h('p', {}, name(visible(finding.text, 2000))),
        go,
      ),
    );
  }

  /** Programs whose files were not found are why names and code are missing. */
  private programs(): HTMLElement | null {
    const missing = this.app.capture?.programs.filter((program) => !program.found) ?? [];
    if (!missing.length) return null;
    return h(
      'section',
      { class: 'missing-programs' },
      h('h3', { text: 'Programs that were not found' }),
      h('p', { text: 'Their functions have no names and their code cannot be shown. Give their files and open the capture again.' }),
      h(
        'ul',
        {},
        ...missing.slice(0, 100).map((program) =>
          h('li', {}, name(visible(program.path, 400)), program.build_id ? h('span', { class: 'where', text: `build ID ${visible(program.build_id, 60)}` }) : null),
        ),
      ),
    );
  }
}

export class ComparePane {
  readonly element = h('div', { class: 'compare-pane' });
  private readonly list = new VirtualList('Functions of both captures', 20, 'compare-list');

  constructor(app: App) {
    const { compare } = app;
    if (!compare) {
      this.element.append(
        emptyState('There is only one capture.', 'Make a report of two to compare them: waymark report FIRST SECOND -o report.html'),
      );
      return;
    }
    this.build(compare);
  }

  private build(compare: Compare): void {
    const rows = [...compare.rows].sort((a, b) => Math.abs(b[5] - b[2]) - Math.abs(a[5] - a[2]));
    const [first, second] = compare.names.map((text) => visible(text, 200));
    const difference = compare.instructions[1] - compare.instructions[0];
    this.element.append(
      h(
        'p',
        { class: 'pane-note' },
        'First: ',
        name(first ?? ''),
        ` (${short(compare.instructions[0])} instructions). Second: `,
        name(second ?? ''),
        ` (${short(compare.instructions[1])} instructions, ${signed(difference)}). ${visible(compare.note)}`,
      ),
      ...divergencesOf(compare),
      h(
        'div',
        { class: 'compare-head' },
        h('span', { text: 'First' }),
        h('span', { text: 'Second' }),
        h('span', { text: 'Difference' }),
        h('span', { text: 'Calls' }),
        h('span', { text: 'Function' }),
      ),
      rows.length ? this.list.element : emptyState('Neither capture executed a function.'),
    );
    this.list.show(rows.length, (element, index) => {
      const row = rows[index];
      if (!row) return;
      const [func, program, selfA, , callsA, selfB, , callsB] = row;
      const change = selfB - selfA;
      const word = change > 0 ? 'more' : change < 0 ? 'fewer' : 'same';
      element.replaceChildren(
        h('span', { class: 'cell', text: short(selfA), title: count(selfA) }),
        h('span', { class: 'cell', text: short(selfB), title: count(selfB) }),
        h('span', { class: `cell change ${word}`, text: signed(change), title: `${count(Math.abs(change))} ${word}` }),
        h('span', { class: 'cell', text: `${short(callsA)} → ${short(callsB)}` }),
        h('span', { class: 'cell name', title: visible(program, 300) }, name(visible(func, 300))),
      );
    });
  }
}

/** Where the captures diverge. */
function divergencesOf(compare: Compare): HTMLElement[] {
  if (!compare.divergence_count) return [];
  const more = compare.divergence_count - compare.divergences.reduce((sum, [, , , times]) => sum + times, 0);
  const items = compare.divergences.map(([thread, text, where, times]) =>
    h('li', {}, `${visible(thread, 100)}: ${visible(text)} ${times > 1 ? `${count(times)} times ${where ? 'at ' : ''}` : ''}`, name(visible(where, 300))),
  );
  return [
    h('p', { class: 'pane-note', text: `The runs diverge ${count(compare.divergence_count)} ${compare.divergence_count === 1 ? "time" : "times"} (A: first, B: second).` }),
    h('ol', { class: 'compare-divergences' }, ...items),
    ...(more > 0 ? [h('p', { class: 'pane-note', text: `${count(more)} more are not shown; see waymark diff.` })] : []),
  ];
}

function signed(value: number): string {
  if (!value) return 'no change';
  return (value > 0 ? '▲ +' : '▼ −') + short(Math.abs(value));
}
