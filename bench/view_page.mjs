// How fast the page of "waymark view" is in headless Chromium.
//
//   node bench/view_page.mjs PROGRAM CAPTURE [STEPS]
//
// Prints when the first picture was shown, how long answers and drawing take while someone moves and zooms (STEPS
// times; default: 200), how long frames and the own work of the page in them take while the timeline is dragged (from
// the trace of Chromium), and the most memory that the server had. Needs the packages of tests/readers in
// build/readers, or where WAYMARK_READERS says.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

process.env.WAYMARK_READERS ??= fileURLToPath(new URL('../build/readers', import.meta.url));
const { openPage, settled, startBrowser } = await import('../web/test/browser/browser.mjs');
const { startViewer } = await import('../web/test/browser/viewer.mjs');

const [program, capture, steps = '200'] = process.argv.slice(2);
if (!capture) {
  console.error('usage: node bench/view_page.mjs PROGRAM CAPTURE [STEPS]');
  process.exit(2);
}

const milliseconds = (value) => `${value.toFixed(1)} ms`;
function spread(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return `median ${milliseconds(at(0.5))}, 95 % ${milliseconds(at(0.95))}, largest ${milliseconds(at(1))} (${sorted.length})`;
}

let state = 7;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

async function memory(pid) {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return `${Math.round(/VmHWM:\s+(\d+)/.exec(status)[1] / 1024)} MiB`;
}

/** The answers of timelines since the last call: from sending the request to the end of the answer. */
const answerTimes = (page) => page.evaluate(() => {
  const entries = performance.getEntriesByType('resource').filter((entry) => entry.name.includes('/timeline?'));
  performance.clearResourceTimings();
  return entries.map((entry) => entry.responseEnd - entry.requestStart).filter((time) => time > 0);
});
const drawTimes = (page) => page.evaluate(() => window.waymark.timings().frames);

async function waitForCapture(page) {
  const start = performance.now();
  while (!(await page.evaluate(() => window.waymark.model().complete))) await new Promise((resolve) => setTimeout(resolve, 200));
  return performance.now() - start;
}

async function moveAndZoom(page) {
  await page.evaluate(() => performance.setResourceTimingBufferSize(100000));
  await answerTimes(page);
  const drawnBefore = (await drawTimes(page)).length;
  const whole = await page.evaluate(() => window.waymark.model().length);
  let [from, width] = [0, whole];
  const waits = [];
  for (let i = 0; i < Number(steps); i++) {
    const kind = random();
    if (i % 25 === 0) {
      width = whole * 2 ** (-random() * 20);
      from = random() * (whole - width);
    } else if (kind < 0.4) {
      from += width * (random() - 0.5);
    } else {
      const factor = kind < 0.8 ? 0.5 : 2;
      const next = Math.min(whole, width * factor);
      from += (width - next) * random();
      width = next;
    }
    from = Math.max(0, Math.min(from, whole - width));
    const start = performance.now();
    await page.evaluate((a, b) => window.waymark.show(a, b), from, from + width);
    await settled(page);
    waits.push(performance.now() - start);
  }
  const drawn = await drawTimes(page);
  return { answers: await answerTimes(page), drawing: drawn.slice(Math.min(drawnBefore, drawn.length)), waits };
}

/** The time between frames that Chromium drew while the timeline was dragged. */
async function drag(page) {
  const whole = await page.evaluate(() => window.waymark.model().length);
  await page.evaluate((a, b) => window.waymark.show(a, b), whole * 0.4, whole * 0.4 + whole / 2 ** 10);
  await settled(page);
  const box = await (await page.$('canvas.tracks')).boundingBox();
  const middle = [box.x + box.width / 2, box.y + 60];
  await page.tracing.start({ categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline.frame', 'devtools.timeline.frame', 'cc', 'benchmark'] });
  await page.mouse.move(...middle);
  await page.mouse.down();
  const end = performance.now() + 5000;
  for (let i = 0; performance.now() < end; i++) {
    await page.mouse.move(middle[0] + Math.sin(i / 40) * box.width * 0.4, middle[1]);
    await new Promise((resolve) => setTimeout(resolve, 8));
  }
  await page.mouse.up();
  const trace = JSON.parse(Buffer.from(await page.tracing.stop()).toString());
  const named = (name) => trace.traceEvents.filter((event) => event.name === name);
  const times = named('DrawFrame').map((event) => event.ts / 1000).sort((a, b) => a - b);
  return {
    between: times.slice(1).map((time, i) => time - times[i]),
    work: named('FireAnimationFrame').map((event) => (event.dur ?? 0) / 1000),
  };
}

const chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
const started = performance.now();
const viewer = await startViewer(program, capture);
console.log(`address after        ${milliseconds(performance.now() - started)}`);
const { page: first } = await openPage(chromium.browser, viewer.address);
await settled(first);
console.log(`first picture after  ${milliseconds((await first.evaluate(() => window.waymark.timings())).first)}`);
console.log(`capture known after  ${milliseconds(await waitForCapture(first))} more`);
await first.close();
// A new page has none of the times of the wait; the lists of a page do not grow without end.
const { page } = await openPage(chromium.browser, viewer.address);
await settled(page);
const { answers, drawing, waits } = await moveAndZoom(page);
console.log(`answers              ${spread(answers)}`);
console.log(`drawing              ${spread(drawing)}`);
console.log(`until all is shown   ${spread(waits)}`);
const { between, work } = await drag(page);
console.log(`between frames       ${spread(between)}`);
console.log(`own work in a frame  ${spread(work)}`);
console.log(`memory of the server ${await memory(viewer.pid)}`);
await page.close();
const { page: again } = await openPage(chromium.browser, viewer.address);
await settled(again);
console.log(`first picture again  ${milliseconds((await again.evaluate(() => window.waymark.timings())).first)}`);
await chromium.stop();
await viewer.stop();
