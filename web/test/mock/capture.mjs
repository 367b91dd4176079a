// A generated capture: what three threads on two cores executed, with messages, events and gaps.
// It is the truth that the answers of the server in this folder are made from.
import { makeProgram, random } from './program.mjs';

export const flags = { startUnknown: 1, before: 4, after: 8, exception: 16, tailCall: 32, merged: 64 };

const instructionsPerSource = 240_000;
const deepest = 17;
const irq = 22;

/** One source: its frames, by start; the pieces in which time and instructions advance. */
function execute(source, functions, seed, threads) {
  const next = random(seed);
  const frames = [];
  const instants = [];
  const gaps = [];
  const pieces = [];
  let n = 0;
  let t = next() * 50;
  const stacks = threads.map(() => []);
  let thread = 0;
  const open = (func, flag = 0) => {
    const stack = stacks[thread];
    const frame = { track: threads[thread], n0: n, t0: t, n1: -1, t1: -1, depth: stack.length, func, flags: flag };
    stack.push(frame);
    frames.push(frame);
  };
  const close = () => {
    const frame = stacks[thread].pop();
    frame.n1 = n;
    frame.t1 = t;
  };
  const run = (many) => {
    const ticks = many * (0.8 + next() * 2.2);
    const stack = stacks[thread];
    const top = stack[stack.length - 1];
    pieces.push({ n0: n, n1: n + many, t0: t, t1: t + ticks, frame: top, thread: threads[thread], stack: [...stack] });
    n += many;
    t += ticks;
  };
  const idle = (ticks) => {
    for (const stack of stacks) for (const frame of stack) frame.waits ??= [];
    t += ticks;
  };
  stacks.forEach((_, i) => {
    thread = i;
    open(i === 0 ? 0 : 15, flags.startUnknown);
    run(5);
  });
  while (n < instructionsPerSource) {
    const stack = stacks[thread];
    const roll = next();
    run(3 + Math.floor(next() ** 3 * 60));
    if (roll < 0.003) {
      instants.push({ t, kind: 'exception', text: 'IRQ', track: threads[thread], n });
      open(irq, flags.exception);
      run(20 + Math.floor(next() * 80));
      open(23);
      run(40);
      close();
      close();
    } else if (roll < 0.0045 && threads.length > 1) {
      thread = (thread + 1) % threads.length;
    } else if (roll < 0.0055) {
      const t0 = t;
      idle(600 + next() * 9000);
      const why = ['loss', 'not_stated', 'overflow', 'missing_code', 'pathless'][Math.floor(next() * 5)];
      threads.forEach((track) => gaps.push({ track, t0, t1: t, why }));
    } else if (stack.length < 3 || (stack.length < deepest && next() < 0.52)) {
      const parent = stack[stack.length - 1];
      const func = (parent.func * 3 + 1 + Math.floor(next() ** 2 * 4)) % 21;
      open(func, next() < 0.02 ? flags.tailCall : 0);
    } else close();
  }
  stacks.forEach((stack, i) => {
    thread = i;
    while (stack.length) close();
  });
  return { source, functions, frames, instants, gaps, pieces, instructions: n, length: t };
}

export function makeCapture(options = {}) {
  const functions = makeProgram(options);
  const hostile = options.hostile;
  const sources = [
    { id: 16, name: 'ETE 0', protocol: 'ETE', core: 'Cortex-A55 #0', executes: true },
    { id: 18, name: 'ETE 1', protocol: 'ETE', core: hostile ? '<b>core\u202e1' : 'Cortex-A55 #1', executes: true },
    { id: 48, name: 'STM', protocol: 'STM', core: 'System', executes: false },
  ];
  const tracks = [
    { number: 1, kind: 'thread', source: 16, thread: '1201', name: hostile ? '<i>server</i>' : 'server (1201)', group: sources[0].core },
    { number: 2, kind: 'thread', source: 16, thread: '1202', name: 'worker (1202)', group: sources[0].core },
    { number: 3, kind: 'thread', source: 18, thread: '1203', name: 'encoder (1203)', group: sources[1].core },
    { number: 4, kind: 'messages', source: 48, thread: '', name: 'STM messages', group: 'System' },
    { number: 5, kind: 'events', source: 16, thread: '', name: 'Events', group: sources[0].core },
    { number: 6, kind: 'counter', source: 16, thread: '', name: 'instructions', group: sources[0].core },
    { number: 7, kind: 'counter', source: 16, thread: '', name: 'cycles per instruction', group: sources[0].core },
    { number: 8, kind: 'counter', source: 18, thread: '', name: 'instructions', group: sources[1].core },
  ];
  const runs = options.instructions === false ? [] : [execute(16, functions, 1, [1, 2]), execute(18, functions, 2, [3])];
  const length = runs.length ? Math.max(...runs.map((run) => run.length)) : 400_000;
  const next = random(9);
  const marks = [];
  for (let t = 500; t < length; t += 200 + next() ** 2 * 6000) {
    const text = hostile
      ? ['<script>alert(3)</script>', 'bell\u0007', '\u202eabc', 'y'.repeat(1 << 20)][marks.length % 4]
      : ['request accepted', 'cache miss: key 0x5f21', 'frame 17 encoded', 'queue length 4'][marks.length % 4];
    marks.push({ track: 4, t, kind: 'message', text });
  }
  for (let t = 900; t < length; t += 3000 + next() * 20000) {
    marks.push({ track: 5, t, kind: next() < 0.3 ? 'trigger' : 'event', text: `event ${Math.floor(next() * 4)}` });
  }
  marks.sort((a, b) => a.t - b.t);
  if (options.instructions === false) {
    return { options, functions, sources: sources.slice(2), tracks: tracks.slice(3, 4), runs, length, marks };
  }
  for (const run of runs) {
    const source = sources.find((entry) => entry.id === run.source);
    source.instructions = run.instructions;
  }
  for (const track of tracks) {
    const frames = runs.flatMap((run) => run.frames).filter((frame) => frame.track === track.number);
    track.first = frames.length ? Math.min(...frames.map((frame) => frame.t0)) : 0;
    track.last = frames.length ? Math.max(...frames.map((frame) => frame.t1)) : length;
    track.depth = frames.reduce((most, frame) => Math.max(most, frame.depth + 1), 0);
  }
  return { options, functions, sources, tracks, runs, length, marks };
}

/** The piece of a run that executes instruction n. */
export function pieceOf(run, n) {
  let low = 0;
  let high = run.pieces.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (run.pieces[middle].n0 <= n) low = middle;
    else high = middle - 1;
  }
  return run.pieces[low];
}

export function timeOf(run, n) {
  const piece = pieceOf(run, n);
  return piece.t0 + ((n - piece.n0) / (piece.n1 - piece.n0)) * (piece.t1 - piece.t0);
}

/** The last instruction of a track that began at t or earlier. */
export function lastAt(run, track, t) {
  let found;
  for (const piece of run.pieces) {
    if (piece.t0 > t) break;
    if (piece.thread === track) found = piece;
  }
  if (!found) return undefined;
  const share = Math.min(1, (t - found.t0) / (found.t1 - found.t0));
  return Math.min(found.n1 - 1, found.n0 + Math.floor(share * (found.n1 - found.n0)));
}

/** The instruction of the program that number n of a run executes. */
export function codeOf(capture, run, n) {
  const piece = pieceOf(run, n);
  const func = capture.functions[piece.frame.func];
  const index = (n - piece.frame.n0) % func.instructions.length;
  return { piece, func, index, instruction: func.instructions[index] };
}
