// The page with a running "waymark view": WAYMARK_SERVER is the address that it printed.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { model, openPage, settled, startBrowser, until } from './browser.mjs';

const address = process.env.WAYMARK_SERVER;
const skip = !address;
const windows = Number(process.env.WAYMARK_WINDOWS || 40);
let chromium;

before(async () => {
  if (address) chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
});
after(async () => chromium?.stop());

async function inPage(hash, action) {
  const { page, problems } = await openPage(chromium.browser, address + hash);
  try {
    await until(page, 'the capture is known', () => window.waymark.model().complete);
    await settled(page);
    await action(page);
    assert.deepEqual(problems, []);
  } finally {
    await page.close();
  }
}

const ask = (page, request) => page.evaluate(async (text) => (await fetch('api/1/' + text)).json(), request);

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

test('drawn_frames_equal_the_answers', { skip, timeout: 600000 }, () =>
  inPage('', async (page) => {
    const next = random(3);
    const { length } = await model(page);
    let compared = 0;
    for (let i = 0; i < windows; i++) {
      const width = length * 2 ** (-next() * 14);
      const from = next() * (length - width);
      await page.evaluate((a, b) => window.waymark.show(a, b), from, from + width);
      await settled(page);
      const shown = await model(page);
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
    console.log(`# ${compared} frames compared`);
  }));

test('steps_forward_and_back_return', { skip, timeout: 120000 }, () =>
  inPage('', async (page) => {
    const { tracks } = await ask(page, 'tracks');
    const thread = tracks.find((track) => track.kind === 'thread');
    if (!thread) return;
    const t = (thread.first + thread.last) / 2;
    const start = await ask(page, `at?track=${thread.number}&t=${t}`);
    await page.evaluate((hash) => { location.hash = hash; }, `#c=${thread.number}@${start.t}@${start.source}:${start.n}`);
    await until(page, 'the place', (n) => window.waymark.model().place?.n === n, start.n);
    const steps = 20;
    for (const shift of [false, true]) {
      if (shift) await page.keyboard.down('Shift');
      for (let i = 0; i < steps; i++) {
        const { n } = (await model(page)).place;
        await page.keyboard.press(shift ? 'N' : 'n');
        await until(page, 'a step', (wanted) => window.waymark.model().place.n === wanted, n + (shift ? -1 : 1));
      }
      if (shift) await page.keyboard.up('Shift');
    }
    assert.equal((await model(page)).place.address, start.address);
  }));

test('every_pane_answers', { skip, timeout: 120000 }, () =>
  inPage('', async (page) => {
    for (const pane of ['functions', 'flame', 'find', 'health']) {
      await page.click(`#tab-${pane}`);
      await settled(page);
      const titles = await page.$$eval(`#pane-${pane} .empty-title`, (elements) => elements.map((element) => element.textContent));
      for (const title of titles) assert.doesNotMatch(title, /cannot be shown|failed/, pane);
    }
  }));

test('answers_and_frames_are_fast', { skip, timeout: 300000 }, () =>
  inPage('', async (page) => {
    const box = await (await page.$('canvas.tracks')).boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 60);
    for (let i = 0; i < 60; i++) {
      await page.mouse.wheel({ deltaY: i % 20 < 14 ? -120 : 160 });
      await settled(page);
    }
    const { first, answers, frames } = await page.evaluate(() => window.waymark.timings());
    const at = (list, share) => (list.sort((a, b) => a - b)[Math.floor(list.length * share)] ?? 0).toFixed(1);
    console.log(`# first picture ${first.toFixed(0)} ms; ${answers.length} answers: median ${at(answers, 0.5)} ms, 95 % ${at(answers, 0.95)} ms; ${frames.length} frames: median ${at(frames, 0.5)} ms, 95 % ${at(frames, 0.95)} ms`);
  }));
