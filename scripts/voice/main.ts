/**
 * Checks the words in comments, messages and pages.
 *
 *     node scripts/voice/main.ts [PATH...]         lists denied words and long lines; exit code 1 if there are any
 *     node scripts/voice/main.ts --count           counts denied words, and words in a sentence
 *     node scripts/voice/main.ts --sample 40 [--seed N]
 *     node scripts/voice/main.ts --same-code REF   exit code 1 if more than comments has changed since a commit
 */
import { parseArgs } from "node:util";
import { countTable } from "./count.ts";
import { findIn } from "./rules.ts";
import { changedCode } from "./same-code.ts";
import { drawSample } from "./sample.ts";
import { longLines, readSources, textsIn } from "./texts.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "boolean" },
    sample: { type: "string" },
    seed: { type: "string" },
    "same-code": { type: "string" },
  },
});

if (values["same-code"] !== undefined) {
  const changed = changedCode(values["same-code"]);
  for (const file of changed) console.log(`${file}: its code changed`);
  if (changed.length > 0) process.exitCode = 1;
  else console.log(`Without comments, the code is the same as in ${values["same-code"]}`);
} else if (values.count) {
  console.log(countTable(textsIn(readSources())));
} else if (values.sample !== undefined) {
  console.log(
    drawSample(textsIn(readSources()), Number(values.sample), Number(values.seed ?? Date.now())),
  );
} else {
  const sources = readSources().filter(
    ({ file }) => positionals.length === 0 || positionals.some((path) => file.startsWith(path)),
  );
  const problems = [
    ...findIn(textsIn(sources)).map(
      ({ file, line, kind, found, rule }) =>
        `${file}:${line} ${kind}: "${found}". Write: ${rule.instead}`,
    ),
    ...sources.flatMap(({ file, source }) =>
      longLines(file, source).map(
        (line) => `${file}:${line}: longer than 120 characters. Wrap the line.`,
      ),
    ),
  ];
  for (const problem of problems) console.log(problem);
  if (problems.length > 0) {
    console.log(`${problems.length} found`);
    process.exitCode = 1;
  }
}
