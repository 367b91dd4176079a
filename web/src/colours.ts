// Colours. Functions take theirs from a palette that colour-blind people can tell apart; every
// span also has a label, and what is not execution has a hatch.

export type Theme = 'light' | 'dark';

/** Light colours of Paul Tol's schemes, on which black text is easy to read. */
const palette: [number, number, number][] = [
  [0x77, 0xaa, 0xdd],
  [0xee, 0x88, 0x66],
  [0xee, 0xdd, 0x88],
  [0x44, 0xbb, 0x99],
  [0xff, 0xaa, 0xbb],
  [0x99, 0xdd, 0xff],
  [0xbb, 0xcc, 0x33],
  [0xaa, 0xaa, 0x44],
];

export function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    h ^= text.charCodeAt(i);
    h = Math.imul(h, 0x01000193);
  }
  h ^= h >>> 15;
  h = Math.imul(h, 0x2c1b3c6d);
  h ^= h >>> 12;
  return h >>> 0;
}

/** The colour of a function: always the same one for the same name. */
export function functionColour(name: string, kind: string, theme: Theme): string {
  if (kind === 'unknown' || kind === 'lost_callers') return theme === 'dark' ? '#8b93a1' : '#d2d6dc';
  const h = hash(name);
  const [r, g, b] = palette[h % palette.length] ?? [200, 200, 200];
  const shade = [1, 0.94, 0.88][(h >>> 8) % 3] ?? 1;
  const light = shade * (theme === 'dark' ? 0.88 : 1);
  const part = (value: number): number => Math.round(value * light);
  return `rgb(${part(r)},${part(g)},${part(b)})`;
}

/** A colour made fainter, so that others are seen first. */
export function faded(colour: string, theme: Theme): string {
  const parts = /rgb\((\d+),(\d+),(\d+)\)/.exec(colour);
  const back = theme === 'dark' ? 0x26 : 0xf6;
  if (!parts) return theme === 'dark' ? '#2a303a' : '#eef0f2';
  const part = (i: number): number => Math.round(Number(parts[i]) * 0.25 + back * 0.75);
  return `rgb(${part(1)},${part(2)},${part(3)})`;
}

export interface Colours {
  background: string;
  panel: string;
  text: string;
  faint: string;
  line: string;
  strongLine: string;
  onSpan: string;
  edge: string;
  hatch: string;
  hatchBack: string;
  accent: string;
  cursor: string;
  selection: string;
  markerA: string;
  markerB: string;
  hit: string;
  counter: string;
  counterLine: string;
  depth: string;
  warning: string;
  dim: string;
}

export const colours: Record<Theme, Colours> = {
  light: {
    background: '#ffffff',
    panel: '#f4f6f8',
    text: '#14181f',
    faint: '#505a68',
    line: '#e1e5ea',
    strongLine: '#9aa4b1',
    onSpan: '#0b0e14',
    edge: 'rgba(0,0,0,0.38)',
    hatch: '#6b7482',
    hatchBack: '#f0f1f3',
    accent: '#0b57a4',
    cursor: '#b00020',
    selection: 'rgba(11,87,164,0.16)',
    markerA: '#7a3e9d',
    markerB: '#0a6b55',
    hit: '#c2410c',
    counter: 'rgba(11,87,164,0.22)',
    counterLine: '#0b57a4',
    depth: '#1f2937',
    warning: '#9a5b00',
    dim: 'rgba(255,255,255,0.62)',
  },
  dark: {
    background: '#12161d',
    panel: '#1a2029',
    text: '#e8ecf2',
    faint: '#a7b1bf',
    line: '#2a323e',
    strongLine: '#5b6675',
    onSpan: '#0b0e14',
    edge: 'rgba(0,0,0,0.5)',
    hatch: '#8f99a8',
    hatchBack: '#1d232c',
    accent: '#7db7f5',
    cursor: '#ff7a85',
    selection: 'rgba(125,183,245,0.22)',
    markerA: '#d3a6f0',
    markerB: '#63d3b6',
    hit: '#ffa057',
    counter: 'rgba(125,183,245,0.25)',
    counterLine: '#7db7f5',
    depth: '#f3f4f6',
    warning: '#f2c14e',
    dim: 'rgba(18,22,29,0.62)',
  },
};
