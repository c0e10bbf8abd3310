import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";

const FOLDER = ".github/workflows";
const root = join(import.meta.dirname, "../..");

export interface Workflow {
  readonly path: string;
  readonly content: string;
}

export const workflows: readonly Workflow[] = readdirSync(join(root, FOLDER)).map((name) => {
  return { path: join(FOLDER, name), content: ownWorkflow(name) };
});

export function ownWorkflow(name: string): string {
  return readFileSync(join(root, FOLDER, name), "utf8");
}

/** Returns the script of a job's step. */
export function scriptOf(workflow: string, job: string, id: string): string {
  const { steps } = parse(ownWorkflow(workflow)).jobs[job];
  return steps.find((step: { id?: string }) => step.id === id).run;
}
