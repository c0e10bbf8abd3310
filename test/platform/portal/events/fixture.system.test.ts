import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "../../../faces/create.ts";
import type { AnyEvent } from "../../../faces/events.ts";
import { linkPackage } from "../../../support/linked-package.ts";
import { withoutBotVariables } from "../../../support/scaffolded.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { type Fixture, fixtureOf } from "../face.ts";
import { said } from "./entries.ts";

const checkout = fileURLToPath(new URL("../../../../", import.meta.url));
const installed = join(checkout, "node_modules");

function starterWith(fixtures: readonly Fixture[]): string {
  const folder = temporaryFolder();
  cpSync(join(checkout, "templates", "starter"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  linkPackage(folder, { ".": "./src/index.ts", "./testing": "./src/testing/index.ts" });
  symlinkSync(join(installed, "@types"), join(folder, "node_modules", "@types"));
  rmSync(join(folder, "test"), { recursive: true });
  mkdirSync(join(folder, "test"));
  for (const { name, text } of fixtures) writeFileSync(join(folder, "test", name), text);
  return folder;
}

function event(id: string, more: { type?: string; payload?: object } = {}): AnyEvent {
  const payload = {
    conversationId: "c_2",
    from: { userId: "u_1", username: "ada", name: "Ada" },
    excerpt: "hello",
  };
  const createdAt = "2026-11-22T10:00:00.000Z";
  return { id, type: "dm.message", createdAt, payload, ...more } as AnyEvent;
}

const mention = {
  actor: { username: "ben", name: "Ben" },
  entityType: "post",
  entityId: "p_1",
  postId: "p_1",
};

/** Text that ends a string, a comment or a template literal unless it is escaped. */
const hostile = '"; process.exit(1); // */ `$' + "{process.exit(1)}` \u2028 </script> \\";

const toConversation = "/dm/conversations/c_2/messages";

const hostilePayload: object = JSON.parse(
  JSON.stringify({ ...event("").payload, "a-b": [1, null, [], {}], excerpt: hostile }).replace(
    "{",
    '{"__proto__":{"x":1},',
  ),
);

const right = [
  fixtureOf(event("evt_1"), [
    said("/events", undefined, { method: "GET", status: 200 }),
    said(toConversation, { text: "Hi Ada! You wrote: hello" }),
    said("/posts", { text: "refused" }, { status: 403 }),
  ]),
  fixtureOf(event("evt_2", { type: "mention", payload: mention }), [
    said("/uploads", "bytes"),
    said("/posts/p_1/comments", { text: "Hi Ben, here I am.", imageKeys: ["key"] }),
  ]),
  fixtureOf(event("evt_3", { type: "poll.created", payload: { question: "Tea?" } }), []),
  fixtureOf(event("evt_4")),
  fixtureOf(event("evt_5", { payload: hostilePayload }), [
    said(toConversation, { text: `Hi Ada! You wrote: ${hostile}` }),
  ]),
];
const wrong = fixtureOf(event("evt_6"), [said(toConversation, { text: "something else" })]);

test("the portal's generated test type-checks, passes in a new bot, and fails in a bot with other replies", {
  timeout: 90_000,
}, async () => {
  const cwd = starterWith([...right, wrong]);
  const env = withoutBotVariables();
  const [types, tests] = await Promise.all([
    run(join(installed, ".bin", "tsc"), [], { cwd, env }),
    run(process.execPath, ["--test", "test/*.test.ts"], { cwd, env }),
  ]);
  expect(types.output).toBe("");
  expect(tests.output).toMatch(new RegExp(`^\\S+ pass ${right.length}$`, "m"));
  expect(tests.output).toMatch(/^\S+ fail 1$/m);
  expect(tests.output).toContain("something else");
  expect(tests.code).toBe(1);
});
