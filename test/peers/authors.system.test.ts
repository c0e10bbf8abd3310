import { expect, test } from "vitest";
import { installTools } from "../../tools/install.ts";
import { typeErrors } from "../support/type-errors.ts";
import { BoltAuthor } from "./bolt.ts";
import { blocksOf, botOf, documentedOutcomes, linesOf } from "./documented.ts";
import { GrammyAuthor } from "./grammy.ts";
import {
  type CreateAuthor,
  counted,
  posted,
  postedLate,
  postedTorn,
  reminded,
  remindedTorn,
} from "./outcomes.ts";
import { ServiceAuthor } from "./service.ts";

/** Time limit for a column of the table, in ms. A column takes less than a minute, or several on a busy machine. */
const TIMEOUT_MS = 300_000;

const modules = await installTools();

const authors: Readonly<Record<string, CreateAuthor>> = {
  grammY: () => GrammyAuthor.create(modules),
  Bolt: () => BoltAuthor.create(modules),
  "service-bot": (instances) => ServiceAuthor.create(instances),
};

type Outcome = (create: CreateAuthor) => Promise<string>;

/** Rows of the table on the page. The rows in a group wait equally long, so they run concurrently. */
const groups: readonly (readonly Outcome[])[] = [
  [(create) => counted(create, "replying")],
  [(create) => counted(create, "replied")],
  [(create) => counted(create, "done")],
  [(create) => reminded(create, false), (create) => reminded(create, true), remindedTorn],
  [
    (create) => posted(create, 1),
    (create) => posted(create, 2),
    (create) => postedTorn(create, "replying"),
    (create) => postedTorn(create, "replied"),
    postedLate,
  ],
];

test.each(Object.entries(authors))(
  "the page shows what happens to the bot with %s",
  { timeout: TIMEOUT_MS },
  async (name, create) => {
    const { header, rows } = documentedOutcomes();
    const column = header.indexOf(name);
    const found = [String(linesOf(botOf(name)))];
    for (const group of groups) {
      found.push(...(await Promise.all(group.map((outcome) => outcome(create)))));
    }
    expect(rows.map((row) => row[column])).toEqual(found);
  },
);

test("the grammY, Bolt and Probot blocks compile with their packages", {
  timeout: TIMEOUT_MS,
}, async () => {
  const blocks = [...blocksOf("grammy"), ...blocksOf("@slack/bolt"), ...blocksOf("probot")];
  expect(blocks.length).toBeGreaterThan(3);
  const files = blocks.map((code, index) => [`block_${index}.ts`, `${code}\nexport {};\n`]);
  expect(await typeErrors(Object.fromEntries(files), { modules })).toBe("");
});
