import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLATFORM_ERRORS_SOURCE } from "../faces/files.ts";
import { act, ids, request, routesOf, runPlatform } from "./support/platform.ts";
import { runReceiver } from "./support/receiver.ts";

const page = readFileSync(
  new URL("../../docs/reference/local-platform.md", import.meta.url),
  "utf8",
);

const examples = [...page.matchAll(/^control (\S+) '?([^\s']+)'?(?: '(.*)')?$/gm)];
const endpoints = [...page.matchAll(/`(GET|PUT|POST|DELETE) (\/control\/v1\/[^`?]*)/g)];

test("the page contains examples and endpoints", () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(endpoints.length).toBeGreaterThan(10);
});

test.each(examples.map((match) => match[0]))("the example works: %s", async (line) => {
  const [, method = "", path = "", body] = examples.find(([whole]) => whole === line) ?? [];
  const platform = await runPlatform();
  const receiver = await runReceiver();
  // An earlier example on the page creates the app.
  if (path !== "/apps") platform.control.apps.create({ username: "helper" });
  platform.control.saveWebhook({ url: receiver.url });
  const [last = ""] = ids(act(platform, "follow", { count: 2 })).slice(-1);
  await platform.waitFor("delivery", ({ eventIds }) => eventIds.includes(last));
  act(platform, "like", { count: 50 });
  platform.control.snapshots.take();
  await request(platform, "GET", "/api/v1/me");
  // A real bot may be running on the example's port.
  const json = body?.replace("http://127.0.0.1:3000/webhook", receiver.url);
  const answer = await request(platform, method, `/control/v1${path}`, {
    body: json === undefined ? undefined : JSON.parse(json),
  });
  expect([200, 201]).toContain(answer.status);
});

test("the page names every endpoint of the control API, and no other", async () => {
  const plain = (path: string) => path.replaceAll(/:\w+/g, ":id");
  const documented = endpoints.map(([, method, path = ""]) => `${method} ${plain(path)}`);
  const mounted = routesOf(await runPlatform()).map(
    ([method, path]) => `${method} /control/v1${plain(path)}`,
  );
  expect(new Set(documented)).toEqual(new Set(mounted));
});

test("the page names every error code that is not in the platform document", async () => {
  const source = readFileSync(PLATFORM_ERRORS_SOURCE, "utf8");
  const ours = [
    ...source
      .slice(source.indexOf("// Not in the platform document"))
      .matchAll(/^ {2}\| "([A-Z_]+)"/gm),
  ];
  expect(ours.length).toBeGreaterThan(5);
  for (const [, code] of ours) expect(page).toContain(`\`${code}\``);
});
