// Answers from the report file itself. It holds those of a few windows; for any other window, the
// nearest one answers, and the note says so.
import type {
  Answers,
  Compare,
  Coverage,
  Executed,
  ExecutedList,
  Picture,
  Place,
  Point,
  Question,
  Timeline,
} from './api';
import { isAmount } from './api';
import { clipped, joined, spansFromRows, timelineFromJson } from './binary';
import { AskOptions, Failure, Params, Reply, Source, TimelineQuestion } from './source';

/** The content of the element "waymark-data": answers by the text of their request. */
export interface Embedded {
  requests: Record<string, unknown>;
  compare?: Compare;
  coverage?: Coverage;
}

interface Held {
  params: Map<string, string>;
  answer: unknown;
}

interface HeldTimeline {
  from: number;
  to: number;
  answer: Timeline;
}

/** Parameters that say how much is wanted, not what. */
const amounts = new Set(['limit', 'width', 'format', 'cancel', 'before', 'after']);

export class EmbeddedSource implements Source {
  readonly kind = 'report';
  private readonly held = new Map<string, Held[]>();
  private readonly timelines: HeldTimeline[] = [];

  constructor(private readonly data: Embedded) {
    for (const [request, answer] of Object.entries(data.requests)) {
      const cut = request.indexOf('?');
      const name = cut < 0 ? request : request.slice(0, cut);
      const params = new Map(new URLSearchParams(cut < 0 ? '' : request.slice(cut + 1)));
      const list = this.held.get(name) ?? [];
      list.push({ params, answer });
      this.held.set(name, list);
      if (name === 'timeline') {
        const timeline = timelineFromJson(answer);
        this.timelines.push({ from: timeline.from, to: timeline.to, answer: timeline });
      }
    }
    this.timelines.sort((a, b) => a.to - a.from - (b.to - b.from));
  }

  async ask<K extends Question>(
    name: K,
    params: Params = {},
    _options: AskOptions = {},
  ): Promise<Reply<Answers[K]>> {
    const list = this.held.get(name) ?? [];
    const from = Number(params['from']);
    const to = Number(params['to']);
    let best: Held | undefined;
    let bestShare = -1;
    for (const held of list) {
      if (!sameQuestion(held, params)) continue;
      const share = likeness(held, from, to);
      if (share > bestShare) [best, bestShare] = [held, share];
    }
    if (!best && name === 'at') best = this.nearestPlace(list, params);
    if (!best && name === 'instructions') best = listWith(list, params);
    if (!best && name === 'step') best = this.step(params);
    if (!best) throw new Failure('missing', missingText(name));
    return { value: best.answer as Answers[K], note: windowNote(best, bestShare) };
  }

  async timeline(question: TimelineQuestion, _options: AskOptions = {}): Promise<Reply<Timeline>> {
    const { from, to } = question;
    const pieces = this.pieces(from, to);
    if (!pieces.length) throw new Failure('missing', 'This report holds no timeline.');
    const pictures = new Map<number, Picture>();
    const { tracks } = (this.held.get('tracks')?.[0]?.answer ?? { tracks: [] }) as Answers['tracks'];
    const amountTracks = new Set(tracks.filter(isAmount).map((track) => track.number));
    for (const piece of pieces) {
      for (const picture of piece.held.answer.tracks) {
        addPart(pictures, picture, piece.from, piece.to, amountTracks.has(picture.track));
      }
    }
    const value: Timeline = {
      from,
      to,
      mode: pieces.every((piece) => piece.held.answer.mode === 'spans') ? 'spans' : 'summary',
      complete: pieces.every((piece) => piece.held.answer.complete),
      functions: pieces.flatMap((piece) => piece.held.answer.functions),
      tracks: [...pictures.values()],
    };
    return { value, note: '' };
  }

  compare(): Compare | undefined {
    return this.data.compare;
  }

  coverage(): Coverage | undefined {
    return this.data.coverage;
  }

  /** The windows with details; the widest timeline is the overview of the whole. */
  windows(): { from: number; to: number }[] {
    const details = this.timelines.slice(0, -1).map(({ from, to }) => ({ from, to }));
    return details.sort((a, b) => a.from - b.from);
  }

  /** For a place that is not held, the last one of the same track before it. */
  private nearestPlace(list: Held[], params: Params): Held | undefined {
    if (params['n'] !== undefined) return this.listed(params, Number(params['n']));
    const wanted = Number(params['t']);
    let best: Held | undefined;
    for (const held of list) {
      if (held.params.get('track') !== String(params['track'])) continue;
      const at = Number(held.params.get('t'));
      if (at <= wanted && (!best || at > Number(best.params.get('t')))) best = held;
    }
    if (!best) return undefined;
    // The instructions after it may reach the wanted place, in lists that follow each other.
    const { source, n } = best.answer as Place;
    const lists = this.held.get('instructions') ?? [];
    let reached = n;
    for (let next = n; ; ) {
      const following = listWith(lists, { source, n: next });
      if (!following) break;
      const { instructions } = following.answer as ExecutedList;
      const later = instructions.filter((entry) => entry.t <= wanted);
      const last = later[later.length - 1];
      if (!last || last.n < reached) break;
      reached = last.n;
      if (later.length < instructions.length) break;
      next = reached + 1;
    }
    return reached > n ? this.listed({ source }, reached) : best;
  }

  /** An instruction as a place, if a list has it. */
  private listed(params: Params, n: number): Held | undefined {
    const held = listWith(this.held.get('instructions') ?? [], { ...params, n });
    if (!held) return undefined;
    const list = held.answer as ExecutedList;
    const entry = list.instructions.find((other) => other.n === n);
    const source = Number(params['source']);
    return entry && { params: new Map(), answer: placeOf(list, entry, source) };
  }

  /** Steps by instruction and line are possible inside the lists that are held. */
  private step(params: Params): Held | undefined {
    const by = params['by'];
    if (by !== 'instruction' && by !== 'line') return undefined;
    const way = params['direction'] === 'back' ? -1 : 1;
    const n = Number(params['n']);
    const here = this.listed(params, n)?.answer as Place | undefined;
    for (let next = n + way; here; next += way) {
      const held = this.listed(params, next);
      const there = held?.answer as Place | undefined;
      if (!there) return undefined;
      const other = there.line !== here.line || there.file !== here.file || there.function !== here.function;
      if (by === 'instruction' || other) return held;
    }
    return undefined;
  }

  /** The parts of a window, each with the timeline that shows most of it. */
  private pieces(from: number, to: number): { from: number; to: number; held: HeldTimeline }[] {
    const edges = new Set([from, to]);
    for (const held of this.timelines) {
      for (const edge of [held.from, held.to]) if (edge > from && edge < to) edges.add(edge);
    }
    const sorted = [...edges].sort((a, b) => a - b);
    const pieces: { from: number; to: number; held: HeldTimeline }[] = [];
    for (let i = 0; i + 1 < sorted.length; i++) {
      const start = sorted[i] ?? from;
      const end = sorted[i + 1] ?? to;
      // By width, so the first one that covers the part shows most of it.
      const held = this.timelines.find((entry) => entry.from <= start && entry.to >= end);
      const last = pieces[pieces.length - 1];
      if (!held) continue;
      if (last && last.held === held && last.to === start) last.to = end;
      else pieces.push({ from: start, to: end, held });
    }
    return pieces;
  }
}

function sameQuestion(held: Held, params: Params): boolean {
  const given = (field: string): string | undefined => {
    const value = params[field];
    return value === undefined ? undefined : String(value);
  };
  const fields = new Set([...held.params.keys(), ...Object.keys(params)]);
  for (const field of fields) {
    if (amounts.has(field) || field === 'from' || field === 'to') continue;
    if (held.params.get(field) !== given(field)) return false;
  }
  return true;
}

/** How much a held window and another have in common: 0 to 1. */
function likeness(held: Held, from: number, to: number): number {
  if (!held.params.has('from') || !Number.isFinite(from)) return 1;
  const start = Number(held.params.get('from'));
  const end = Number(held.params.get('to'));
  const both = Math.max(0, Math.min(to, end) - Math.max(from, start));
  const either = Math.max(to, end) - Math.min(from, start);
  return either > 0 ? both / either : 1;
}

function windowNote(held: Held, share: number): string {
  if (share > 0.999 || !held.params.has('from')) return '';
  return 'The report does not contain this window. The answer for another window is shown.';
}

/** A list of instructions that has the wanted one. */
function listWith(list: Held[], params: Params): Held | undefined {
  const n = Number(params['n']);
  return list.find((held) => {
    if (held.params.get('source') !== String(params['source'])) return false;
    const { instructions } = held.answer as ExecutedList;
    const first = instructions[0];
    const last = instructions[instructions.length - 1];
    return first && last && first.n <= n && n <= last.n;
  });
}

/** The place of an instruction of a list: of its stack, only its own function is known. */
function placeOf(list: ExecutedList, entry: Executed, source: number): Place {
  return {
    ...entry,
    source,
    isa: '',
    stack: [{ function: entry.function, call_address: '', file: entry.file, line: entry.line }],
    element_index: 0,
    context: 'callers are not in this report',
    moved: true,
    reason: '',
    functions: list.functions ?? [],
  };
}

const answerWords: Partial<Record<Question, string>> = {
  at: 'the instruction at this place',
  instructions: 'the instructions at this place',
  step: 'steps',
  code: 'the code of this function',
  functions: 'the functions',
  callers: 'the callers of this function',
  flame: 'a flame graph',
  measure: 'a measurement of this window',
  find: 'a search',
  health: 'findings',
};

function missingText(name: Question): string {
  const what = answerWords[name] ?? `“${name}”`;
  return `This report does not hold ${what}. Open the capture with “waymark view” to see it.`;
}

/** `amounts`: the points are amounts; a part of a bucket has a part of its amount. */
function addPart(
  pictures: Map<number, Picture>,
  part: Picture,
  from: number,
  to: number,
  amounts: boolean,
): void {
  const into = pictures.get(part.track) ?? { track: part.track };
  pictures.set(part.track, into);
  const overlaps = (row: readonly unknown[]): boolean =>
    (row[0] as number) < to && (row[1] as number) > from;
  const within = (row: readonly unknown[]): boolean =>
    (row[0] as number) >= from && (row[0] as number) < to;
  const cut = <T extends [number, number, ...unknown[]]>(rows: T[]): T[] =>
    rows.filter(overlaps).map((row) => {
      const copy = [...row] as T;
      copy[0] = Math.max(copy[0], from);
      copy[1] = Math.min(copy[1], to);
      return copy;
    });
  if (part.spans) {
    const rows = clipped(part.spans, from, to);
    into.spans = spansFromRows(into.spans ? joined([clipped(into.spans, -Infinity, Infinity), rows]) : rows);
  }
  if (part.gaps) into.gaps = [...(into.gaps ?? []), ...cut(part.gaps)];
  if (part.buckets) into.buckets = [...(into.buckets ?? []), ...cut(part.buckets)];
  if (part.points) {
    const whole = part.points.filter(overlaps);
    const parts = cut(part.points).map((point, i): Point => {
      const [start, end] = whole[i] ?? point;
      const share = amounts && end > start ? (point[1] - point[0]) / (end - start) : 1;
      return [point[0], point[1], point[2] * share];
    });
    into.points = [...(into.points ?? []), ...parts];
  }
  if (part.instants) into.instants = [...(into.instants ?? []), ...part.instants.filter(within)];
  if (part.marks) into.marks = [...(into.marks ?? []), ...part.marks.filter(within)];
}
