import { expect, test } from "vitest";
import { botOf, documentedOutcomes, linesOf } from "./documented.ts";
import {
  type CreateAuthor,
  counted,
  posted,
  postedLate,
  postedTorn,
  reminded,
  remindedTorn,
} from "./outcomes.ts";

/** Time limit for a column of the table, in ms. A column takes less than a minute, or several on a busy machine. */
const TIMEOUT_MS = 300_000;

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

/** Tests the outcomes in a framework's column. Each framework has a file of its own, so that their waits overlap. */
export function testColumn(name: string, create: CreateAuthor): void {
  test(`the page shows what happens to the bot with ${name}`, {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { header, rows } = documentedOutcomes();
    const column = header.indexOf(name);
    const found = [String(linesOf(botOf(name)))];
    for (const group of groups) {
      found.push(...(await Promise.all(group.map((outcome) => outcome(create)))));
    }
    expect(rows.map((row) => row[column])).toEqual(found);
  });
}
