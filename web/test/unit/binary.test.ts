import test from 'node:test';
import assert from 'node:assert/strict';
import { flags } from '../../src/api';
import { clipped, joined, rowOf, spansFromRows, SpanRow, timelineFromBinary, timelineFromJson } from '../../src/binary';
// @ts-ignore The mock is JavaScript.
import { binary } from '../mock/answers.mjs';

const spans: SpanRow[] = [
  [0, 10.5, 0, 3, flags.startUnknown, 1],
  [1, 2, 1, 4, flags.merged, 17],
  [2.25, 4, 1, 4294967295, flags.exception | flags.continuesAfter, 1],
];
const timeline = {
  from: 0, to: 11, mode: 'spans', complete: true, functions: [[3, 'naïve', '/bin/x', 'function']],
  tracks: [{ track: 1, spans, gaps: [[4, 5, 'loss']] }, { track: 2, marks: [[1, 'message', 'm', 1]] }, { track: 3, spans: spans.slice(0, 1) }],
};

const bytes = (): ArrayBuffer => {
  const buffer: Uint8Array = binary(timeline);
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength) as ArrayBuffer;
};

const rowsOf = (picture: { spans?: ReturnType<typeof spansFromRows> } | undefined): SpanRow[] =>
  Array.from({ length: picture?.spans?.rows ?? 0 }, (_, i) => rowOf(picture!.spans!, i));

test('binary_equals_json', () => {
  const a = timelineFromBinary(bytes());
  const b = timelineFromJson(JSON.parse(JSON.stringify(timeline)));
  assert.deepEqual(a, b);
  assert.deepEqual(rowsOf(a.tracks[0]), spans);
  assert.deepEqual(rowsOf(a.tracks[2]), spans.slice(0, 1));
  assert.equal(a.tracks[1]?.spans, undefined);
});

test('every_cut_of_an_answer_is_an_error', () => {
  const whole = bytes();
  // The last bytes are padding.
  for (let length = 0; length < whole.byteLength - 8; length++) {
    assert.throws(() => timelineFromBinary(whole.slice(0, length)), `${length}`);
  }
});

test('impossible_heads_are_errors', () => {
  for (const place of [{ rows: -1, at: 0 }, { rows: 1e9, at: 0 }, { rows: 1, at: -8 }, { rows: 0.5, at: 0 }, { rows: 1, at: 1e12 }]) {
    const head = new TextEncoder().encode(JSON.stringify({ tracks: [{ track: 1, spans: place }] }));
    const buffer = new Uint8Array(4 + head.length + 64);
    new DataView(buffer.buffer).setUint32(0, head.length, true);
    buffer.set(head, 4);
    assert.throws(() => timelineFromBinary(buffer.buffer), JSON.stringify(place));
  }
});

test('clipping_states_what_was_cut', () => {
  const rows = clipped(spansFromRows(spans), 1.5, 3);
  assert.deepEqual(rows, [
    [1.5, 3, 0, 3, flags.continuesBefore | flags.continuesAfter, 1],
    [1.5, 2, 1, 4, flags.merged | flags.continuesBefore, 17],
    [2.25, 3, 1, 4294967295, flags.exception | flags.continuesAfter, 1],
  ]);
});

test('cutting_and_joining_gives_the_same_frames', () => {
  const whole: SpanRow[] = [
    [0, 100, 0, 1, flags.startUnknown, 1], [10, 40, 1, 2, 0, 1], [40, 60, 1, 2, 0, 1], [60, 90, 1, 3, flags.exception, 1], [12, 13, 2, 4, 0, 1],
  ];
  for (const cuts of [[50], [40], [12, 12.5, 13], [1, 2, 3, 10, 41, 59, 60, 61, 99]]) {
    const edges = [0, ...cuts, 100];
    const parts = edges.slice(1).map((to, i) => clipped(spansFromRows(whole), edges[i]!, to));
    const expected = [...whole].sort((a, b) => a[2] - b[2] || a[0] - b[0]);
    assert.deepEqual(joined(parts), expected, String(cuts));
  }
});

test('frames_of_the_same_function_that_only_touch_stay_apart', () => {
  const parts: SpanRow[][] = [[[0, 5, 0, 1, 0, 1]], [[5, 9, 0, 1, 0, 1]]];
  assert.equal(joined(parts).length, 2);
});
