import test from 'node:test';
import assert from 'node:assert/strict';
import { Embedded, EmbeddedSource } from '../../src/embedded_source';
import { rowOf } from '../../src/binary';
import { Failure } from '../../src/source';
import type { Timeline } from '../../src/api';
import { coverOf } from '../../src/cover';
import { levelFor, tileRange, Tiles } from '../../src/tiles';

const functions = [[1, 'f', '', 'function']];
const data: Embedded = {
  requests: {
    capture: { name: 'x' },
    'tracks': { tracks: [] },
    'timeline?from=0&to=1000&width=2000': {
      from: 0, to: 1000, mode: 'summary', complete: true, functions,
      tracks: [{ track: 1, buckets: [[0, 500, 10, 1, 0, 0, 0, [[1, 1]]], [500, 1000, 20, 1, 0, 0, 0, [[1, 1]]]] }],
    },
    'timeline?from=400&to=500&width=2000': {
      from: 400, to: 500, mode: 'spans', complete: true, functions,
      tracks: [{ track: 1, spans: [[400, 500, 0, 1, 12, 1], [450, 460, 1, 1, 0, 1]], gaps: [[490, 500, 'loss']] }],
    },
    'functions?from=0&to=1000': { exact: true, instructions: 30, cycles: null, rows: [[1, 30, 30, 1, null]], functions },
    'functions?from=400&to=500': { exact: true, instructions: 2, cycles: null, rows: [], functions },
    'at?track=1&t=450': { source: 1, n: 5 },
    'code?function=1&from=0&to=1000': { function: 1 },
  },
};

test('a_report_answers_what_it_holds', async () => {
  const source = new EmbeddedSource(data);
  const whole = await source.ask('functions', { from: 0, to: 1000, limit: 200 });
  assert.equal(whole.value.instructions, 30);
  assert.equal(whole.note, '');
  const near = await source.ask('functions', { from: 405, to: 490, tracks: undefined });
  assert.equal(near.value.instructions, 2);
  assert.match(near.note, /another window/);
});

test('a_report_names_what_it_does_not_hold', async () => {
  const source = new EmbeddedSource(data);
  await assert.rejects(source.ask('step', { source: 1, n: 5, by: 'out' }), (error: Failure) => error.kind === 'missing' && /waymark view/.test(error.message));
  await assert.rejects(source.ask('functions', { from: 0, to: 1000, tracks: 7 }));
});

test('the_nearest_place_before_is_given', async () => {
  const source = new EmbeddedSource(data);
  assert.equal((await source.ask('at', { track: 1, t: 470 })).value.n, 5);
  await assert.rejects(source.ask('at', { track: 1, t: 10 }));
  await assert.rejects(source.ask('at', { track: 2, t: 470 }));
});

test('a_place_is_found_in_lists_that_follow_each_other', async () => {
  const list = (from: number, to: number) => ({
    instructions: Array.from({ length: to - from }, (_, i) => ({ n: from + i, t: 10 * (from + i), function: 1 })),
  });
  const source = new EmbeddedSource({
    requests: {
      'at?track=1&t=0': { source: 1, n: 0 },
      'instructions?source=1&n=0&before=0&after=3': list(0, 4),
      'instructions?source=1&n=4&before=0&after=3': list(4, 8),
      'instructions?source=1&n=20&before=0&after=3': list(20, 24),
    },
  });
  assert.equal((await source.ask('at', { track: 1, t: 25 })).value.n, 2);
  assert.equal((await source.ask('at', { track: 1, t: 65 })).value.n, 6);
  // The third list does not follow the second one.
  assert.equal((await source.ask('at', { track: 1, t: 220 })).value.n, 7);
  assert.equal((await source.ask('step', { source: 1, n: 3, by: 'instruction' })).value.n, 4);
});

test('a_timeline_has_details_where_they_are_held', async () => {
  const source = new EmbeddedSource(data);
  assert.deepEqual(source.windows(), [{ from: 400, to: 500 }]);
  const { value } = await source.timeline({ from: 300, to: 600, width: 100 });
  const picture = value.tracks[0]!;
  assert.deepEqual(picture.buckets!.map((bucket) => [bucket[0], bucket[1]]), [[300, 400], [500, 600]]);
  const spans = Array.from({ length: picture.spans!.rows }, (_, i) => rowOf(picture.spans!, i).slice(0, 3));
  assert.deepEqual(spans, [[400, 500, 0], [450, 460, 1]]);
  assert.deepEqual(picture.gaps, [[490, 500, 'loss']]);
});

function fakeTiles(answer: (from: number, to: number) => Promise<Timeline>): { tiles: Tiles; asked: string[] } {
  const asked: string[] = [];
  const source = new EmbeddedSource({ requests: {} });
  source.timeline = async ({ from, to }) => {
    asked.push(`${from}-${to}`);
    return { value: await answer(from, to), note: '' };
  };
  const tiles = new Tiles(source, () => undefined, () => undefined);
  tiles.grow(1024, true);
  return { tiles, asked };
}

const empty = (from: number, to: number, complete = true): Timeline => ({ from, to, mode: 'spans', complete, tracks: [], functions: [] });
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test('tiles_cover_a_window', () => {
  assert.equal(levelFor(1), 10);
  assert.deepEqual(tileRange({ from: 100, to: 300 }, 6), [1, 4]);
  assert.deepEqual(tileRange({ from: 64, to: 128 }, 6), [1, 1]);
  assert.deepEqual(tileRange({ from: 0.1, to: 0.2 }, -3), [0, 1]);
});

test('a_window_is_covered_by_coarse_tiles_until_fine_ones_arrive', async () => {
  const { tiles, asked } = fakeTiles(async (from, to) => empty(from, to));
  const window = { from: 128, to: 256 };
  const pixels = 1024;
  const level = levelFor(128 / pixels);
  tiles.want({ from: 0, to: 1024 }, tiles.topLevel(), false);
  await soon();
  assert.deepEqual(coverOf(tiles, window, pixels).map((piece) => [piece.tile.level, piece.from, piece.to]), [[10, 128, 256]]);
  tiles.want(window, level, false);
  await soon();
  assert.deepEqual(coverOf(tiles, window, pixels).map((piece) => [piece.tile.level, piece.from, piece.to]), [[7, 128, 256]]);
  assert.ok(tiles.settled(window, level));
  tiles.want(window, level, false);
  await soon();
  assert.equal(asked.length, 2, 'nothing is asked twice');
});

test('pieces_of_a_cover_do_not_overlap', async () => {
  const { tiles } = fakeTiles(async (from, to) => empty(from, to));
  for (const [from, to, level] of [[0, 1024, 10], [256, 512, 8], [256, 320, 6], [400, 416, 4]] as const) {
    tiles.want({ from, to }, level, false);
    await soon();
  }
  for (let from = 0; from < 900; from += 37) {
    for (const width of [16, 50, 124, 700]) {
      const window = { from, to: Math.min(1024, from + width) };
      const pieces = coverOf(tiles, window, 1000);
      let at = pieces[0]!.from;
      assert.ok(at <= window.from);
      for (const piece of pieces) {
        assert.equal(piece.from, at);
        assert.ok(piece.tile.from <= piece.from && piece.tile.to >= piece.to);
        at = piece.to;
      }
      assert.ok(at >= window.to);
    }
  }
});

test('tiles_are_asked_again_when_the_capture_grew', async () => {
  let complete = false;
  const { tiles, asked } = fakeTiles(async (from, to) => empty(from, to, complete));
  tiles.grow(1024, false);
  tiles.want({ from: 0, to: 1024 }, 10, false);
  await soon();
  complete = true;
  tiles.grow(2048, true);
  assert.ok(!tiles.settled({ from: 0, to: 1024 }, 10));
  tiles.want({ from: 0, to: 1024 }, 10, false);
  await soon();
  assert.equal(asked.filter((entry) => entry === '0-1024').length, 2);
});

test('a_failed_tile_is_not_asked_again_until_retry', async () => {
  let fails = true;
  const { tiles, asked } = fakeTiles(async (from, to) => {
    if (fails) throw new Failure('refused', 'No.');
    return empty(from, to);
  });
  const window = { from: 0, to: 1024 };
  for (let i = 0; i < 3; i++) {
    tiles.want(window, 10, false);
    await soon();
  }
  assert.equal(asked.length, 1);
  assert.equal(tiles.errorIn(window, 10)?.message, 'No.');
  fails = false;
  tiles.retry();
  tiles.want(window, 10, false);
  await soon();
  assert.ok(tiles.settled(window, 10));
  assert.equal(tiles.errorIn(window, 10), undefined);
});
