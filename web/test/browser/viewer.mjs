// Starts "waymark view", and what other commands of the same program say of a capture.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const options = { encoding: 'utf8', maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] };

/** The output of a command of waymark. */
export const waymark = (program, ...args) => execFileSync(program, args, options);

const objects = (text) => text.split('\n').filter(Boolean).map((line) => JSON.parse(line));

/** What `waymark decode` says of each source: the instructions in their order, and other elements by kind. */
export function decoded(program, capture, ...args) {
  const sources = new Map();
  for (const element of objects(waymark(program, 'decode', '--format', 'json', capture, ...args))) {
    if (element.id === undefined) continue;
    if (!sources.has(element.id)) sources.set(element.id, { addresses: [], functions: [], kinds: {} });
    const source = sources.get(element.id);
    source.kinds[element.kind] = (source.kinds[element.kind] ?? 0) + 1;
    if (element.kind !== 'range') continue;
    // All instructions of these captures have 4 bytes.
    const start = BigInt(element.start);
    for (let i = 0; i < element.instructions; i++) {
      source.addresses.push('0x' + (start + BigInt(4 * i)).toString(16));
      source.functions.push(element.function);
    }
  }
  return sources;
}

/** How often `waymark annotate` says that each instruction of a function was executed. */
export function annotated(program, capture, func) {
  const [{ code }] = objects(waymark(program, 'annotate', '--format', 'json', capture, func));
  return new Map(code.filter((row) => row.times !== undefined).map((row) => [row.address, row.times]));
}

/** A running viewer of a capture: its address, and what ends it. */
export async function startViewer(program, capture, ...args) {
  const child = spawn(program, ['view', capture, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (piece) => (complaints += piece));
  const ended = new Promise((resolve) => child.on('exit', resolve));
  const address = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (piece) => {
      text += piece;
      if (text.includes('\n')) resolve(text.trim());
    });
    child.on('error', reject);
    void ended.then(() => reject(new Error(`waymark view ended: ${complaints}`)));
  });
  return {
    address,
    pid: child.pid,
    stop: async () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

/** The folder of captures whose names and messages are hostile. It is made by the tests of the programs. */
export function hostileCaptures(path) {
  const cwd = fileURLToPath(new URL('../../../tests/cli', import.meta.url));
  execFileSync('python3', ['-B', '-m', 'support.hostile', path], { cwd, stdio: 'inherit' });
  return join(path, 'captures');
}
