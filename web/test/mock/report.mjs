// A report file, as "waymark report" makes it: the page with its answers inside.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'";

function dataOf(answers, windows) {
  const requests = {};
  const add = (request) => {
    const [name, query = ''] = request.split('?');
    requests[request] = answers[`answer_${name}`](Object.fromEntries(new URLSearchParams(query)));
  };
  const { length } = answers.capture;
  for (const name of ['capture', 'tracks', 'health']) add(name);
  for (const [from, to] of [[0, length], ...windows]) {
    add(`timeline?from=${from}&to=${to}&width=2048`);
    for (const name of ['measure', 'functions', 'flame']) add(`${name}?from=${from}&to=${to}`);
  }
  for (const { number } of answers.capture.functions.slice(0, 21)) {
    add(`code?function=${number}&from=0&to=${length}`);
    add(`callers?function=${number}&from=0&to=${length}`);
  }
  for (const [from] of windows) {
    for (const track of answers.capture.tracks.filter((entry) => entry.kind === 'thread')) {
      add(`at?track=${track.number}&t=${from}`);
      const { source, n } = answers.answer_at({ track: track.number, t: from });
      add(`instructions?source=${source}&n=${n}&before=0&after=500`);
    }
  }
  const { rows, functions, instructions, cycles } = answers.answer_functions({ from: 0, to: length });
  const compare = {
    names: ['first.snapshot', 'second.snapshot'], instructions: [instructions, Math.round(instructions * 0.93)], cycles: [cycles, null],
    rows: rows.map(([number, self, total, calls], i) => {
      const [, name, program] = functions.find((entry) => entry[0] === number);
      const factor = [1, 0.5, 1.2, 0][i % 4];
      return [name, program, self, total, calls, Math.round(self * factor), Math.round(total * factor), Math.round(calls * factor)];
    }),
    divergences: [['cpu_0', 'A conditional branch was taken in A, but not in B.', 'partition+0x38 (quicksort.c:27), 0x4001c4', 2]],
    divergence_count: 12,
    note: '',
  };
  const covered = (path, i) => [path, 40 + i, 60 + 2 * i, 3, 4, 5, 12, '12-15, 20, 31', i % 2 ? [] : ['unused_helper']];
  const coverage = {
    lines: [4021, 6012], functions: [21, 26], branches: [118, 240], note: '',
    rows: answers.capture.functions.slice(0, 26).map(({ file }, i) => covered(file, i)),
  };
  return { requests, compare, coverage };
}

export async function makeReport(folder, answers, windows) {
  const data = JSON.stringify(dataOf(answers, windows)).replaceAll('<', '\\u003c');
  const style = await readFile(join(folder, 'app.css'), 'utf8');
  const script = (await readFile(join(folder, 'app.js'), 'utf8')).replaceAll('</script', '<\\/script');
  const html = (await readFile(join(folder, 'index.html'), 'utf8'))
    .replace('<link rel="stylesheet" href="app.css">', () => `<meta http-equiv="Content-Security-Policy" content="${policy}"><style>${style}</style>`)
    .replace('<script src="app.js" defer></script>', '')
    .replace('</body>', () => `<script type="application/json" id="waymark-data">${data}</script><script>${script}</script></body>`);
  const made = await mkdtemp(join(tmpdir(), 'waymark-report-'));
  const path = join(made, 'report.html');
  await writeFile(path, html);
  return { path, url: pathToFileURL(path).href, bytes: html.length, remove: () => rm(made, { recursive: true, force: true }) };
}
