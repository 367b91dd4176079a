// Runs the statements of standard input, a list in JSON, in DuckDB, from the folder of the first argument.  Prints
// for each one its columns, their types and its rows.
const path = require('node:path');
const { DuckDBInstance } = require(path.join(process.argv[2], '@duckdb/node-api'));

async function run(statements) {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const results = [];
  for (const statement of statements) {
    const reader = await connection.runAndReadAll(statement);
    results.push({
      names: reader.columnNames(),
      types: reader.columnTypes().map(String),
      rows: reader.getRowsJson(),
    });
  }
  console.log(JSON.stringify(results));
}

const input = require('node:fs').readFileSync(0, 'utf8');
run(JSON.parse(input)).catch((error) => {
  console.error(error.message);
  process.exit(1);
});
