// The answers of the server, as docs/view_api.md describes them.

export type Unit = 'ticks' | 'nanoseconds' | 'cycles' | 'instructions' | 'bytes';

export interface Axis {
  unit: Unit;
  words: string;
  /** Decimal text of a 64-bit number: the value of the unit where the axis is 0. */
  origin: string;
  length: number;
}

export interface SourceFacts {
  id: number;
  name: string;
  protocol: string;
  core: string;
  executes: boolean;
  instructions: number;
}

export interface ProgramFacts {
  path: string;
  build_id: string;
  found: boolean;
}

export interface Capture {
  name: string;
  path: string;
  bytes: number;
  version: string;
  kind: string;
  axis: Axis;
  sources: SourceFacts[];
  progress: { done: number; total: number; complete: boolean; stage: string; failure?: string };
  limits: { span_bytes: number };
  has: { timestamps: boolean; cycles: boolean; symbols: boolean; lines: boolean };
  programs: ProgramFacts[];
}

export type TrackKind = 'thread' | 'messages' | 'events' | 'counter';

export interface Track {
  number: number;
  kind: TrackKind;
  source: number;
  thread: string;
  name: string;
  group: string;
  first: number;
  last: number;
  depth: number;
}

/** Whether the points of a counter are amounts, which are drawn per unit of the axis. */
export const isAmount = (track: Track): boolean => track.name === 'instructions';

/** Number, name, program, kind. */
export type FunctionRow = [number, string, string, string];

export type GapReason = 'not_stated' | 'loss' | 'missing_code' | 'pathless' | 'overflow';
export type Gap = [start: number, end: number, why: GapReason];
export type Instant = [t: number, kind: string, text: string];
export type Mark = [t: number, kind: string, text: string, count: number];
export type Point = [start: number, end: number, value: number];
export type Bucket = [
  start: number,
  end: number,
  instructions: number,
  depth: number,
  exceptions: number,
  messages: number,
  gapShare: number,
  functions: [number, number][],
];

export const flags = {
  startUnknown: 1,
  endUnknown: 2,
  continuesBefore: 4,
  continuesAfter: 8,
  exception: 16,
  tailCall: 32,
  merged: 64,
} as const;

/** Frames of a thread, one column for each property; the outermost first, then by start. */
export interface Spans {
  rows: number;
  start: Float64Array;
  end: Float64Array;
  func: Uint32Array;
  count: Uint32Array;
  depth: Uint16Array;
  flags: Uint16Array;
}

/** What one track shows in a window. Which lists have something depends on the track's kind. */
export interface Picture {
  track: number;
  spans?: Spans;
  gaps?: Gap[];
  instants?: Instant[];
  buckets?: Bucket[];
  marks?: Mark[];
  points?: Point[];
}

export interface Timeline {
  from: number;
  to: number;
  mode: 'spans' | 'summary';
  complete: boolean;
  tracks: Picture[];
  functions: FunctionRow[];
}

export interface StackEntry {
  function: number;
  call_address: string;
  file: string;
  line: number;
  depth?: number;
}

export interface Place {
  source: number;
  n: number;
  t: number;
  track: number;
  address: string;
  isa: string;
  text: string;
  bytes: string;
  function: number;
  offset: number;
  file: string;
  line: number;
  stack: StackEntry[];
  element_index: number;
  exception_level?: string | number | null;
  context?: string;
  moved?: boolean;
  reason?: string;
  functions?: FunctionRow[];
}

export interface Executed {
  n: number;
  t: number;
  track: number;
  address: string;
  text: string;
  bytes: string;
  function: number;
  offset: number;
  file: string;
  line: number;
  taken: boolean | null;
  target: string;
  event: string;
}

export interface ExecutedList {
  instructions: Executed[];
  functions?: FunctionRow[];
}

export interface CodeInstruction {
  address: string;
  text: string;
  bytes: string;
  count: number;
  taken: number | null;
  not_taken: number | null;
  line: number;
  file_number: number;
}

export interface Code {
  function: number;
  program: string;
  file: string;
  exact: boolean;
  executions: number;
  instructions: CodeInstruction[];
  files: string[];
  lines: { number: number; text: string | null; count: number }[];
  note: string;
  functions?: FunctionRow[];
}

export interface Functions {
  exact: boolean;
  instructions: number;
  cycles: number | null;
  rows: [func: number, self: number, total: number, calls: number, cycles: number | null][];
  functions: FunctionRow[];
}

export interface Neighbours {
  exact: boolean;
  function: number;
  callers: [number, number, number][];
  callees: [number, number, number][];
  functions: FunctionRow[];
}

export interface Flame {
  exact: boolean;
  nodes: [parent: number, func: number, self: number, total: number][];
  functions: FunctionRow[];
}

export interface Measure {
  exact: boolean;
  span: number;
  instructions: number;
  cycles: number | null;
  calls: number;
  exceptions: number;
  gaps: number;
  messages: number;
  functions_entered: number;
}

export type FindWhat = 'function' | 'address' | 'line' | 'text' | 'exception' | 'time';

export interface Hit {
  t: number;
  track: number;
  source: number | null;
  n: number | null;
  text: string;
}

export interface Hits {
  hits: Hit[];
  complete: boolean;
  searched_to: number;
  note: string;
}

export interface Finding {
  severity: 'error' | 'warning' | 'note';
  title: string;
  text: string;
  t: number | null;
  track: number | null;
  count: number;
}

export interface Health {
  findings: Finding[];
}

/** Two captures side by side, in a report with two inputs. */
export interface Compare {
  names: [string, string];
  instructions: [number, number];
  cycles: [number | null, number | null];
  /** Name, program, then self, total and calls of the first, then of the second. */
  rows: [string, string, number, number, number, number, number, number][];
  /** Where they diverge: the thread, what happened, where, and how often; the first of `divergence_count`. */
  divergences: [string, string, string, number][];
  divergence_count: number;
  note: string;
}

/** Executed, and all. */
export type CoveredPart = [executed: number, all: number];

/** Which source lines a report says were executed. */
export interface Coverage {
  lines: CoveredPart;
  functions: CoveredPart;
  branches: CoveredPart;
  /** Path; lines, functions and branches, executed and all; lines and functions that were not executed. */
  rows: [string, number, number, number, number, number, number, string, string[]][];
  note: string;
}

/** The answer to each question, by the name of its request. */
export interface Answers {
  capture: Capture;
  tracks: { tracks: Track[] };
  at: Place;
  instructions: ExecutedList;
  step: Place;
  code: Code;
  functions: Functions;
  callers: Neighbours;
  flame: Flame;
  measure: Measure;
  find: Hits;
  health: Health;
}
export type Question = keyof Answers;
