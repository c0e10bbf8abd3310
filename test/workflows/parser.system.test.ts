import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { bundleModule } from "../../scripts/pack/bundle.ts";
import { INSTALL_TIMEOUT_MS, installTools } from "../../tools/install.ts";
import { ownWorkflow, workflows } from "./workflows.ts";

/** The part of `@actions/workflow-parser` that this test uses. */
interface Parser {
  readonly NoOperationTraceWriter: new () => object;
  parseWorkflow(
    file: { readonly name: string; readonly content: string },
    trace: object,
  ): { readonly context: Context; readonly value?: object };
  convertWorkflowTemplate(
    context: Context,
    value: object,
  ): Promise<{ readonly errors?: readonly { readonly Message: string }[] }>;
}

interface Context {
  readonly errors: { getErrors(): readonly { readonly message: string }[] };
}

let parser: Parser;

beforeAll(async () => {
  parser = await loadParser(await installTools());
}, INSTALL_TIMEOUT_MS);

/** Bundles GitHub's parser, because it imports JSON in a way that Node does not support. */
async function loadParser(modules: string): Promise<Parser> {
  const cache = join(import.meta.dirname, "../../node_modules/.cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "workflow-parser-"));
  try {
    const file = join(folder, "parser.mjs");
    await bundleModule(join(modules, "@actions/workflow-parser/dist/index.js"), file);
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the errors that GitHub's parser finds, such as unknown keys, wrong types and invalid expressions. */
async function complaintsAbout(name: string, content: string): Promise<readonly string[]> {
  const { context, value } = parser.parseWorkflow(
    { name, content },
    new parser.NoOperationTraceWriter(),
  );
  const errors = context.errors.getErrors().map(({ message }) => message);
  if (value === undefined || errors.length > 0) return errors;
  const template = await parser.convertWorkflowTemplate(context, value);
  return (template.errors ?? []).map(({ Message }) => Message);
}

test.each(workflows)("GitHub's parser takes $path", async ({ path, content }) => {
  expect(await complaintsAbout(path, content)).toEqual([]);
});

test.each([
  ["an unknown key", "runs-on:", "run-on:", "run-on"],
  ["an invalid expression", "{{ github.ref }}", "{{ githb.ref }}", "githb"],
])("it refuses %s", async (_, from, to, complaint) => {
  const changed = ownWorkflow("ci.yml").replace(from, to);
  expect((await complaintsAbout("ci.yml", changed)).join("\n")).toContain(complaint);
});
