import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { act, ids, request, runPlatform, withControlToken } from "./support/platform.ts";
import { runReceiver } from "./support/receiver.ts";

/** The page that describes what is tested here. */
const page = readFileSync(new URL("../../docs/platform.md", import.meta.url), "utf8");

const examples = [...page.matchAll(/^control (\S+) '?([^\s']+)'?(?: '(.*)')?$/gm)];
const endpoints = [...page.matchAll(/`(GET|PUT|POST|DELETE) (\/control\/v1\/[^`?]*)/g)];

test("the page has examples and endpoints", () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(endpoints.length).toBeGreaterThan(10);
});

test.each(examples.map((match) => match[0]))("the example works: %s", async (line) => {
  const [, method = "", path = "", body] = examples.find(([whole]) => whole === line) ?? [];
  const platform = await runPlatform();
  const receiver = await runReceiver();
  // The example that makes it comes first.
  if (path !== "/apps") platform.control.apps.create({ username: "helper" });
  platform.control.saveWebhook({ url: receiver.url });
  const [last = ""] = ids(act(platform, "follow", { count: 2 })).slice(-1);
  await platform.waitFor("delivery", ({ eventIds }) => eventIds.includes(last));
  act(platform, "like", { count: 50 });
  platform.control.snapshots.take();
  await request(platform, "GET", "/api/v1/me");
  // The bot of the example may really be running here.
  const json = body?.replace("http://127.0.0.1:3000/webhook", receiver.url);
  const answer = await request(platform, method, `/control/v1${path}`, {
    body: json === undefined ? undefined : JSON.parse(json),
  });
  expect([200, 201]).toContain(answer.status);
});

test.each(endpoints.map(([, method = "", path = ""]) => [method, path]))(
  "the endpoint exists: %s %s",
  async (method, path) => {
    const platform = await runPlatform();
    const receiver = await runReceiver();
    platform.control.saveWebhook({ url: receiver.url });
    const message = act(platform, "dm.message");
    const { conversationId = "" } = message;
    const [id = ""] = ids(message);
    await request(platform, "GET", "/api/v1/me");
    const { id: delivery } = await platform.waitFor("delivery");
    const { id: snapshot } = platform.control.snapshots.take();
    const named: Readonly<Record<string, string>> = {
      conversations: conversationId,
      posts: "p_1",
      events: id,
      calls: "call_1",
      messages: "m_1",
      tokens: "t_1",
      deliveries: delivery,
      apps: "bot",
      snapshots: snapshot,
    };
    const real = path.replace(/(\w+)\/:\w+/, (_, list: string) => `${list}/${named[list] ?? ""}`);
    const headers = { "content-type": "application/json", ...withControlToken(platform) };
    const { status } = await fetch(`${platform.url}${real}`, { method, headers });
    expect([404, 405]).not.toContain(status);
  },
);

test("the page names every error code that is not the platform document's", async () => {
  const source = readFileSync(new URL("../../src/platform/error.ts", import.meta.url), "utf8");
  const ours = [...source.slice(source.indexOf("// ours")).matchAll(/^ {2}\| "([A-Z_]+)"/gm)];
  expect(ours.length).toBeGreaterThan(5);
  for (const [, code] of ours) expect(page).toContain(`\`${code}\``);
});
