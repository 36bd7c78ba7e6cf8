// SPDX-License-Identifier: MIT
// read_tables.mjs PACKAGES FOLDER: reads the Parquet files of a catalogue by two engines, and prints
// {engine: {table: [rows, sum of a column]}}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import path from "node:path";

const [packages, folder] = process.argv.slice(2).map((name) => path.resolve(name));
const columns = { files: "size_bytes", keys: "file_id", tensors: "size_bytes", findings: "file_id", texts: null };
const found = { hyparquet: {}, DuckDB: {} };

const hyparquet = await import(pathToFileURL(path.join(packages, "node_modules/hyparquet/src/index.js")));
for (const [table, column] of Object.entries(columns)) {
  const bytes = readFileSync(path.join(folder, table + ".parquet"));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const rows = await hyparquet.parquetReadObjects({ file });
  const sum = column ? rows.reduce((total, row) => total + BigInt(row[column] ?? 0), 0n) : 0n;
  found.hyparquet[table] = [rows.length, Number(sum)];
}

const { DuckDBInstance } = createRequire(path.join(packages, "x.js"))("@duckdb/node-api");
const connection = await (await DuckDBInstance.create()).connect();
for (const [table, column] of Object.entries(columns)) {
  const reader = await connection.runAndReadAll(
    `SELECT count(*), coalesce(sum(${column ?? 0}), 0) FROM read_parquet('${path.join(folder, table)}.parquet')`);
  found.DuckDB[table] = reader.getRows()[0].map(Number);
}
console.log(JSON.stringify(found));
