// The page in Chromium, with the generated capture.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { checkOnlyText, clickThread, model, openPage, settled, startBrowser, tracksBox, until } from './browser.mjs';
import { screenshots } from './screenshots.mjs';
import { pieceOf } from '../mock/capture.mjs';
import { makeReport } from '../mock/report.mjs';
import { serve } from '../mock/server.mjs';

const folder = process.env.WAYMARK_PAGE;
let chromium;
let server;

before(async () => {
  chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
  server = await serve(folder);
});

after(async () => {
  await server?.close();
  await chromium?.stop();
});

/** Runs a test in a page of its own, which may cause no error, no warning and no load from elsewhere. */
async function inPage(hash, action, { options, problemsAllowed = false, ...look } = {}) {
  const own = options ? await serve(folder, options) : server;
  const { page, problems } = await openPage(chromium.browser, own.url + hash, look);
  try {
    await settled(page);
    await action(page, own);
    if (!problemsAllowed) assert.deepEqual(problems, []);
  } finally {
    await page.close();
    if (options) await own.close();
  }
}

const text = (page, selector) => page.$eval(selector, (element) => element.textContent);
const visibleText = (page, selector) => page.$eval(selector, (element) => element.innerText);
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
const pressShift = async (page, key) => {
  await page.keyboard.down('Shift');
  await page.keyboard.press(key);
  await page.keyboard.up('Shift');
};
const show = async (page, from, to) => {
  await page.evaluate((a, b) => window.waymark.show(a, b), from, to);
  await settled(page);
};
const near = (a, b, slack) => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);

test('the_whole_capture_is_shown_first', () =>
  inPage('', async (page) => {
    const shown = await model(page);
    assert.equal(shown.window.from, 0);
    near(shown.window.to, shown.length, 1e-6);
    assert.match(await text(page, '.axis-words'), /ticks of the timestamp generator/);
    const thread = shown.tracks.find((track) => track.kind === 'thread');
    assert.ok(thread.buckets.length > 50);
    assert.ok(shown.tracks.some((track) => track.kind === 'counter' && track.points.length > 50));
    assert.ok(shown.tracks.some((track) => track.kind === 'messages' && track.marks.length > 10));
    await until(page, 'the window is described', () => /480.044 instructions/.test(document.querySelector('#summary').textContent));
  }));

test('drawn_frames_equal_those_of_the_capture', () =>
  inPage('', async (page) => {
    const next = randomNumbers(5);
    for (let i = 0; i < 40; i++) {
      const width = 200 * 2 ** (next() * 8);
      const from = next() * (server.answers.capture.length - width);
      const to = from + width;
      await show(page, from, to);
      const shown = await model(page);
      for (const track of shown.tracks.filter((entry) => entry.kind === 'thread')) {
        compareTrack(track, shown.window);
      }
    }
  }));

function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** All frames that were not merged are drawn where they are; gaps too. */
function compareTrack(track, window) {
  const run = server.answers.capture.runs.find((entry) => entry.frames.some((frame) => frame.track === track.track));
  const pixel = (window.to - window.from) / 1024;
  const expected = run.frames.filter(
    (frame) => frame.track === track.track && Math.min(frame.t1, window.to) - Math.max(frame.t0, window.from) > pixel * 4,
  );
  const drawn = new Map(track.spans.map((span) => [`${span.depth} ${span.start} ${span.end}`, span]));
  for (const frame of expected) {
    const key = `${frame.depth} ${Math.max(frame.t0, window.from)} ${Math.min(frame.t1, window.to)}`;
    const span = drawn.get(key);
    assert.ok(span, `the frame ${key} of track ${track.track} is drawn`);
    assert.equal(span.number, frame.func);
    assert.equal((span.flags & 4) !== 0, frame.t0 < window.from);
    assert.equal((span.flags & 8) !== 0, frame.t1 > window.to);
  }
  const wide = track.spans.filter((span) => span.end - span.start > pixel * 4 && !(span.flags & 64));
  assert.equal(wide.length, expected.length, 'nothing else is drawn');
  const gaps = run.gaps.filter((gap) => gap.track === track.track && gap.t1 > window.from && gap.t0 < window.to);
  for (const gap of gaps) assert.ok(track.gaps.some(([, , why]) => why === gap.why));
}

test('wheel_and_keys_zoom_and_move', () =>
  inPage('', async (page) => {
    const box = await tracksBox(page);
    const whole = (await model(page)).window;
    await page.mouse.move(box.x + box.width * 0.25, box.y + 100);
    for (let i = 0; i < 5; i++) await page.mouse.wheel({ deltaY: -200 });
    await settled(page);
    const zoomed = (await model(page)).window;
    assert.ok(zoomed.to - zoomed.from < (whole.to - whole.from) / 4);
    const pixel = whole.to / box.width / (zoomed.to - zoomed.from);
    near((whole.to * 0.25 - zoomed.from) / (zoomed.to - zoomed.from), 0.25, pixel);
    await page.focus('canvas.tracks');
    await press(page, 'd');
    const moved = (await model(page)).window;
    assert.ok(moved.from > zoomed.from);
    near(moved.to - moved.from, zoomed.to - zoomed.from, 1e-6 * whole.to);
    await press(page, 'ArrowLeft');
    near((await model(page)).window.from, zoomed.from, 1);
    await press(page, 's');
    assert.ok((await model(page)).window.to - (await model(page)).window.from > zoomed.to - zoomed.from);
    await press(page, 'w', '+', '-', 'Home');
    assert.equal((await model(page)).window.from, 0);
    await press(page, 'End');
    near((await model(page)).window.to, whole.to, 1e-3);
    await press(page, '0');
    assert.deepEqual((await model(page)).window, whole);
  }));

test('dragging_moves_and_the_ruler_selects', () =>
  inPage('#w=100000,200000', async (page) => {
    const box = await tracksBox(page);
    await page.mouse.move(box.x + 600, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 400, box.y + 100, { steps: 5 });
    await page.mouse.up();
    const moved = (await model(page)).window;
    near(moved.from, 100000 + (200 / box.width) * 100000, 200);
    const ruler = await (await page.$('canvas.ruler')).boundingBox();
    await page.mouse.move(ruler.x + 100, ruler.y + 20);
    await page.mouse.down();
    await page.mouse.move(ruler.x + 300, ruler.y + 20, { steps: 4 });
    await page.mouse.up();
    const { selection } = await model(page);
    near(selection.to - selection.from, (200 / box.width) * 100000, 400);
    await until(page, 'functions are those of the selection', () => /of the selection/.test(document.querySelector('.functions-pane .pane-note').textContent));
    await press(page, 'z');
    await settled(page);
    near((await model(page)).window.from, selection.from, 1);
    await press(page, 'Escape');
    assert.equal((await model(page)).selection, null);
  }));

test('markers_measure_what_is_between_them', () =>
  inPage('#w=100000,200000', async (page) => {
    const box = await tracksBox(page);
    await page.mouse.move(box.x + box.width * 0.2, box.y + 100);
    await press(page, '1');
    await page.mouse.move(box.x + box.width * 0.6, box.y + 100);
    await press(page, '2');
    const [a, b] = (await model(page)).markers;
    near(b - a, 40000, 300);
    await until(page, 'the measure is shown', () => /A to B: .*instructions/.test(document.querySelector('.measure').textContent));
    const expected = server.answers.answer_measure({ from: a, to: b });
    assert.match((await text(page, '.measure')).replaceAll('\u202f', ''), new RegExp(`${expected.instructions} instructions`));
  }));

test('the_code_follows_the_cursor_and_steps_return', () =>
  inPage('#w=110000,130000', async (page) => {
    await clickThread(page, 0.4);
    const start = (await model(page)).place;
    assert.equal(start.address, await page.$eval('.instruction-row.current .address', (element) => element.textContent));
    for (const key of ['n', 'l', 'o']) {
      for (let i = 0; i < 6; i++) {
        const { n } = (await model(page)).place;
        await press(page, key);
        await until(page, `a step with ${key}`, (old) => window.waymark.model().place.n > old, n);
      }
      await until(page, 'the current instruction is shown', () => document.querySelector('.instruction-row.current .address')?.textContent === window.waymark.model().place.address);
    }
    await page.evaluate(() => { document.activeElement.blur(); });
    const far = (await model(page)).place.n;
    for (let i = 0; i < 8; i++) {
      const { n } = (await model(page)).place;
      await press(page, 'n');
      await until(page, 'a step', (old) => window.waymark.model().place.n === old + 1, n);
    }
    for (let i = 0; i < 8; i++) {
      const { n } = (await model(page)).place;
      await pressShift(page, 'N');
      await until(page, 'a step back', (old) => window.waymark.model().place.n === old - 1, n);
    }
    assert.equal((await model(page)).place.n, far);
  }));

test('every_step_has_a_button_and_a_key', () =>
  inPage('#w=110000,130000', async (page) => {
    await clickThread(page, 0.4);
    const names = await page.$$eval('.step-bar button', (buttons) => buttons.map((button) => button.getAttribute('aria-label')));
    assert.equal(names.length, 16);
    assert.equal(new Set(names).size, 16);
    for (const key of ['u', 'i', 'r', 'e', 'm']) {
      const before = server.state.requests.length;
      await press(page, key);
      await until(page, 'the server was asked', () => true);
      await new Promise((resolve) => setTimeout(resolve, 250));
      assert.ok(server.state.requests.slice(before).some((request) => request.startsWith('api/1/step')), key);
    }
  }));

test('a_step_that_does_not_move_says_why', () =>
  inPage('#w=0,300', async (page) => {
    await page.focus('canvas.tracks');
    await page.evaluate(() => { location.hash = '#w=0,300&c=1@0@16:0'; });
    await until(page, 'the place of the link', () => window.waymark.model().place?.n === 0);
    await pressShift(page, 'N');
    await until(page, 'the reason', () => /first such place/.test(document.querySelector('.step-message').textContent));
  }));

test('single_instructions_are_drawn_at_the_nearest_zoom', () =>
  inPage('#w=110100,110160', async (page) => {
    const shown = await model(page);
    const track = shown.tracks.find((entry) => entry.track === 1);
    assert.ok(track.instructions.length > 10);
    const run = server.answers.capture.runs[0];
    const expected = server.answers.answer_instructions({ source: 16, n: track.instructions[0].n, before: 0, after: track.instructions.length - 1 });
    assert.deepEqual(track.instructions, expected.instructions.map(({ n, t, address }) => ({ n, t, address })));
    assert.ok(run);
    await show(page, 0, 600000);
    assert.equal((await model(page)).tracks[0].instructions.length, 0);
  }));

test('instructions_are_drawn_on_their_own_thread', () =>
  inPage('', async (page) => {
    const [run] = server.answers.capture.runs;
    const at = run.pieces.findIndex((piece, i) => i > 2000 && piece.thread !== run.pieces[i - 1].thread);
    const { t0 } = run.pieces[at];
    await show(page, t0 - 30, t0 + 30);
    const threads = (await model(page)).tracks.filter((track) => track.track === 1 || track.track === 2);
    for (const track of threads) {
      assert.ok(track.instructions.length > 3);
      for (const { n } of track.instructions) assert.equal(pieceOf(run, n).thread, track.track);
    }
    const numbers = threads.flatMap((track) => track.instructions.map(({ n }) => n));
    assert.equal(new Set(numbers).size, numbers.length, 'each is drawn once');
  }));

test('functions_are_sorted_filtered_and_related', () =>
  inPage('#w=100000,160000', async (page) => {
    await until(page, 'functions are listed', () => document.querySelectorAll('.function-list .virtual-row').length > 5);
    const first = () => page.$eval('.function-list .virtual-row[aria-posinset="1"] .name bdi', (element) => element.textContent);
    const answer = server.answers.answer_functions({ from: 100000, to: 160000 });
    const names = new Map(answer.functions.map(([number, name]) => [number, name]));
    assert.equal(await first(), names.get(answer.rows[0][0]));
    await page.click('.column.total');
    const byTotal = [...answer.rows].sort((a, b) => b[2] - a[2])[0];
    assert.equal(await first(), names.get(byTotal[0]));
    await page.type('.filter', 'check');
    await until(page, 'the filter works', () => document.querySelectorAll('.function-list .virtual-row').length === 1);
    await page.click('.function-list .virtual-row button');
    await until(page, 'callers are shown', () => /Called by/.test(document.querySelector('.neighbours').textContent));
    await page.$$eval('.neighbours .row-buttons button', (buttons) => buttons[0].click());
    await until(page, 'its code is shown', () => document.querySelector('.code-heading').textContent === 'checksum' && document.querySelectorAll('.code-list .virtual-row').length > 3);
  }));

test('the_flame_graph_works_with_keys', () =>
  inPage('#w=100000,160000&p=flame', async (page) => {
    await until(page, 'the graph is described', () => /instructions/.test(document.querySelector('.flame-details').textContent));
    const answer = server.answers.answer_flame({ from: 100000, to: 160000 });
    assert.match((await text(page, '.flame-details')).replaceAll('\u202f', ''), new RegExp(`All threads: ${answer.nodes[0][3]} instructions`));
    await page.focus('.flame-box canvas');
    await press(page, 'ArrowDown');
    assert.doesNotMatch(await text(page, '.flame-details'), /All threads/);
    await press(page, 'Enter', 'Escape');
    assert.match(await text(page, '.flame-details'), /All threads/);
  }));

test('find_marks_results_and_continues', () =>
  inPage('', async (page) => {
    await press(page, '/');
    await page.keyboard.type('checksum');
    await press(page, 'Enter');
    await until(page, 'results', () => window.waymark.model().hits.length === 200);
    assert.match(await visibleText(page, '.find-note'), /the rest was not searched/);
    await page.$$eval('.find-note button', (buttons) => buttons[0].click());
    await until(page, 'more results', () => window.waymark.model().hits.length > 200);
    const all = server.answers.answer_find({ what: 'function', text: 'checksum', limit: 100000 });
    await until(page, 'all results', (many) => window.waymark.model().hits.length === many, all.hits.length);
    assert.doesNotMatch(await visibleText(page, '.find-note'), /not searched/);
    await page.evaluate(() => document.activeElement.blur());
    await press(page, '.');
    await until(page, 'the first result is the place', (n) => window.waymark.model().place?.n === n, all.hits[0].n);
  }));

test('a_link_to_a_search_waits_until_something_is_read', () =>
  inPage('#p=find&find=function:checksum', async (page) => {
    await until(page, 'results', () => window.waymark.model().hits.length === 200);
  }, { options: { silentSeconds: 1.5 } }));

test('all_kinds_of_search', () =>
  inPage('', async (page) => {
    for (const [what, wanted] of [['address', '0x403000'], ['line', 'file12.c:10'], ['text', 'queue'], ['exception', 'irq'], ['time', 't:5000']]) {
      await page.evaluate((hash) => { location.hash = hash; }, `#p=find&find=${what}:${wanted}`);
      await until(page, `results of ${what}`, () => window.waymark.model().hits.length > 0 && !/Searching/.test(document.querySelector('.find-note').textContent));
    }
    await page.evaluate(() => { location.hash = '#p=find&find=time:no%20time'; });
    await until(page, 'the refusal', () => /is not a time/.test(document.querySelector('.find-body').textContent));
  }, { problemsAllowed: true }));

test('findings_lead_to_their_places', () =>
  inPage('#p=health&w=200000,210000', async (page) => {
    await until(page, 'findings', () => document.querySelectorAll('.finding').length === 3);
    assert.match(await visibleText(page, '.finding.error'), /Error/);
    await page.click('.finding.error button');
    const { t0 } = server.answers.capture.runs[0].gaps[0];
    await until(page, 'the window moved', (t) => { const { window: shown } = window.waymark.model(); return shown.from <= t && t <= shown.to; }, t0);
  }));

test('a_link_opens_the_same_view', () =>
  inPage('#w=110000,130000&p=flame&s=112000,114000&m=111000,115000&theme=dark&code=disassembly&f=checksum', async (page) => {
    await clickThread(page, 0.4);
    await until(page, 'the address has the cursor', () => location.hash.includes('c='));
    await new Promise((resolve) => setTimeout(resolve, 500));
    const before = await model(page);
    const hash = await page.evaluate(() => location.hash);
    const { page: other } = await openPage(chromium.browser, server.url + hash);
    await settled(other);
    await until(other, 'the place', () => window.waymark.model().place !== null);
    const again = await model(other);
    for (const key of ['window', 'cursor', 'place', 'selection', 'markers']) assert.deepEqual(again[key], before[key], key);
    assert.equal(await other.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await other.$eval('#tab-flame', (tab) => tab.getAttribute('aria-selected')), 'true');
    await other.close();
  }));

test('hostile_names_are_text', () =>
  inPage('#w=100000,160000&p=find&find=text:e', async (page) => {
    await clickThread(page, 0.4);
    await checkOnlyText(page);
    assert.match(await page.evaluate(() => document.body.innerText), /<script>alert\(3\)<\/script>|<script>alert\(1\)<\/script>/);
  }, { options: { hostile: true } }));

test('nothing_is_inline_and_the_policy_holds', async () => {
  const { page, problems } = await openPage(chromium.browser, server.url);
  await settled(page);
  assert.deepEqual(problems, []);
  const html = await readFile(`${folder}/index.html`, 'utf8');
  assert.doesNotMatch(html, /style=|<style|onclick|javascript:/);
  await page.close();
});

test('a_growing_capture_is_usable', () =>
  inPage('', async (page, own) => {
    assert.match(await visibleText(page, '.progress-text'), /Reading: \d+ %/);
    const early = (await model(page)).length;
    await clickThread(page, 0.05);
    await until(page, 'it is complete', () => window.waymark.model().complete);
    await settled(page);
    const late = await model(page);
    assert.ok(late.length > early);
    near(late.length, own.answers.capture.length, 1e-6);
    assert.equal(await page.$eval('progress', (element) => element.hidden), true);
    await show(page, late.length * 0.7, late.length);
    const track = (await model(page)).tracks.find((entry) => entry.track === 3);
    assert.ok(track.spans.length > 0, 'what came later is shown');
  }, { options: { readingSeconds: 3 } }));

test('a_server_that_is_gone_is_reported_and_retried', () =>
  inPage('#w=0,1000', async (page, own) => {
    own.state.failing = true;
    await page.evaluate(() => window.waymark.show(200000, 210000));
    await until(page, 'the banner', () => !document.querySelector('.banner').hidden);
    assert.match(await visibleText(page, '.banner'), /does not answer/);
    own.state.failing = false;
    // Not with the mouse: a tile that is asked for again may hide the banner first.
    await page.$eval('.banner button', (button) => button.click());
    await until(page, 'the banner is gone', () => document.querySelector('.banner').hidden);
    await settled(page);
    assert.ok((await model(page)).tracks[0].spans.length > 0);
  }, { options: {}, problemsAllowed: true }));

test('a_capture_whose_reading_failed_says_so', () =>
  inPage('#p=health', async (page, own) => {
    const known = own.answers.capture.length * 0.6;
    assert.match(await visibleText(page, '.notices'), /could not be read to its end\. trace\.bin: the file has become shorter/);
    assert.equal(await visibleText(page, '.progress-text'), 'Reading ended at 60 %.');
    assert.equal(await page.$eval('progress', (element) => element.hidden), true);
    near((await model(page)).window.to, known, 1e-6);
    // Nothing more is coming, so the page does not ask again.
    const asked = () => own.state.requests.filter((request) => request === 'api/1/capture').length;
    const before = asked();
    await new Promise((resolve) => setTimeout(resolve, 800));
    assert.equal(asked(), before);
    await show(page, known * 0.9, known);
    const threads = (await model(page)).tracks.filter((track) => track.kind === 'thread');
    assert.ok(threads.every((track) => track.spans.length > 0), 'what was read is shown');
    assert.equal(await page.evaluate(() => document.querySelectorAll('.notices :not(p, button)').length), 0);
    await page.click('.notices button');
    assert.equal(await page.$eval('.notices', (element) => element.hidden), true);
  }, { options: { failure: true, hostile: true } }));

test('empty_states_say_what_is_missing', async () => {
  await inPage('', async (page) => {
    assert.match(await visibleText(page, '.notices'), /no source|No source/i);
    assert.match(await visibleText(page, '.code-body'), /no instructions/);
  }, { options: { instructions: false } });
  await inPage('', async (page) => assert.match(await visibleText(page, '.timeline-state'), /nothing to show/), { options: { empty: true, instructions: false } });
  await inPage('', async (page) => assert.match(await visibleText(page, '.notices'), /no program with symbols/), { options: { symbols: false } });
  await inPage('#p=health', async (page) => {
    await until(page, 'the state', () => /Nothing looks wrong/.test(document.querySelector('.health-pane').textContent));
  }, { options: { healthy: true } });
});

test('a_report_opens_from_disk', async () => {
  const file = await makeReport(folder, server.answers, [[100000, 130000], [300000, 310000]]);
  const { page, problems } = await openPage(chromium.browser, file.url);
  try {
    await settled(page);
    assert.match(await visibleText(page, '.notices'), /report holds .*window 1 .*window 2/);
    await page.$$eval('.notices button', (buttons) => buttons[0].click());
    await settled(page);
    const shown = await model(page);
    assert.deepEqual(shown.window, { from: 100000, to: 130000 });
    for (const track of shown.tracks.filter((entry) => entry.kind === 'thread')) {
      assert.ok(track.spans.length > 5);
      assert.equal(track.buckets.length, 0);
    }
    await until(page, 'functions', () => document.querySelectorAll('.function-list .virtual-row').length > 5);
    await show(page, 90000, 140000);
    await until(page, 'the note', () => /answer for another window/.test(document.querySelector('.functions-pane').textContent));
    assert.equal((await model(page)).tracks.find((entry) => entry.track === 1).mode, 'mixed');
    await page.$$eval('.function-list .virtual-row button', (buttons) => buttons[0].click());
    await until(page, 'callers', () => /Called by/.test(document.querySelector('.neighbours').textContent));
    await page.$$eval('.neighbours .row-buttons button', (buttons) => buttons[0].click());
    await until(page, 'code', () => document.querySelectorAll('.code-list .virtual-row').length > 3);
    await show(page, 100000, 130000);
    const box = await tracksBox(page);
    await page.mouse.click(box.x + 2, box.y + 60);
    await until(page, 'a place', () => window.waymark.model().place !== null);
    const { n } = (await model(page)).place;
    await press(page, 'n', 'n');
    await until(page, 'two steps', (old) => window.waymark.model().place.n === old + 2, n);
    await press(page, 'u');
    await until(page, 'what is not held', () => /does not hold steps/.test(document.querySelector('.step-message').textContent));
    await page.click('#tab-compare');
    await until(page, 'the comparison', () => document.querySelectorAll('.compare-list .virtual-row').length > 5);
    const divergences = await page.evaluate(() => document.querySelector('.compare-divergences').textContent);
    assert.match(divergences, /cpu_0: A conditional branch was taken in A, but not in B\. 2 times at partition\+0x38/);
    await page.click('#tab-coverage');
    await until(page, 'the coverage', () => document.querySelectorAll('.coverage-list .virtual-row').length > 5);
    assert.match(await visibleText(page, '.coverage-pane .pane-note'), /4.021 of 6.012 lines \(67.%\)/);
    assert.match(await visibleText(page, '.coverage-details'), /file0\.c\s+Lines not executed: 12-15, 20, 31\s+Functions not called: unused_helper/);
    await page.$$eval('.coverage-list .virtual-row button', (buttons) => buttons[1].click());
    assert.match(await visibleText(page, '.coverage-details'), /file1\.c[^]*Functions not called: none/);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
    await file.remove();
  }
});

test('a_wrong_token_is_explained', async () => {
  const { page } = await openPage(chromium.browser, server.url);
  const answer = await page.evaluate(async () => (await fetch('../wrong/api/1/capture')).status);
  assert.equal(answer, 403);
  await page.close();
});

test('the_page_can_be_used_with_keys_only', () =>
  inPage('#w=100000,160000', async (page) => {
    const seen = new Set();
    for (let i = 0; i < 80; i++) {
      await press(page, 'Tab');
      const at = await page.evaluate(() => {
        const element = document.activeElement;
        const style = getComputedStyle(element);
        return { name: element.className + element.id + (element.getAttribute('aria-label') ?? element.textContent.slice(0, 20)), outline: style.outlineStyle !== 'none', body: element === document.body };
      });
      if (at.body) break;
      assert.ok(at.outline, `the focus is visible on ${at.name}`);
      seen.add(at.name);
    }
    assert.ok([...seen].some((entry) => entry.startsWith('tracks')), 'the timeline is reached');
    await page.focus('canvas.tracks');
    await press(page, 'ArrowDown', 'Enter');
    await until(page, 'a place is known', () => window.waymark.model().place !== null);
  }));

test('sixty_frames_a_second_while_dragging', () =>
  inPage('#w=100000,200000', async (page) => {
    const box = await tracksBox(page);
    const cdp = await page.createCDPSession();
    const events = [];
    cdp.on('Tracing.dataCollected', ({ value }) => events.push(...value));
    await cdp.send('Tracing.start', { categories: 'devtools.timeline,disabled-by-default-devtools.timeline.frame', transferMode: 'ReportEvents' });
    await page.mouse.move(box.x + 1000, box.y + 100);
    await page.mouse.down();
    for (let i = 0; i < 120; i++) await page.mouse.move(box.x + 1000 - i * 7, box.y + 100);
    await page.mouse.up();
    const done = new Promise((resolve) => cdp.once('Tracing.tracingComplete', resolve));
    await cdp.send('Tracing.end');
    await done;
    const frames = events.filter((event) => event.name === 'DrawFrame').map((event) => event.ts / 1000).sort((a, b) => a - b);
    const gaps = frames.slice(1).map((at, i) => at - frames[i]).sort((a, b) => a - b);
    const at = (share) => (gaps[Math.floor(gaps.length * share)] ?? 0).toFixed(1);
    const { frames: drawn } = await page.evaluate(() => window.waymark.timings());
    drawn.sort((a, b) => a - b);
    const drawnAt = (share) => (drawn[Math.floor(drawn.length * share)] ?? 0).toFixed(1);
    console.log(`# ${frames.length} frames; between them: median ${at(0.5)} ms, 95 % ${at(0.95)} ms; drawing: median ${drawnAt(0.5)} ms, 95 % ${drawnAt(0.95)} ms`);
    assert.ok(frames.length > 20);
  }));

test('pictures_of_every_view', { skip: !process.env.WAYMARK_SCREENSHOTS, timeout: 600000 }, async () => {
  assert.deepEqual(await screenshots(chromium.browser, folder, process.env.WAYMARK_SCREENSHOTS), []);
});
