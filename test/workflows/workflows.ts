import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

export interface Workflow {
  readonly path: string;
  readonly content: string;
}

export const workflows: readonly Workflow[] = [
  ".github/workflows",
  "test/fixtures/bot-0.1.0/.github/workflows",
].flatMap((folder) =>
  readdirSync(join(root, folder)).map((name) => {
    const path = join(folder, name);
    return { path, content: readFileSync(join(root, path), "utf8") };
  }),
);

export function ownWorkflow(name: string): string {
  return readFileSync(join(root, ".github/workflows", name), "utf8");
}
