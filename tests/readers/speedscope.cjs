// Runs the importers of speedscope's release in Node.js: prints what the profiles of a file contain.
const fs = require('node:fs');
const path = require('node:path');

const release = process.argv[2];
const bundle = fs.readdirSync(release).find(name => /^speedscope-.*\.js$/.test(name));
let code = fs.readFileSync(path.join(release, bundle), 'utf8');

// The page offers one function for local files; it is called here without the page.
const entry = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)\}/.exec(code);
if (!entry) throw new Error('this release of speedscope has another form');
code = code.replace('(()=>{', `(()=>{globalThis.importFile=(...file)=>${entry[3]}(...file);`);

// Stands for everything that a browser has and a server has not.
function anything() {
  return new Proxy(function () {}, {
    get: (target, name) => name === Symbol.toPrimitive ? () => '' : name === 'length' ? 0 :
      name === Symbol.iterator ? function* () {} : name === 'then' ? undefined : anything(),
    apply: () => anything(),
    construct: () => anything(),
    set: () => true,
    has: () => false,
  });
}
globalThis.window = globalThis;
globalThis.document = anything();
globalThis.localStorage = anything();
globalThis.location = {hash: '', href: 'http://localhost/', protocol: 'http:'};
globalThis.matchMedia = () => ({matches: false, addListener() {}, addEventListener() {}});
globalThis.addEventListener = () => {};
globalThis.requestAnimationFrame = () => 0;
globalThis.getComputedStyle = () => anything();
console.log = () => {};
try {
  (0, eval)(code);
} catch (error) {
  if (process.env.SHOW_ERRORS) process.stderr.write(`${error.stack}\n`);
}

async function main() {
  const file = process.argv[3];
  const group = await globalThis.importFile(path.basename(file), fs.readFileSync(file).toString('base64'));
  const profiles = group.profiles.map(profile => {
    const frames = {};
    profile.forEachFrame(frame => {
      const sum = frames[frame.name] ??= {self: 0, total: 0};
      sum.self += frame.getSelfWeight();
      sum.total += frame.getTotalWeight();
    });
    return {name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), frames};
  });
  process.stdout.write(JSON.stringify(profiles));
}
main();
