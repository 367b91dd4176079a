// The view in the address of the page, so that a link opens the same view.
import type { FindWhat } from './api';
import type { Window } from './axis';

export const paneNames = ['functions', 'flame', 'find', 'health', 'coverage', 'compare'] as const;
export type PaneName = (typeof paneNames)[number];
export const codeForms = ['source', 'disassembly', 'executed'] as const;
export type CodeForm = (typeof codeForms)[number];
export const themes = ['auto', 'light', 'dark'] as const;
export type ThemeChoice = (typeof themes)[number];
export const findWhats: FindWhat[] = ['function', 'address', 'line', 'text', 'exception', 'time'];

export interface Cursor {
  track: number;
  t: number;
  /** The instruction, once it is known. */
  source?: number;
  n?: number;
}

export interface View {
  window: Window | null;
  cursor: Cursor | null;
  selection: Window | null;
  markers: [number | null, number | null];
  pane: PaneName;
  code: CodeForm;
  /** The name of the function that panes and the timeline emphasise; empty: none. */
  func: string;
  find: { what: FindWhat; text: string } | null;
  theme: ThemeChoice;
  /** Tracks that show all rows, and those that show only one. */
  full: number[];
  folded: number[];
}

export const plainView: View = {
  window: null,
  cursor: null,
  selection: null,
  markers: [null, null],
  pane: 'functions',
  code: 'source',
  func: '',
  find: null,
  theme: 'auto',
  full: [],
  folded: [],
};

const numbers = (text: string | null): number[] | null => {
  if (!text) return null;
  const list = text.split(',').map(Number);
  return list.every(Number.isFinite) ? list : null;
};

function pair(text: string | null): Window | null {
  const [from, to] = numbers(text) ?? [];
  return from !== undefined && to !== undefined && to > from ? { from, to } : null;
}

const oneOf = <T extends string>(text: string | null, known: readonly T[], other: T): T =>
  known.find((entry) => entry === text) ?? other;

function marker(text: string | undefined): number | null {
  const value = text ? Number(text) : NaN;
  return Number.isFinite(value) ? value : null;
}

/** A cursor is "track@t", or "track@t@source:n" once its instruction is known. */
function cursorOf(text: string | null): Cursor | null {
  const match = /^(\d+)@([\d.eE+-]+)(?:@(\d+):(\d+))?$/.exec(text ?? '');
  if (!match) return null;
  const cursor: Cursor = { track: Number(match[1]), t: Number(match[2]) };
  if (!Number.isFinite(cursor.t)) return null;
  if (match[3] !== undefined) {
    cursor.source = Number(match[3]);
    cursor.n = Number(match[4]);
  }
  return cursor;
}

/** Whatever the text is, the result is a valid view: unknown and damaged parts are left out. */
export function viewFromLink(hash: string): View {
  const params = new URLSearchParams(hash.replace(/^#/, ''));
  const [first, second] = (params.get('m') ?? '').split(',');
  const find = /^(\w+):([^]*)$/.exec(params.get('find') ?? '');
  const what = find && findWhats.find((entry) => entry === find[1]);
  return {
    window: pair(params.get('w')),
    cursor: cursorOf(params.get('c')),
    selection: pair(params.get('s')),
    markers: [marker(first), marker(second)],
    pane: oneOf(params.get('p'), paneNames, plainView.pane),
    code: oneOf(params.get('code'), codeForms, plainView.code),
    func: (params.get('f') ?? '').slice(0, 1024),
    find: what && find ? { what, text: (find[2] ?? '').slice(0, 1024) } : null,
    theme: oneOf(params.get('theme'), themes, plainView.theme),
    full: numbers(params.get('full')) ?? [],
    folded: numbers(params.get('folded')) ?? [],
  };
}

export function linkOf(view: View): string {
  const params = new URLSearchParams();
  const { window, cursor, selection, markers } = view;
  if (window) params.set('w', `${window.from},${window.to}`);
  if (cursor) {
    const instant = cursor.n === undefined ? '' : `@${cursor.source}:${cursor.n}`;
    params.set('c', `${cursor.track}@${cursor.t}${instant}`);
  }
  if (selection) params.set('s', `${selection.from},${selection.to}`);
  if (markers[0] !== null || markers[1] !== null) {
    params.set('m', `${markers[0] ?? ''},${markers[1] ?? ''}`);
  }
  if (view.pane !== plainView.pane) params.set('p', view.pane);
  if (view.code !== plainView.code) params.set('code', view.code);
  if (view.func) params.set('f', view.func);
  if (view.find) params.set('find', `${view.find.what}:${view.find.text}`);
  if (view.theme !== plainView.theme) params.set('theme', view.theme);
  if (view.full.length) params.set('full', view.full.join(','));
  if (view.folded.length) params.set('folded', view.folded.join(','));
  // Commas, colons and @ are safe in a fragment, and easier to read.
  const text = params.toString().replace(/%2C/g, ',').replace(/%3A/g, ':').replace(/%40/g, '@');
  return text ? '#' + text : '';
}
