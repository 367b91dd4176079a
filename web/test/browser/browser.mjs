// Starts Chromium, and pages in it.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The packages of tests/readers. */
export const packages = createRequire(join(process.env.WAYMARK_READERS, 'package.json'));
const puppeteer = packages('puppeteer-core');

export async function startBrowser(executablePath) {
  const profile = await mkdtemp(join(tmpdir(), 'waymark-browser-'));
  const browser = await puppeteer.launch({
    executablePath,
    headless: true,
    userDataDir: profile,
    ignoreDefaultArgs: ['--hide-scrollbars'],
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--force-color-profile=srgb',
    ],
  });
  return {
    browser,
    stop: async () => {
      await browser.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** A page of a size and theme. `problems` are errors and refused loads that the page caused. */
export async function openPage(browser, url, { width = 1280, height = 720, theme = 'light' } = {}) {
  const page = await browser.newPage();
  const problems = [];
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('console', (message) => {
    // A newer question replaced an older one, which was withdrawn at the same time.
    if (/status of 409/.test(message.text())) return;
    if (message.type() === 'error' || message.type() === 'warning') problems.push(`${message.type()}: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const target = request.url();
    if (!target.startsWith(new URL(url).protocol === "file:" ? url : new URL(url).origin) && !/^(data|blob|about|file):/.test(target)) problems.push(`load: ${target}`);
  });
  await page.goto(url, { waitUntil: 'load' });
  await page.waitForFunction(() => window.waymark !== undefined);
  return { page, problems };
}

export const settled = (page) => page.evaluate(() => window.waymark.settled());
export const model = (page) => page.evaluate(() => window.waymark.model());

/** Waits until a condition in the page is true; the message says what was waited for. */
export async function until(page, what, condition, ...args) {
  try {
    await page.waitForFunction(condition, { timeout: 60000, polling: 50 }, ...args);
  } catch (error) {
    throw new Error(`Waited without success until ${what}.`, { cause: error });
  }
}

/** Where the tracks of the timeline are. */
export const tracksBox = async (page) => (await page.$('canvas.tracks')).boundingBox();

/** Clicks into the outermost frame of the first thread. */
export async function clickThread(page, share = 0.5) {
  const box = await tracksBox(page);
  await page.mouse.click(box.x + box.width * share, box.y + 22 + 17 + 12);
  await until(page, 'a place is known', () => window.waymark.model().place !== null);
}

/** Clicks on each pane, and checks that what the capture names is only ever text of a bounded length. */
export async function checkOnlyText(page) {
  for (const pane of ['functions', 'flame', 'find', 'health']) {
    await page.click(`#tab-${pane}`);
    await settled(page);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const found = await page.evaluate(() => ({
      elements: document.querySelectorAll('body script, img, i, b').length,
      raw: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/.test(document.body.innerText),
      long: [...document.querySelectorAll('*')].some((element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.length > 5000)),
    }));
    assert.deepEqual(found, { elements: 0, raw: false, long: false }, pane);
  }
}
