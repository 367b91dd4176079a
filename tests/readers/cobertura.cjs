// Reads a report of Cobertura with npm's cobertura-parse, from the folder of the first argument: prints what it found.
const path = require('node:path');
const { parseFile } = require(path.join(process.argv[2], 'cobertura-parse'));

parseFile(process.argv[3], (error, files) => {
  if (error) throw new Error(error);
  console.log(JSON.stringify(files));
});
