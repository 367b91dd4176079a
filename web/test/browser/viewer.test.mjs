// The page of "waymark view" shows what "waymark decode" and "waymark annotate" say. WAYMARK names the program,
// or WAYMARK_SERVER the address of a viewer that runs already.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOnlyText, clickThread, model, openPage, packages, settled, startBrowser, until } from './browser.mjs';
import { annotated, decoded, hostileCaptures, startViewer, waymark } from './viewer.mjs';

const program = process.env.WAYMARK;
const sample = fileURLToPath(new URL('../../../samples/quicksort', import.meta.url));
const windows = Number(process.env.WAYMARK_WINDOWS || 40);
const limit = { timeout: 600000 };

/** Captures with instructions of 4 bytes. */
const captures = {
  quicksort: [],
  etmv4: ['--protocol', 'etmv4', '--exceptions', 50, '--timestamps', 40, '--cycle-counts', '--context-ids', 2],
  ete: ['--protocol', 'ete', '--overflows', 60, '--timestamps', 100, '--cores', 2],
  ptm: ['--protocol', 'ptm', '--isa', 'A32', '--cycle-counts', '--filter', 60],
  etmv3: ['--protocol', 'etmv3', '--isa', 'A32', '--exceptions', 100],
};

let chromium;
let folder;
const viewers = new Map();

before(async () => {
  chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
  if (!program) {
    viewers.set('given', { address: process.env.WAYMARK_SERVER, stop: () => {} });
    return;
  }
  folder = await mkdtemp(join(tmpdir(), 'waymark-viewer-'));
  for (const [name, options] of Object.entries(captures)) {
    const path = options.length ? join(folder, name) : sample;
    if (options.length) waymark(program, 'synth', '--size', '30k', '-o', path, ...options);
    viewers.set(name, { ...(await startViewer(program, path)), path });
  }
});

after(async () => {
  await chromium?.stop();
  const codes = await Promise.all([...viewers.values()].map((viewer) => viewer.stop()));
  if (folder) await rm(folder, { recursive: true, force: true });
  for (const code of codes) assert.equal(code ?? 0, 0, 'Ctrl-C ends the viewer');
});

/** Runs an action in the page of a viewer. */
async function inPage(viewer, hash, action) {
  const { page, problems } = await openPage(chromium.browser, viewer.address + hash);
  try {
    await until(page, 'the capture is known', () => window.waymark.model().complete);
    await settled(page);
    await action(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
}

/** The same for a viewer that is only for this action. */
async function inPageOf(capture, options, hash, action) {
  const viewer = await startViewer(program, capture, ...options);
  let code;
  try {
    await inPage(viewer, hash, action);
  } finally {
    code = await viewer.stop();
  }
  assert.equal(code, 0);
}

const ask = (page, request) => page.evaluate(async (text) => (await fetch('api/1/' + text)).json(), request);

async function show(page, from, to) {
  await page.evaluate((a, b) => window.waymark.show(a, b), from, to);
  await settled(page);
  return model(page);
}

function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** What is drawn, as rows that can be compared, without what is narrower than some pixels. */
function rowsOf(spans, window, least) {
  return spans
    .map(([start, end, depth, func, flags]) => [Math.max(start, window.from), Math.min(end, window.to), depth, func, flags & 48])
    .filter(([start, end]) => end - start > least)
    .sort((a, b) => a[2] - b[2] || a[0] - b[0] || a[1] - b[1]);
}

/** Makes a test that runs `action` once for each viewer, or only for those in `names`. */
function each(names, action) {
  return async (context) => {
    for (const [name, viewer] of viewers) {
      if (names && !names.includes(name)) continue;
      await context.test(name, limit, () => action(viewer, name));
    }
  };
}

test('drawn_frames_equal_the_answers', limit, each(null, (viewer) =>
  inPage(viewer, '', async (page) => {
    const next = random(3);
    const { length } = await model(page);
    let compared = 0;
    for (let i = 0; i < windows; i++) {
      const width = length * 2 ** (-next() * 14);
      const from = next() * (length - width);
      const shown = await show(page, from, from + width);
      const { from: start, to: end } = shown.window;
      const answer = await ask(page, `timeline?from=${start}&to=${end}&width=8192`);
      if (answer.mode !== 'spans') continue;
      const least = ((end - start) / shown.pixels) * 4;
      for (const track of shown.tracks.filter((entry) => entry.mode === 'spans')) {
        const picture = answer.tracks.find((entry) => entry.track === track.track);
        const single = (row) => !(row[4] & 64);
        const drawn = rowsOf(track.spans.map((span) => [span.start, span.end, span.depth, span.number, span.flags]).filter(single), shown.window, least);
        const expected = rowsOf(picture.spans.filter(single), shown.window, least);
        assert.deepEqual(drawn, expected, `track ${track.name}, ${start} to ${end}`);
        compared += drawn.length;
      }
    }
    assert.ok(compared > windows);
  })));

/** Shows windows around instructions, and gives what is drawn in each. */
async function nearWindows(page, elements, count, action) {
  const { tracks } = await ask(page, 'tracks');
  const next = random(5);
  for (const [source, { addresses }] of elements) {
    const own = tracks.filter((track) => track.kind === 'thread' && track.source === source);
    for (let i = 0; addresses.length && i < count; i++) {
      const first = Math.floor(next() * addresses.length);
      const last = Math.min(first + 20, addresses.length - 1);
      const from = (await ask(page, `at?source=${source}&n=${first}`)).t;
      const to = (await ask(page, `at?source=${source}&n=${last}`)).t;
      const shown = await show(page, from, Math.max(to, from + 1e-3));
      await action(shown, own.map((track) => shown.tracks.find((entry) => entry.track === track.number)), elements.get(source));
    }
  }
}

test('drawn_instructions_are_those_of_decode', { ...limit, skip: !program }, each(null, (viewer) =>
  inPage(viewer, '', async (page) => {
    let compared = 0;
    await nearWindows(page, decoded(program, viewer.path), 8, (shown, own, { addresses }) => {
      for (const { n, address } of own.flatMap((track) => track.instructions)) {
        assert.equal(address, addresses[n], `instruction ${n}`);
        compared++;
      }
    });
    assert.ok(compared > 50, `${compared} instructions`);
  })));

test('the_innermost_frame_is_the_function_of_decode', { ...limit, skip: !program }, each(['quicksort'], (viewer) =>
  inPage(viewer, '', async (page) => {
    let compared = 0;
    await nearWindows(page, decoded(program, viewer.path, '--functions'), 20, (shown, own, { functions }) => {
      for (const track of own) {
        const single = track.spans.filter((span) => !(span.flags & 64));
        for (const { n, t } of track.instructions) {
          const around = single.filter((span) => span.start <= t + 1e-6 && span.end > t + 0.1);
          if (t < shown.window.from || t >= shown.window.to || !around.length) continue;
          const inner = around.reduce((a, b) => (a.depth > b.depth ? a : b));
          assert.equal(inner.function, functions[n], `instruction ${n} at ${t}`);
          compared++;
        }
      }
    });
    assert.ok(compared > 100, `${compared} instructions`);
  })));

test('counts_are_those_of_decode', { ...limit, skip: !program }, each(null, (viewer) =>
  inPage(viewer, '', async (page) => {
    const sources = [...decoded(program, viewer.path).values()];
    const sum = (of) => sources.reduce((all, source) => all + of(source), 0);
    const { instructions, exceptions } = await ask(page, 'measure');
    assert.equal(instructions, sum((source) => source.addresses.length));
    assert.equal(exceptions, sum((source) => source.kinds.exception ?? 0));
  })));

test('counts_of_code_are_those_of_annotate', { ...limit, skip: !program }, each(['quicksort'], (viewer) =>
  inPage(viewer, '', async (page) => {
    for (const name of ['quicksort', 'fibonacci', 'put_number']) {
      const expected = annotated(program, viewer.path, name);
      const first = await firstOf(page, name, viewer);
      await page.evaluate((hash) => { location.hash = hash; }, `#c=${first.track}@${first.t}@${first.source}:${first.n}&code=disassembly`);
      await until(page, `the code of ${name}`, (wanted) => window.waymark.model().code?.function === wanted, name);
      await settled(page);
      const { code } = await model(page);
      const shown = new Map(code.instructions.map((row) => [row.address, row.count]));
      assert.deepEqual([...shown].filter(([, times]) => times), [...expected].filter(([, times]) => times), name);
    }
  })));

/** The first instruction of a function that was executed. */
async function firstOf(page, name, viewer) {
  const { functions } = await ask(page, 'functions');
  const { 0: number } = functions.find((row) => row[1] === name);
  const { instructions } = await ask(page, `code?function=${number}`);
  const { tracks } = await ask(page, 'tracks');
  const { number: track, source } = tracks.find((entry) => entry.kind === 'thread');
  const addresses = decoded(program, viewer.path).get(source).addresses;
  const n = addresses.indexOf(instructions[0].address);
  const { t } = await ask(page, `at?source=${source}&n=${n}`);
  return { track, source, n, t };
}

test('steps_forward_and_back_return', limit, each(null, (viewer) =>
  inPage(viewer, '', async (page) => {
    const { tracks } = await ask(page, 'tracks');
    const thread = tracks.find((track) => track.kind === 'thread');
    const t = (thread.first + thread.last) / 2;
    const start = await ask(page, `at?track=${thread.number}&t=${t}`);
    await page.evaluate((hash) => { location.hash = hash; }, `#c=${thread.number}@${start.t}@${start.source}:${start.n}`);
    await until(page, 'the place', (n) => window.waymark.model().place?.n === n, start.n);
    const addresses = program && decoded(program, viewer.path).get(start.source).addresses;
    const steps = 20;
    for (const shift of [false, true]) {
      if (shift) await page.keyboard.down('Shift');
      for (let i = 0; i < steps; i++) {
        const { n } = (await model(page)).place;
        await page.keyboard.press(shift ? 'N' : 'n');
        await until(page, 'a step', (wanted) => window.waymark.model().place.n === wanted, n + (shift ? -1 : 1));
        const { place } = await model(page);
        if (addresses) assert.equal(place.address, addresses[place.n]);
      }
      if (shift) await page.keyboard.up('Shift');
    }
    assert.equal((await model(page)).place.address, start.address);
  })));

test('every_pane_answers', limit, each(null, (viewer) =>
  inPage(viewer, '', async (page) => {
    for (const pane of ['functions', 'flame', 'find', 'health']) {
      await page.click(`#tab-${pane}`);
      await settled(page);
      const titles = await page.$$eval(`#pane-${pane} .empty-title`, (elements) => elements.map((element) => element.textContent));
      for (const title of titles) assert.doesNotMatch(title, /cannot be shown|failed/, pane);
    }
  })));

/** Names of functions and messages that try to be HTML, to reorder text, or to be too long. */
test('hostile_names_are_text', { ...limit, skip: !program }, async () => {
  const captures = hostileCaptures(join(folder, 'hostile'));
  await inPageOf(join(captures, 'board'), ['--symbols', join(captures, 'page.elf')], '#find=function:x', async (page) => {
    await clickThread(page);
    await checkOnlyText(page);
    const { tracks, code } = await model(page);
    assert.ok(tracks.some((track) => track.spans.some((span) => span.function.startsWith('<script>alert(1)</script>'))));
    assert.match(code.function, /^<script>/);
  });
  await inPageOf(join(captures, 'page.itm'), ['--protocol', 'itm'], '#p=find&find=text:script', async (page) => {
    await checkOnlyText(page);
    const marks = (await model(page)).tracks.flatMap((track) => track.marks);
    assert.ok(marks.some(([, , text]) => text.startsWith('<script>alert(1)</script>')));
    assert.ok(marks.every(([, , text]) => text.length <= 5000));
    await page.click('#tab-find');
    await until(page, 'results', () => document.querySelector('.find-body').innerText.includes('<script>alert(1)</script>'));
  });
});

test('no_serious_violation_of_accessibility', limit, each(['quicksort', 'given'], (viewer) =>
  inPage(viewer, '', async (page) => {
    await page.evaluate(await readFile(packages.resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await page.evaluate(() => window.axe.run(document));
    const serious = violations.filter((entry) => ['serious', 'critical'].includes(entry.impact));
    assert.deepEqual(serious.map((entry) => entry.help), []);
  })));
