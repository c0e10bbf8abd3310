import { expect, test } from "vitest";
import { installTools } from "../../tools/install.ts";
import { typeErrors } from "../support/type-errors.ts";
import { blocksOf } from "./documented.ts";

/** In ms. The compiler takes a few seconds, or a minute on a busy machine. */
const TIMEOUT_MS = 120_000;

const modules = await installTools();

test("the grammY, Bolt and Probot blocks compile with their packages", {
  timeout: TIMEOUT_MS,
}, async () => {
  const blocks = [...blocksOf("grammy"), ...blocksOf("@slack/bolt"), ...blocksOf("probot")];
  expect(blocks.length).toBeGreaterThan(3);
  const files = blocks.map((code, index) => [`block_${index}.ts`, `${code}\nexport {};\n`]);
  expect(await typeErrors(Object.fromEntries(files), { modules })).toBe("");
});
