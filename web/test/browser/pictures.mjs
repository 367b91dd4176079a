// node pictures.mjs PROGRAM FOLDER: the pictures of README.md.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { clickThread, openPage, settled, startBrowser, until } from './browser.mjs';
import { startViewer, waymark } from './viewer.mjs';

const [program, out] = process.argv.slice(2);
const sample = fileURLToPath(new URL('../../../samples/quicksort', import.meta.url));
const chromium = await startBrowser(process.env.WAYMARK_BROWSER || '/usr/bin/chromium');
const folder = await mkdtemp(join(tmpdir(), 'waymark-pictures-'));
await mkdir(out, { recursive: true });

async function picture(name, address, { share, ...look }) {
  const { page, problems } = await openPage(chromium.browser, address, { width: 1280, height: 800, ...look });
  await until(page, 'the capture is known', () => window.waymark.model().complete);
  await settled(page);
  if (share !== undefined) await clickThread(page, share);
  // A busy page has a tooltip and a spinner for a moment.
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await settled(page);
  await page.screenshot({ path: join(out, name) });
  await page.close();
  if (problems.length) throw new Error(problems.join('\n'));
}

const viewer = await startViewer(program, sample);
await picture('view.png', viewer.address + '#w=19500,23500', { share: 0.35 });
await viewer.stop();
const report = join(folder, 'report.html');
waymark(program, 'report', sample, '-o', report);
await picture('report.png', pathToFileURL(report).href + '#p=flame', { theme: 'dark' });
await chromium.stop();
await rm(folder, { recursive: true, force: true });
