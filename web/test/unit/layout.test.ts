import test from 'node:test';
import assert from 'node:assert/strict';
import type { Code, Flame, Track, TrackKind } from '../../src/api';
import { functionColour } from '../../src/colours';
import { plainRows, sourceRows } from '../../src/code_pane';
import { flameLayout } from '../../src/flame_pane';
import { boxAt, firstFree, layoutOf, rowAt, rowHeight, stripHeight, TrackBox } from '../../src/layout';

const track = (number: number, kind: TrackKind, group: string, name: string, depth = 3): Track => ({
  number, kind, group, name, depth, source: 1, thread: '', first: 0, last: 1,
});

const tracks = [
  track(1, 'counter', 'core 10', 'instructions'),
  track(2, 'thread', 'core 10', 'b'),
  track(3, 'thread', 'core 2', 'a', 1000),
  track(4, 'thread', 'core 10', 'a'),
  track(5, 'messages', 'STM', 'messages'),
];

test('tracks_are_in_groups_and_do_not_overlap', () => {
  const layout = layoutOf(tracks, () => 'usual', 300);
  const order = layout.boxes.map((box) => (box.kind === 'group' ? box.name : box.track.number));
  assert.deepEqual(order, ['core 2', 3, 'core 10', 4, 2, 1, 'STM', 5]);
  let top = 0;
  for (const box of layout.boxes) {
    assert.equal(box.top, top);
    assert.equal(boxAt(layout, top), box);
    top += box.height;
  }
  assert.equal(layout.height, top);
});

test('deep_stacks_say_what_is_hidden', () => {
  const box = (fold: 'usual' | 'full' | 'folded'): TrackBox =>
    layoutOf([track(3, 'thread', '', '', 1000)], () => fold, 200).boxes[1] as TrackBox;
  for (const fold of ['usual', 'full', 'folded'] as const) assert.equal(box(fold).rows + box(fold).hidden, 1000);
  assert.equal(box('folded').rows, 1);
  assert.ok(box('full').rows > box('usual').rows);
});

test('threads_have_more_rows_where_there_is_room', () => {
  const rows = (room: number): number => (layoutOf([track(3, 'thread', '', '', 1000)], () => 'usual', room).boxes[1] as TrackBox).rows;
  assert.equal(rows(0), 6);
  assert.ok(rows(400) > 12);
});

test('rows_begin_below_the_strip', () => {
  const box = layoutOf(tracks, () => 'usual', 0).boxes[1] as TrackBox;
  assert.equal(rowAt(box, box.top), -1);
  assert.equal(rowAt(box, box.top + stripHeight + 3), 0);
  assert.equal(rowAt(box, box.top + stripHeight + 3 + rowHeight), 1);
});

test('labels_avoid_gaps', () => {
  assert.deepEqual(firstFree([0, 100], [], 50), [0, 100]);
  assert.deepEqual(firstFree([0, 100], [[0, 30]], 50), [30, 100]);
  assert.deepEqual(firstFree([0, 100], [[20, 40], [90, 120]], 30), [40, 90]);
  assert.deepEqual(firstFree([0, 100], [[20, 40], [90, 120]], 15), [0, 20]);
  assert.deepEqual(firstFree([0, 100], [[-5, 200]], 10), [0, 0]);
});

test('flame_boxes_are_inside_their_parents', () => {
  const nodes: Flame['nodes'] = [[0, 0, 0, 100], [0, 1, 10, 70], [0, 2, 30, 30], [1, 3, 60, 60], [3, 1, 5, 5]];
  const boxes = flameLayout(nodes, 0, 0);
  assert.equal(boxes.length, 5);
  for (const box of boxes) {
    const parent = boxes.find((entry) => entry.node === nodes[box.node]![0] && entry.depth === box.depth - 1);
    if (box.node === 0) continue;
    assert.ok(parent && box.left >= parent.left - 1e-9 && box.right <= parent.right + 1e-9);
    assert.ok(Math.abs(box.right - box.left - nodes[box.node]![3] / 100) < 1e-9);
  }
});

test('a_chosen_node_fills_the_width_below_its_callers', () => {
  const nodes: Flame['nodes'] = [[0, 0, 0, 100], [0, 1, 10, 70], [0, 2, 30, 30], [1, 3, 60, 60], [3, 1, 5, 5]];
  const boxes = flameLayout(nodes, 3, 0);
  assert.deepEqual(boxes.map((box) => [box.node, box.depth]), [[0, 0], [1, 1], [3, 2], [4, 3]]);
  assert.deepEqual(flameLayout([], 0, 0), []);
});

test('narrow_flame_boxes_are_left_out', () => {
  const nodes: Flame['nodes'] = [[0, 0, 0, 1000], [0, 1, 1, 1], [0, 2, 999, 999]];
  assert.deepEqual(flameLayout(nodes, 0, 0.01).map((box) => box.node), [0, 2]);
});

test('code_has_every_instruction_once', () => {
  const instruction = (address: string, line: number, file_number = 0) => ({ address, text: '', bytes: '', count: 1, taken: null, not_taken: null, line, file_number });
  const code: Code = {
    function: 1, program: '', file: 'a.c', exact: true, executions: 1, files: ['a.c', 'b.h'], note: '',
    lines: [{ number: 1, text: 'x', count: 1 }, { number: 2, text: null, count: 0 }],
    instructions: [instruction('0x0', 1), instruction('0x4', 5, 1), instruction('0x8', 2), instruction('0xc', 99), instruction('0x10', 1)],
  };
  const addresses = sourceRows(code).flatMap((row) => (row.kind === 'instruction' ? [row.instruction.address] : []));
  assert.deepEqual([...addresses].sort(), ['0x0', '0x10', '0x4', '0x8', '0xc']);
  assert.equal(plainRows(code).length, 5);
  assert.equal(sourceRows({ ...code, lines: [] }).length, 5);
});

test('a_function_always_has_the_same_colour', () => {
  assert.equal(functionColour('main', 'function', 'light'), functionColour('main', 'function', 'light'));
  assert.notEqual(functionColour('main', 'function', 'light'), functionColour('main', 'function', 'dark'));
  const all = new Set(Array.from({ length: 200 }, (_, i) => functionColour(`f${i}`, 'function', 'light')));
  assert.ok(all.size >= 20);
});

/** Contrast of black text on a colour, as WCAG defines it. */
function contrast(colour: string): number {
  const [r = 0, g = 0, b = 0] = /rgb\((\d+),(\d+),(\d+)\)/.exec(colour)!.slice(1).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05) / (0.0044 + 0.05);
}

test('labels_of_functions_are_readable', () => {
  for (let i = 0; i < 300; i++) {
    for (const theme of ['light', 'dark'] as const) assert.ok(contrast(functionColour(`f${i}`, 'function', theme)) >= 4.5);
  }
});
