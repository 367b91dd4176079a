// All keys, in a dialog.
import { steps } from './code_pane';
import { button, h } from './dom';

const groups: [string, [string, string][]][] = [
  [
    'Timeline',
    [
      ['w, + or wheel up', 'zoom in'],
      ['s, − or wheel down', 'zoom out'],
      ['a, ←, d, →, shift + wheel, drag', 'move; with shift, by a whole window'],
      ['Home, End', 'the beginning, the end'],
      ['0', 'the whole capture'],
      ['↑, ↓', 'choose a track'],
      ['Page up, Page down', 'scroll the tracks'],
      ['Enter', 'put the cursor in the middle of the window, on the chosen track'],
      ['click', 'put the cursor there'],
      ['double click', 'zoom to a call'],
      ['shift + drag, or drag on the ruler', 'select a part'],
      ['x', 'select the visible window'],
      ['z', 'zoom to the selection, or to what is between the markers'],
      ['1, 2', 'set marker A, B at the pointer, else at the cursor'],
      ['c', 'show the cursor'],
    ],
  ],
  ['Steps (with shift: backwards)', steps.map(({ key, forward }) => [key, `to ${forward}`])],
  [
    'Page',
    [
      ['/ or f', 'find'],
      ['. and ,', 'next and previous result'],
      ['t', 'light or dark'],
      ['Escape', 'end the selection, close this'],
      ['?', 'this list'],
    ],
  ],
];

export class Help {
  readonly element: HTMLDialogElement;

  constructor() {
    const columns = groups.map(([title, rows]) =>
      h(
        'section',
        {},
        h('h3', { text: title }),
        h('dl', {}, ...rows.flatMap(([keys, what]) => [h('dt', { text: keys }), h('dd', { text: what })])),
      ),
    );
    this.element = h(
      'dialog',
      { class: 'help', attrs: { 'aria-labelledby': 'help-title' } },
      h('div', { class: 'help-head' }, h('h2', { id: 'help-title', text: 'Keys' }), button('Close', () => this.element.close())),
      h('div', { class: 'help-columns' }, ...columns, legend()),
    );
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}

function legend(): HTMLElement {
  const rows: [string, string][] = [
    ['hatched', 'nothing is known: nothing was traced, trace was lost, or its code is missing. It is never execution'],
    ['crossed hatch', 'the trace unit overflowed'],
    ['double line', 'a frame of an exception'],
    ['torn edge', 'the start of the frame is not known'],
    ['notch', 'entered by a tail call'],
    ['fine teeth', 'frames too narrow to draw, as one'],
    ['stacked bands', 'far zoom: shares of functions; the line is the depth of the stack'],
    ['triangle, circle, diamond, cross', 'exception, message, event, lost trace'],
  ];
  return h(
    'section',
    {},
    h('h3', { text: 'What the timeline draws' }),
    h('dl', {}, ...rows.flatMap(([look, what]) => [h('dt', { text: look }), h('dd', { text: what })])),
  );
}
