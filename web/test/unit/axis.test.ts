import test from 'node:test';
import assert from 'node:assert/strict';
import type { Axis } from '../../src/api';
import { grouped, inside, lengthText, moved, narrowest, niceStep, placeText, rateText, rawText, ruler, short, zoomed } from '../../src/axis';

const axis: Axis = { unit: 'ticks', words: 'ticks', origin: '18446744073709551000', length: 1000 };

test('nice_steps_are_1_2_5', () => {
  for (const [least, step] of [[1, 1], [1.1, 2], [3, 5], [6, 10], [0.03, 0.05], [12345, 20000]] as const) {
    assert.ok(Math.abs(niceStep(least) - step) < 1e-9 * step, `${least}`);
  }
  assert.equal(niceStep(0), 1);
  assert.equal(niceStep(NaN), 1);
});

test('a_window_stays_inside_the_axis', () => {
  assert.deepEqual(inside({ from: -50, to: 50 }, axis), { from: 0, to: 100 });
  assert.deepEqual(inside({ from: 950, to: 1050 }, axis), { from: 900, to: 1000 });
  assert.deepEqual(inside({ from: -1e9, to: 1e9 }, axis), { from: 0, to: 1000 });
  assert.deepEqual(inside({ from: 30, to: 20 }, axis), { from: 20, to: 30 });
  assert.deepEqual(inside({ from: NaN, to: 20 }, axis), { from: 0, to: 1000 });
});

test('a_window_is_never_too_narrow', () => {
  const window = inside({ from: 500, to: 500 }, axis);
  assert.ok(window.to - window.from >= narrowest(axis) * 0.999);
});

test('zooming_keeps_the_place_under_the_pointer', () => {
  const window = { from: 200, to: 600 };
  const next = zoomed(window, 0.5, 300, axis);
  assert.ok(Math.abs((300 - next.from) / (next.to - next.from) - 0.25) < 1e-12);
  assert.deepEqual(zoomed(window, 1000, 300, axis), { from: 0, to: 1000 });
});

test('moving_ends_at_the_ends', () => {
  assert.deepEqual(moved({ from: 100, to: 200 }, -500, axis), { from: 0, to: 100 });
  assert.deepEqual(moved({ from: 100, to: 200 }, 5000, axis), { from: 900, to: 1000 });
});

test('an_empty_axis_has_a_window', () => {
  const window = inside({ from: 0, to: 0 }, { ...axis, length: 0 });
  assert.ok(window.to > window.from);
});

test('ticks_are_in_order_inside_and_labelled', () => {
  for (const [from, to] of [[0, 1000], [0.25, 0.5], [1e12, 1e12 + 3], [123456789.001, 123456789.002]] as const) {
    const marks = ruler({ from, to }, 1000, 'ticks');
    assert.ok(marks.ticks.length > 4, `${from}`);
    assert.ok(marks.ticks.filter((tick) => tick.major).length >= 3, `${from}`);
    const slack = (to - from) * 1e-3;
    for (let i = 0; i < marks.ticks.length; i++) {
      const tick = marks.ticks[i]!;
      assert.ok(tick.t >= from - slack && tick.t <= to + slack);
      if (i) assert.ok(tick.t > marks.ticks[i - 1]!.t);
      assert.equal(tick.text !== '', tick.major);
    }
    const labels = marks.ticks.filter((tick) => tick.text).map((tick) => tick.text);
    assert.equal(new Set(labels).size, labels.length, 'labels are distinct');
  }
});

test('deep_windows_have_a_base', () => {
  const marks = ruler({ from: 123456789.001, to: 123456789.002 }, 1000, 'ticks');
  assert.match(marks.baseText, /^123\u202f456\u202f789/);
  assert.match(marks.ticks.find((tick) => tick.text)!.text, /^\+/);
});

test('nanoseconds_have_a_fitting_unit', () => {
  assert.equal(lengthText(1_500_000, 'nanoseconds'), '1.5 ms');
  assert.equal(lengthText(2e9, 'nanoseconds'), '2 s');
  assert.match(ruler({ from: 0, to: 1e6 }, 1000, 'nanoseconds').ticks.at(-1)!.text, /ms$/);
});

test('numbers_are_readable', () => {
  assert.equal(grouped('1234567.891'), '1\u202f234\u202f567.891');
  assert.equal(grouped('-1234'), '−1\u202f234');
  assert.equal(short(1234), '1.2\u202fk');
  assert.equal(short(0), '0');
  assert.equal(short(34_000_000), '34\u202fM');
  assert.equal(placeText(1234.5678, 1, 'ticks'), '1\u202f234.568');
  assert.equal(lengthText(1, 'instructions'), '1 instruction');
});

test('rates_have_a_fitting_unit', () => {
  assert.equal(rateText(1, 'ticks'), '1 per tick');
  assert.equal(rateText(0.1, 'ticks'), '0.1 per tick');
  assert.equal(rateText(0.002, 'cycles'), '2 per 1\u202fk cycles');
  assert.equal(rateText(1.5, 'nanoseconds'), '1.5 per ns');
  assert.equal(rateText(0.005, 'nanoseconds'), '5 per µs');
  assert.equal(rateText(1e-12, 'nanoseconds'), '0 per s');
  assert.equal(rateText(0, 'ticks'), '0');
});

test('raw_values_are_exact', () => {
  assert.equal(rawText(615, axis), '18446744073709551615');
  assert.equal(rawText(5, { ...axis, origin: 'damaged' }), '5');
});
