// Makes a picture of every view, in two sizes and both themes, for people to look at.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeReport } from '../mock/report.mjs';
import { serve } from '../mock/server.mjs';
import { clickThread, openPage, settled, tracksBox, until } from './browser.mjs';

const sizes = [[1280, 720], [2560, 1440]];

const pause = (page, ms) => page.evaluate((t) => new Promise((resolve) => setTimeout(resolve, t)), ms);

/** Each view: what the server is like, the link, and what to do before the picture. */
export const views = {
  'overview': {},
  'spans': { hash: '#w=100000,160000', act: (page) => clickThread(page) },
  'near': { hash: '#w=118000,119500&code=disassembly', act: (page) => clickThread(page) },
  'instructions': { hash: '#w=110100,110160&code=executed', act: (page) => clickThread(page) },
  'selection': {
    hash: '#w=100000,160000&s=120000,135000&m=110000,140000&f=checksum',
    act: (page) => clickThread(page, 0.7),
  },
  'hover': {
    hash: '#w=100000,130000',
    act: async (page) => {
      const box = await tracksBox(page);
      await page.mouse.move(box.x + box.width * 0.4, box.y + 80);
    },
  },
  'flame': { hash: '#w=100000,160000&p=flame' },
  'find': { hash: '#p=find&find=function:checksum', act: (page) => page.keyboard.press('.') },
  'find-nothing': { hash: '#p=find&find=function:nothing_has_this_name' },
  'health': { hash: '#p=health' },
  'help': { act: (page) => page.keyboard.press('?') },
  'no-instructions': { options: { instructions: false }, hash: '#p=functions' },
  'no-symbols': { options: { symbols: false, lines: false }, hash: '#w=100000,160000', act: (page) => clickThread(page) },
  'no-source-files': { options: { sources: false }, hash: '#w=100000,160000', act: (page) => clickThread(page) },
  'empty': { options: { empty: true, instructions: false, healthy: true }, hash: '#p=health' },
  'reading': { options: { readingSeconds: 30 }, act: (page) => pause(page, 1500), unsettled: true },
  'failure': { options: { failure: true }, hash: '#p=health' },
  'hostile': { options: { hostile: true }, hash: '#w=100000,160000&p=find&find=text:e', act: (page) => clickThread(page) },
  'report': { report: true, hash: '#w=90000,140000&f=checksum' },
  'coverage': { report: true, hash: '#p=coverage' },
  'compare': { report: true, hash: '#p=compare' },
  'gone': {
    unsettled: true,
    act: async (page, server) => {
      await settled(page);
      server.state.failing = true;
      await page.evaluate(() => window.waymark.show(200000, 230000));
      await until(page, 'the banner is shown', () => !document.querySelector('.banner').hidden);
    },
  },
};

export async function screenshots(browser, folder, out, only) {
  await mkdir(out, { recursive: true });
  const problems = [];
  for (const [view, { options = {}, hash = '', act, unsettled, report }] of Object.entries(views)) {
    if (only && !only.includes(view)) continue;
    const server = await serve(folder, options);
    const file = report && (await makeReport(folder, server.answers, [[100000, 130000], [300000, 310000]]));
    for (const [width, height] of sizes) {
      for (const theme of ['light', 'dark']) {
        if (server.state) server.state.failing = false;
        const { page, problems: own } = await openPage(browser, (file || server).url + hash, { width, height, theme });
        if (!unsettled) await settled(page);
        if (act) await act(page, server);
        await pause(page, 900);
        if (!unsettled) await settled(page);
        await page.screenshot({ path: join(out, `${view}-${width}x${height}-${theme}.png`) });
        if (view !== 'gone') problems.push(...own.map((text) => `${view}: ${text}`));
        await page.close();
      }
    }
    await file?.remove();
    await server.close();
  }
  return problems;
}
