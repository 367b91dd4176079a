// What axe-core finds in the page with the generated capture.
import test, { after, before } from 'node:test';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { clickThread, openPage, packages, settled, startBrowser } from './browser.mjs';
import { makeReport } from '../mock/report.mjs';
import { serve } from '../mock/server.mjs';

const folder = process.env.WAYMARK_PAGE;
let chromium;
let axe;

before(async () => {
  chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
  axe = await readFile(packages.resolve('axe-core/axe.min.js'), 'utf8');
});

after(() => chromium?.stop());

const nothing = { empty: true, instructions: false };
const views = {
  whole: {},
  flame: { hash: '#w=100000,160000&p=flame&s=110000,120000&m=115000,118000', act: (page) => clickThread(page, 0.4) },
  find: { hash: '#p=find&find=function:checksum' },
  health: { hash: '#p=health&code=executed', act: (page) => clickThread(page, 0.4) },
  help: { act: (page) => page.keyboard.press('?') },
  emphasis: { hash: '#f=checksum' },
  messages_only: { options: { instructions: false } },
  empty: { options: nothing },
  failed: { options: { failure: true }, hash: '#p=health' },
  coverage: { report: true, hash: '#p=coverage' },
  compare: { report: true, hash: '#p=compare' },
};

/** Both themes of one page: its content is the same in both. */
for (const [view, { hash = '', act, options, report }] of Object.entries(views)) {
  test(`no_serious_violation_of_accessibility_${view}`, async () => {
    const server = await serve(folder, options);
    const file = report && (await makeReport(folder, server.answers, [[100000, 130000]]));
    const { page, problems } = await openPage(chromium.browser, (file || server).url + hash);
    await settled(page);
    if (act) await act(page);
    // Panes and the words about the window come later than the timeline.
    await new Promise((resolve) => setTimeout(resolve, 700));
    await page.evaluate(axe);
    for (const theme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: theme }]);
      await settled(page);
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
      const { violations } = await page.evaluate(() => window.axe.run(document));
      const found = violations.map((entry) => `${entry.impact} ${entry.id}: ${entry.nodes.map((node) => node.target + ' ' + node.failureSummary).slice(0, 3).join(' | ')}`);
      assert.deepEqual(found, [], theme);
    }
    assert.deepEqual(problems, []);
    await page.close();
    await file?.remove();
    await server.close();
  });
}
