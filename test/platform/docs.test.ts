import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { PLATFORM_ERRORS_SOURCE } from "../faces/files.ts";
import { controlRequests } from "./support/control-requests.ts";
import { type Answer, act, ids, request, runPlatform } from "./support/platform.ts";
import { runReceiver } from "./support/receiver.ts";
import { differences } from "./support/shape.ts";

const page = readFileSync(
  new URL("../../docs/reference/local-platform.md", import.meta.url),
  "utf8",
);

const examples = [...page.matchAll(/^control (\S+) '?([^\s']+)'?(?: '(.*)')?$/gm)];

interface Documented {
  /** Text on the page, such as `GET /control/v1/events?since=&limit= B`. */
  readonly request: string;
  readonly response: string;
}

/** The table's requests. A row may contain two requests, with one response for both or one for each. */
const documented: readonly Documented[] = page
  .split("\n")
  .filter((line) => /^\| `(GET|PUT|POST|DELETE) \/control/.test(line))
  .flatMap((line) => {
    const [, requests = "", , responses = ""] = line.split("|");
    const each = responses.split(";");
    return [...requests.matchAll(/`(\w+ \/[^`]+)`( `B`)?/g)].map(([, request, mark], nth) => ({
      request: `${request}${mark === undefined ? "" : " B"}`,
      response: (each[nth] ?? each[0] ?? "").trim(),
    }));
  });

function findRow(method: string, path: string): Documented | undefined {
  const [plain = ""] = path.split("?");
  const pattern = (request: string) =>
    new RegExp(`^${request.replace(/[? ][^/]*$/, "").replaceAll(/:\w+/g, "[^/]+")}$`);
  return documented.find(({ request }) => pattern(request).test(`${method} /control/v1${plain}`));
}

/** Returns what differs between a response and the page. Rows that describe the response in words fit any response. */
function wrongIn(method: string, path: string, { status, body }: Answer<unknown>): string[] {
  const response = findRow(method, path)?.response ?? "";
  const [, shape] = /`(\{.*\})`/.exec(response) ?? [];
  expect(response).toContain(String(status));
  return shape === undefined ? [] : differences(shape, body);
}

test("the page contains examples and endpoints", () => {
  expect(examples.length).toBeGreaterThan(10);
  expect(documented.length).toBeGreaterThan(50);
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
  expect(wrongIn(method, path, answer)).toEqual([]);
});

test("the page names each request with its query, and each status", async () => {
  const expected = controlRequests.map(({ text }) => text);
  expect(documented.map(({ request }) => request).sort()).toEqual(expected.toSorted());
  for (const { text, status } of controlRequests) {
    const row = documented.find(({ request }) => request === text);
    expect(row?.response, text).toContain(String(status));
  }
});

test("the page names every field of the responses to reads", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  const receiver = await runReceiver();
  control.saveWebhook({ url: receiver.url });
  const { conversationId } = act(platform, "dm.message");
  const { id } = await platform.waitFor("delivery");
  act(platform, "comment");
  control.setBlock({ by: "ben" });
  control.snapshots.take();
  const reads = controlRequests.flatMap(({ method, path }) => (method === "GET" ? [path] : []));
  const shown = reads.filter((path) => !/stream|file|inbox|states|timers|crons|calls/.test(path));
  expect(shown.length).toBeGreaterThan(15);
  for (const path of shown) {
    const ids = { "/posts": "p_1", "/conversations": conversationId, "/deliveries": id };
    const given = Object.entries(ids).find(([start]) => path.startsWith(start))?.[1];
    const filled = path.replace(":id", given ?? "evt_000000000001");
    const answer = await request(platform, "GET", `/control/v1${filled}`);
    expect(wrongIn("GET", filled, answer), path).toEqual([]);
  }
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
