/**
 * `npm run faults:mutants`: takes out one mechanism after the other and expects that a test notices.
 * With arguments only the mutants whose names contain one of them. Not here: that signatures are
 * compared in constant time, which no behaviour shows.
 */

import { allMutants } from "./list/index.ts";
import type { Mutant, Verdict } from "./mutant.ts";
import { failureIn, firstFailure } from "./run-tests.ts";
import { Tree } from "./tree.ts";

const AT_ONCE = 2;

const wanted = process.argv.slice(2);
const mutants = allMutants.filter(
  ({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)),
);
process.exitCode = (await control(mutants)) && (await runAll(mutants)) ? 0 : 1;

/** Whatever is caught below must be green without a mutation. */
async function control(mutants: readonly Mutant[]): Promise<boolean> {
  const tree = new Tree();
  try {
    const files = new Set(mutants.flatMap(({ tests }) => tests));
    const failure = await failureIn(tree.folder, [...files]);
    console.error(
      failure === undefined
        ? `control: ${files.size} test files are green without a mutation`
        : `control: without any mutation this fails: ${failure}`,
    );
    return failure === undefined;
  } finally {
    tree.remove();
  }
}

async function runAll(mutants: readonly Mutant[]): Promise<boolean> {
  const queue = [...mutants];
  const verdicts = new Map<Mutant, Verdict>();
  const worker = async () => {
    const tree = new Tree();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const verdict = await judge(next, tree);
      verdicts.set(next, verdict);
      console.error(`${verdicts.size} of ${mutants.length}: ${next.name}: ${describe(verdict)}`);
    }
    tree.remove();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  console.log("| taken out | caught by |\n| --- | --- |");
  for (const mutant of mutants) {
    const verdict = verdicts.get(mutant) ?? { kind: "survived" };
    console.log(`| ${mutant.name} | ${describe(verdict).replaceAll("|", "\\|")} |`);
  }
  const caught = [...verdicts.values()].filter(({ kind }) => kind === "caught").length;
  console.log(`\n${caught} of ${mutants.length} mutants caught`);
  return caught === mutants.length;
}

async function judge(mutant: Mutant, tree: Tree): Promise<Verdict> {
  const undo = tree.apply(mutant);
  if (typeof undo === "number") return { kind: "out of date", found: undo };
  const by = await firstFailure(tree.folder, mutant.tests);
  undo();
  return by === undefined ? { kind: "survived" } : { kind: "caught", by };
}

function describe(verdict: Verdict): string {
  if (verdict.kind === "caught") return verdict.by;
  if (verdict.kind === "survived") return "**nothing: it survived**";
  return `**out of date: its text is ${verdict.found} times in the file**`;
}
