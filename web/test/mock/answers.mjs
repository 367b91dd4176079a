// The answers of the viewer's API, from a generated capture.
import { codeOf, flags, lastAt, pieceOf, timeOf } from './capture.mjs';

export class Refusal extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

/** Why reading ended early. */
export const failureText = (options) =>
  `trace.bin: the file has become shorter than byte 7,407,407.${options.hostile ? ' <script>alert(5)</script>\u202e' : ''}`;

const hex = (value) => '0x' + value.toString(16);
const summaryShare = 0.35;

export class Answers {
  constructor(capture, options = {}) {
    this.capture = capture;
    this.options = options;
    this.begin = Date.now();
  }

  known() {
    const { length } = this.capture;
    if (this.options.failure) return length * 0.6;
    if (Date.now() - this.begin < 1000 * (this.options.silentSeconds ?? 0)) return 0;
    if (!this.options.readingSeconds) return length;
    return Math.min(1, 0.05 + (Date.now() - this.begin) / 1000 / this.options.readingSeconds) * length;
  }

  named(numbers) {
    return [...new Set(numbers)].map((number) => {
      const { name, program, kind } = this.capture.functions[number];
      return [number, name, program, kind];
    });
  }

  runOf(source) {
    const run = this.capture.runs.find((entry) => entry.source === Number(source));
    if (!run) throw new Refusal(404, `Source ${source} does not execute instructions.`);
    return run;
  }

  window(query) {
    const from = Number(query.from ?? 0);
    const to = Number(query.to ?? this.known());
    if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) {
      throw new Refusal(400, 'The window is not valid: "from" must be less than "to".');
    }
    return { from, to };
  }

  answer_capture() {
    const { capture, options } = this;
    const done = this.known() / capture.length;
    const complete = done >= 1;
    const bytes = 12_345_678;
    return {
      name: options.hostile ? '<h1>capture</h1>\u202e' : 'server-under-load', path: '/captures/server-under-load', bytes,
      version: '1.0', kind: 'snapshot',
      axis: { unit: 'ticks', words: 'ticks of the timestamp generator', origin: '81985529216486895', length: this.known() },
      sources: capture.sources.map((source) => ({ instructions: 0, ...source })),
      progress: {
        done: Math.round(done * bytes), total: bytes, complete, stage: complete ? 'ready' : 'overview',
        failure: options.failure ? failureText(options) : '',
      },
      limits: { span_bytes: 4_000_000 },
      has: { timestamps: true, cycles: true, symbols: options.symbols !== false, lines: options.lines !== false },
      programs: [
        { path: '/usr/bin/server', build_id: '5f21aa', found: options.symbols !== false },
        { path: '/lib/aarch64-linux-gnu/libc.so.6', build_id: '77b2c0', found: false },
      ],
    };
  }

  answer_tracks() {
    if (this.options.empty) return { tracks: [] };
    const known = this.known();
    return { tracks: this.capture.tracks.map((track) => ({ depth: 0, first: 0, ...track, last: Math.min(track.last ?? known, known) })) };
  }

  answer_timeline(query) {
    const { from, to } = this.window(query);
    const known = this.known();
    const width = Number(query.width ?? 1000);
    const summary = (to - from) / this.capture.length > summaryShare;
    const numbers = [];
    const wanted = query.tracks ? query.tracks.split(',').map(Number) : undefined;
    const tracks = this.capture.tracks
      .filter((track) => !wanted || wanted.includes(track.number))
      .map((track) => this.picture(track, from, Math.min(to, known), (to - from) / width, summary, numbers));
    const complete = known >= this.capture.length || to < known;
    return { from, to, mode: summary ? 'summary' : 'spans', tracks, functions: this.named(numbers), complete };
  }

  picture(track, from, to, pixel, summary, numbers) {
    const picture = { track: track.number };
    const run = this.capture.runs.find((entry) => entry.source === track.source);
    if (track.kind === 'counter') picture.points = this.points(track, run, from, to, pixel);
    else if (track.kind !== 'thread') picture.marks = this.marks(track, from, to, pixel);
    else if (summary) picture.buckets = this.buckets(track, run, from, to, pixel, numbers);
    else {
      picture.spans = this.spans(track, run, from, to, pixel, numbers);
      picture.gaps = run.gaps
        .filter((gap) => gap.track === track.number && gap.t1 > from && gap.t0 < to)
        .map((gap) => [Math.max(gap.t0, from), Math.min(gap.t1, to), gap.why]);
      picture.instants = run.instants
        .filter((entry) => entry.track === track.number && entry.t >= from && entry.t < to)
        .map((entry) => [entry.t, entry.kind, entry.text]);
    }
    return picture;
  }

  spans(track, run, from, to, pixel, numbers) {
    const rows = [];
    const merging = new Map();
    for (const frame of run.frames) {
      if (frame.track !== track.number || frame.t1 <= from || frame.t0 >= to) continue;
      let flag = frame.flags;
      const start = Math.max(frame.t0, from);
      const end = Math.min(frame.t1, to);
      if (start > frame.t0) flag = (flag & ~flags.startUnknown) | flags.before;
      if (end < frame.t1) flag |= flags.after;
      if (end - start < pixel && !(flag & 12)) {
        const cell = Math.floor((start - from) / pixel);
        const last = merging.get(frame.depth);
        if (last && last.cell === cell) {
          last.row[1] = end;
          last.row[5]++;
          last.row[4] |= flags.merged;
          if (end - start > last.share) {
            last.share = end - start;
            last.row[3] = frame.func;
          }
          continue;
        }
        const row = [start, end, frame.depth, frame.func, flag, 1];
        merging.set(frame.depth, { cell, row, share: end - start });
        rows.push(row);
      } else rows.push([start, end, frame.depth, frame.func, flag, 1]);
      numbers.push(frame.func);
    }
    rows.sort((a, b) => a[2] - b[2] || a[0] - b[0]);
    numbers.push(...rows.map((row) => row[3]));
    return rows;
  }

  buckets(track, run, from, to, pixel, numbers) {
    const size = pixel * 4;
    const buckets = [];
    for (let start = from; start < to; start += size) {
      buckets.push({ start, end: Math.min(start + size, to), instructions: 0, depth: 0, exceptions: 0, messages: 0, gap: 0, functions: new Map() });
    }
    const at = (t) => buckets[Math.floor((t - from) / size)];
    for (const piece of run.pieces) {
      if (piece.thread !== track.number || piece.t0 < from || piece.t0 >= to) continue;
      const bucket = at(piece.t0);
      const many = piece.n1 - piece.n0;
      bucket.instructions += many;
      bucket.depth = Math.max(bucket.depth, piece.stack.length);
      bucket.functions.set(piece.frame.func, (bucket.functions.get(piece.frame.func) ?? 0) + many);
    }
    for (const entry of run.instants) if (entry.track === track.number && entry.t >= from && entry.t < to) at(entry.t).exceptions++;
    for (const gap of run.gaps) {
      if (gap.track !== track.number) continue;
      for (const bucket of buckets) {
        bucket.gap += Math.max(0, Math.min(gap.t1, bucket.end) - Math.max(gap.t0, bucket.start)) / (bucket.end - bucket.start);
      }
    }
    return buckets.map((bucket) => {
      const top = [...bucket.functions].sort((a, b) => b[1] - a[1]).slice(0, 8);
      numbers.push(...top.map(([func]) => func));
      const shares = top.map(([func, many]) => [func, many / bucket.instructions]);
      return [bucket.start, bucket.end, bucket.instructions, bucket.depth, bucket.exceptions, bucket.messages, Math.min(1, bucket.gap), shares];
    });
  }

  marks(track, from, to, pixel) {
    const marks = [];
    for (const mark of this.capture.marks) {
      if (mark.track !== track.number || mark.t < from || mark.t >= to) continue;
      const last = marks[marks.length - 1];
      if (last && mark.t - last[0] < pixel) last[3]++;
      else marks.push([mark.t, mark.kind, mark.text.slice(0, 4096), 1]);
    }
    return marks;
  }

  points(track, run, from, to, pixel) {
    const size = pixel * 4;
    const points = [];
    for (let start = from; start < to; start += size) points.push([start, Math.min(start + size, to), 0]);
    for (const piece of run.pieces) {
      if (piece.t1 <= from || piece.t0 >= to) continue;
      const first = Math.max(0, Math.floor((piece.t0 - from) / size));
      const last = Math.min(points.length - 1, Math.floor((piece.t1 - from) / size));
      for (let i = first; i <= last; i++) {
        const both = Math.min(piece.t1, points[i][1]) - Math.max(piece.t0, points[i][0]);
        if (both > 0) points[i][2] += ((piece.n1 - piece.n0) * both) / (piece.t1 - piece.t0);
      }
    }
    if (track.name !== 'instructions') return points.map(([a, b, value]) => [a, b, value ? Math.min(9, (b - a) / value) : 0]);
    return points;
  }

  place(run, n) {
    const { piece, func, index, instruction } = codeOf(this.capture, run, n);
    const stack = [...piece.stack].reverse().map((frame, i) => {
      const callee = [...piece.stack].reverse()[i - 1];
      const entry = this.capture.functions[frame.func];
      return {
        function: frame.func, call_address: callee ? hex(entry.instructions[0].address + 8) : '0x0',
        file: entry.file, line: callee ? 12 : instruction.line, depth: frame.depth,
      };
    });
    return {
      source: run.source, n, t: timeOf(run, n), track: piece.thread, address: hex(instruction.address), isa: 'A64',
      text: instruction.text, bytes: instruction.bytes, function: func.number, offset: 4 * index,
      file: func.file, line: instruction.line, stack, element_index: n * 3, exception_level: 'EL0',
      context: 'EL0 non-secure', functions: this.named(stack.map((entry) => entry.function)),
    };
  }

  answer_at(query) {
    if (query.n !== undefined) {
      const run = this.runOf(query.source);
      const n = Number(query.n);
      if (!(n >= 0 && n < run.instructions)) throw new Refusal(404, `Source ${query.source} has no instruction ${query.n}.`);
      return this.place(run, n);
    }
    const track = this.capture.tracks.find((entry) => entry.number === Number(query.track));
    if (!track) throw new Refusal(404, `There is no track ${query.track}.`);
    const run = this.runOf(track.source);
    const n = lastAt(run, track.number, Number(query.t));
    if (n === undefined) throw new Refusal(404, 'The thread executes nothing before this place.');
    return this.place(run, n);
  }

  answer_instructions(query) {
    const run = this.runOf(query.source);
    const n = Number(query.n);
    const first = Math.max(0, n - Number(query.before ?? 10));
    const last = Math.min(run.instructions - 1, n + Number(query.after ?? 10));
    const instructions = [];
    const numbers = [];
    for (let i = first; i <= last; i++) {
      const { piece, func, index, instruction } = codeOf(this.capture, run, i);
      const taken = instruction.conditional ? i % 3 !== 0 : null;
      instructions.push({
        n: i, t: timeOf(run, i), track: piece.thread, address: hex(instruction.address), text: instruction.text, bytes: instruction.bytes,
        function: func.number, offset: index * 4, file: func.file, line: instruction.line, taken,
        target: taken ? hex(instruction.address - 12) : '', event: piece.frame.flags & flags.exception && i === piece.frame.n0 ? 'exception: IRQ' : '',
      });
      numbers.push(func.number);
    }
    return { instructions, functions: this.named(numbers) };
  }

  answer_step(query) {
    const run = this.runOf(query.source);
    const n = Number(query.n);
    const back = query.direction === 'back';
    const found = this.stepped(run, n, query.by, back ? -1 : 1);
    if (found === undefined) {
      const reason = back ? 'This is the first such place.' : 'This is the last such place.';
      return { ...this.place(run, n), moved: false, reason };
    }
    return { ...this.place(run, found), moved: true, reason: '' };
  }

  stepped(run, n, by, way) {
    const here = codeOf(this.capture, run, n);
    const depth = here.piece.stack.length;
    const accept = {
      instruction: () => true,
      line: (other) => other.func !== here.func || other.instruction.line !== here.instruction.line,
      over: (other) => other.piece.stack.length <= depth,
      out: (other) => other.piece.stack.length < depth,
      into: (other) => other.piece.stack.length > depth,
      same_line: (other, at) => Math.abs(at - n) > 3 && other.func === here.func && other.instruction.line === here.instruction.line,
      exception: (other, at) => other.piece.frame.flags & flags.exception && at === other.piece.frame.n0,
      message: (other, at) => at === this.messageAt(run, n, way),
    }[by];
    if (!accept) throw new Refusal(400, `"${by}" is not a kind of step.`);
    for (let at = n + way; at >= 0 && at < run.instructions; at += way) {
      const other = codeOf(this.capture, run, at);
      if (other.piece.thread !== here.piece.thread && by !== 'instruction') continue;
      if (accept(other, at)) return at;
    }
    return undefined;
  }

  messageAt(run, n, way) {
    const t = timeOf(run, n);
    const list = this.capture.marks.filter((mark) => mark.track === 4 && (way > 0 ? mark.t > t : mark.t < t));
    const mark = way > 0 ? list[0] : list[list.length - 1];
    if (!mark) return undefined;
    return lastAt(run, pieceOf(run, n).thread, mark.t);
  }

  /** Calls `visit` for each piece in a window, with the share of it that is inside. */
  eachPiece(query, visit) {
    const { from, to } = this.window(query);
    const wanted = query.tracks ? query.tracks.split(',').map(Number) : undefined;
    for (const run of this.capture.runs) {
      for (const piece of run.pieces) {
        if (piece.t1 <= from || piece.t0 >= to || (wanted && !wanted.includes(piece.thread))) continue;
        const share = (Math.min(piece.t1, to) - Math.max(piece.t0, from)) / (piece.t1 - piece.t0);
        visit(piece, Math.round((piece.n1 - piece.n0) * share), run);
      }
    }
    return { from, to };
  }

  answer_code(query) {
    let number = Number(query.function);
    if (query.function === undefined) number = codeOf(this.capture, this.runOf(query.source), Number(query.n)).func.number;
    const func = this.capture.functions[number];
    if (!func) throw new Refusal(404, `There is no function ${query.function}.`);
    let executed = 0;
    const { from, to } = this.eachPiece(query, (piece, many) => {
      if (piece.frame.func === number) executed += many;
    });
    const each = Math.floor(executed / func.instructions.length);
    const lines = [];
    if (this.options.lines !== false) {
      for (let line = 8; line < 26; line++) {
        const count = func.instructions.some((entry) => entry.line === line) ? each : 0;
        const text = line === 8 ? `static int ${func.name.slice(0, 200)}(struct state *state) {` : `\tstate->value[${line}] += ${line} * factor;  /* <b>step</b> ${line} */`;
        lines.push({ number: line, text: this.options.sources === false ? null : text, count });
      }
    }
    return {
      function: number, program: func.program, file: func.file, exact: to - from < this.capture.length * 0.5, executions: each,
      instructions: func.instructions.map((entry, i) => ({
        address: hex(entry.address), text: entry.text, bytes: entry.bytes, count: each,
        taken: entry.conditional ? (i % 2 ? 0 : Math.floor(each / 3)) : null,
        not_taken: entry.conditional ? each - (i % 2 ? 0 : Math.floor(each / 3)) : null,
        line: this.options.lines === false ? 0 : entry.line, file_number: 0,
      })),
      files: this.options.lines === false ? [] : [func.file], lines, note: '', functions: this.named([number]),
    };
  }

  answer_functions(query) {
    const rows = new Map();
    let all = 0;
    const { from, to } = this.eachPiece(query, (piece, many) => {
      all += many;
      const seen = new Set();
      for (const frame of piece.stack) {
        if (seen.has(frame.func)) continue;
        seen.add(frame.func);
        const row = rows.get(frame.func) ?? [frame.func, 0, 0, 0, 0];
        row[2] += many;
        rows.set(frame.func, row);
      }
      const row = rows.get(piece.frame.func);
      row[1] += many;
      row[4] += many * 2;
      if (piece.n0 === piece.frame.n0) row[3]++;
    });
    const list = [...rows.values()].sort((a, b) => b[1] - a[1]).slice(0, Number(query.limit ?? 200));
    return { exact: to - from < this.capture.length * 0.5, instructions: all, cycles: all * 2, rows: list, functions: this.named(list.map((row) => row[0])) };
  }

  answer_callers(query) {
    const number = Number(query.function);
    const callers = new Map();
    const callees = new Map();
    const add = (map, func, calls, many) => {
      const row = map.get(func) ?? [func, 0, 0];
      row[1] += calls;
      row[2] += many;
      map.set(func, row);
    };
    this.eachPiece(query, (piece, many) => {
      piece.stack.forEach((frame, i) => {
        const first = piece.n0 === frame.n0 ? 1 : 0;
        const parent = piece.stack[i - 1];
        if (frame.func === number && parent) add(callers, parent.func, first, many);
        if (parent?.func === number) add(callees, frame.func, first, many);
      });
    });
    const byCount = (map) => [...map.values()].sort((a, b) => b[2] - a[2]);
    return { exact: true, function: number, callers: byCount(callers), callees: byCount(callees), functions: this.named([number, ...callers.keys(), ...callees.keys()]) };
  }

  answer_flame(query) {
    const nodes = [[0, 0, 0, 0]];
    const index = new Map();
    const { from, to } = this.eachPiece(query, (piece, many) => {
      let at = 0;
      nodes[0][3] += many;
      for (const frame of piece.stack) {
        const key = `${at} ${frame.func}`;
        let child = index.get(key);
        if (child === undefined) {
          child = nodes.push([at, frame.func, 0, 0]) - 1;
          index.set(key, child);
        }
        nodes[child][3] += many;
        at = child;
      }
      nodes[at][2] += many;
    });
    return { exact: to - from < this.capture.length * 0.5, nodes, functions: this.named(nodes.map((node) => node[1])) };
  }

  answer_measure(query) {
    const entered = new Set();
    let instructions = 0;
    let calls = 0;
    const { from, to } = this.eachPiece(query, (piece, many) => {
      instructions += many;
      entered.add(piece.frame.func);
      if (piece.n0 === piece.frame.n0) calls++;
    });
    const inside = (entry) => entry.t >= from && entry.t < to;
    return {
      exact: true, span: to - from, instructions, cycles: instructions * 2, calls,
      exceptions: this.capture.runs.flatMap((run) => run.instants).filter(inside).length,
      gaps: this.capture.runs.flatMap((run) => run.gaps).filter((gap) => gap.t0 >= from && gap.t1 < to).length,
      messages: this.capture.marks.filter((mark) => mark.track === 4 && inside(mark)).length, functions_entered: entered.size,
    };
  }

  answer_find(query) {
    const { from, to } = this.window(query);
    const limit = Number(query.limit ?? 200);
    const text = String(query.text ?? '').toLowerCase();
    const hits = [];
    if (query.what === 'text') {
      for (const mark of this.capture.marks) {
        if (mark.t < from || mark.t >= to || !mark.text.toLowerCase().includes(text)) continue;
        hits.push({ t: mark.t, track: mark.track, source: 48, n: null, text: mark.text.slice(0, 4096) });
      }
    } else if (query.what === 'time') {
      const t = Number(text.replace(/^t:/, ''));
      if (!Number.isFinite(t)) throw new Refusal(400, `"${text}" is not a time. Give a number, or t: and a raw timestamp.`);
      hits.push({ t, track: 1, source: 16, n: null, text: `time ${t}` });
    } else {
      for (const run of this.capture.runs) {
        for (const frame of run.frames) {
          const func = this.capture.functions[frame.func];
          const found = {
            function: () => func.name.toLowerCase().includes(text),
            exception: () => (frame.flags & flags.exception) !== 0,
            address: () => hex(func.instructions[0].address) === text,
            line: () => `${func.file}:10`.endsWith(text),
          }[query.what];
          if (!found) throw new Refusal(400, `"${query.what}" is not a kind of search.`);
          if (frame.t0 < from || frame.t0 >= to || !found()) continue;
          hits.push({ t: frame.t0, track: frame.track, source: run.source, n: frame.n0, text: func.name.slice(0, 1024) });
        }
      }
    }
    hits.sort((a, b) => a.t - b.t);
    const cut = hits.slice(0, limit);
    const complete = hits.length <= limit;
    return { hits: cut, complete, searched_to: complete ? to : cut[cut.length - 1].t, note: '' };
  }

  answer_health() {
    if (this.options.healthy) return { findings: [] };
    const gap = this.capture.runs[0]?.gaps[0];
    const bad = this.options.hostile ? '<script>alert(4)</script> \u202e' : '';
    return {
      findings: [
        { severity: 'error', title: `Trace was lost 12 times ${bad}`, text: 'The trace buffer was full. Make it larger, or filter what is traced.', t: gap?.t0 ?? 100, track: 1, count: 12 },
        { severity: 'warning', title: 'The trace contradicts a program', text: 'At 0x4005a8, the program has another instruction than the trace says. Give the file that was traced.', t: 4000, track: 3, count: 2 },
        { severity: 'note', title: 'No cycle counts on one source', text: 'Switch cycle counting on to see cycles per instruction.', t: null, track: null, count: 1 },
      ],
    };
  }
}

/** The binary form of a timeline. */
export function binary(timeline) {
  const parts = [];
  let at = 0;
  const head = {
    ...timeline,
    tracks: timeline.tracks.map((picture) => {
      if (!picture.spans) return picture;
      const rows = picture.spans.length;
      const column = (Type, pick) => Buffer.from(Type.from(picture.spans, pick).buffer);
      const block = Buffer.concat([
        column(Float64Array, (row) => row[0]), column(Float64Array, (row) => row[1]),
        column(Uint32Array, (row) => row[3]), column(Uint32Array, (row) => row[5]),
        column(Uint16Array, (row) => row[2]), column(Uint16Array, (row) => row[4]),
      ]);
      const padding = Buffer.alloc((8 - (block.length % 8)) % 8);
      const place = { rows, at };
      parts.push(block, padding);
      at += block.length + padding.length;
      return { ...picture, spans: place };
    }),
  };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const padding = Buffer.alloc((8 - ((4 + text.length) % 8)) % 8);
  return Buffer.concat([length, text, padding, ...parts]);
}
