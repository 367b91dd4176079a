// Serves the page and the API of docs/view_api.md from a generated capture.
//
// Usage: node server.mjs PAGE_FOLDER [--port N] [--OPTION ...]
//   --hostile        names and messages that try to be HTML, or to reorder text
//   --no-symbols --no-lines --no-sources --no-instructions --empty --healthy
//   --failure        reading ended early
//   --reading=S      the capture is known after S seconds
//   --silent=S       nothing is read for S seconds
//   --delay=MS       each answer takes longer
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Answers, binary, Refusal } from './answers.mjs';
import { makeCapture } from './capture.mjs';

export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'";

const types = { 'app.js': 'text/javascript', 'app.css': 'text/css', 'index.html': 'text/html; charset=utf-8' };
const token = 'test-token';

export async function serve(folder, options = {}, port = 0) {
  const answers = new Answers(makeCapture(options), options);
  const state = { failing: false, requests: [] };
  const server = createServer((request, response) => {
    handle(folder, answers, options, state, request, response).catch((error) => {
      const status = error instanceof Refusal ? error.status : 500;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: error.message }));
    });
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/${token}/`;
  return { url, answers, state, close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}

async function handle(folder, answers, options, state, request, response) {
  const url = new URL(request.url, 'http://127.0.0.1');
  const [, given, ...rest] = url.pathname.split('/');
  state.requests.push(rest.join('/') + url.search);
  if (state.failing) {
    request.socket.destroy();
    return;
  }
  if (given !== token) throw new Refusal(403, 'The address has no valid token. Open the one that was printed.');
  const path = rest.join('/');
  if (!path.startsWith('api/1/')) {
    const file = path || 'index.html';
    if (!types[file]) throw new Refusal(404, 'There is no such file.');
    const body = await readFile(join(folder, file));
    response.writeHead(200, { 'content-type': types[file], 'content-security-policy': policy, 'x-content-type-options': 'nosniff' });
    response.end(body);
    return;
  }
  if (options.delay) await new Promise((resolve) => setTimeout(resolve, options.delay));
  const query = Object.fromEntries(url.searchParams);
  const question = `answer_${path.slice('api/1/'.length)}`;
  if (typeof answers[question] !== 'function') throw new Refusal(404, 'There is no such request.');
  const answer = answers[question](query);
  const packed = query.format === 'binary';
  response.writeHead(200, { 'content-type': packed ? 'application/octet-stream' : 'application/json' });
  response.end(packed ? binary(answer) : JSON.stringify(answer));
}

function optionsOf(words) {
  const options = {};
  for (const word of words) {
    const [, name, value] = /^--([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
    if (!name) continue;
    if (name.startsWith('no-')) options[name.slice(3)] = false;
    else if (name === 'reading') options.readingSeconds = Number(value);
    else if (name === 'silent') options.silentSeconds = Number(value);
    else options[name] = value === undefined ? true : Number(value);
  }
  return options;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const options = optionsOf(process.argv.slice(3));
  const { url } = await serve(process.argv[2], options, options.port ?? 0);
  console.log(url);
}
