import { createServer } from "node:http";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Platform } from "../../faces/platform.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { runPlatform } from "../../support/running-bot.ts";
import { openPage, openWindow } from "./support/page.ts";

const MARK = "__done";
const scripts = [
  `<img src=x onerror="window.${MARK}=1">`,
  `<script>window.${MARK}=1</script>`,
  `"><svg onload="window.${MARK}=1">`,
  `javascript:window.${MARK}=1`,
  `<iframe srcdoc="<script>parent.${MARK}=1</script>">`,
  "</title></style></textarea><img src=x onerror=alert(1)>",
];

test("every view renders user-written text as text: messages, names, posts, comments, payloads, snapshots", async () => {
  const platform = await runPlatform();
  const { control } = platform;
  const ids: string[] = [];
  for (const [nth, text] of scripts.entries()) {
    control.createPerson({ username: `evil${nth}`, name: text.slice(0, 50) });
    const from = `evil${nth}`;
    const { events } = control.act({ type: "dm.message", from, text });
    ids.push(events[0]?.id ?? "");
    const { postId = "" } = control.act({ type: "post", from, text });
    control.act({ type: "mention", from, postId, text: `@bot ${text}` });
    control.act({ type: "poll.created", from, payload: { text, [text]: text } });
    control.snapshots.take(text);
  }
  const page = await openPage(platform);
  const views = ["chat", "chat/posts", "events", "webhook", "faults", "settings"];
  for (const address of [...views, "chat/c_2", `events/${ids[0]}`]) {
    await page.goto(`${platform.url}/#/${address}`);
    await page.getByRole("heading", { level: 1 }).first().waitFor();
    const found = await page.evaluate((mark) => {
      const made = document.querySelectorAll(
        "main script, main iframe, main svg[onload], main [onerror], a[href^=javascript]",
      );
      return { ran: mark in window, made: made.length };
    }, MARK);
    expect(found, address).toEqual({ ran: false, made: 0 });
  }
  await page.goto(`${platform.url}/#/chat/posts`);
  const [first = ""] = scripts;
  await page.getByText(first, { exact: true }).first().waitFor();
});

const post = `fetch(url + "/control/v1/act", { method: "POST", body: '{"type":"follow","from":"eve"}', `;

const attacks = [
  [`return await (await fetch(url + "/control/v1/state")).text();`, "failed: TypeError"],
  [
    `return await (await fetch(url + "/", { headers: { accept: "text/html" } })).text();`,
    "failed: TypeError",
  ],
  [
    `return (await ${post} headers: { "content-type": "application/json" } })).status;`,
    "failed: TypeError",
  ],
  [
    `return (await ${post} mode: "no-cors", headers: { "content-type": "text/plain" } })).type;`,
    "opaque",
  ],
  [
    `const f = document.createElement("form"); f.method = "post"; f.enctype = "text/plain"; f.action = url + "/control/v1/act"; f.target = "out";
    const i = document.createElement("input"); i.name = '{"type":"follow","from":"eve","x":"'; i.value = '"}'; f.append(i);
    const o = document.createElement("iframe"); o.name = "out"; document.body.append(o, f);
    const loaded = new Promise((done) => o.addEventListener("load", done)); f.submit(); await loaded; return "sent";`,
    "sent",
  ],
  [
    `const i = new Image(); i.src = url + "/control/v1/reset"; await new Promise((done) => { i.onerror = done; i.onload = done; }); return "sent";`,
    "sent",
  ],
  // Chromium refuses to frame the portal and shows its own error page, whose origin differs from the portal's.
  [
    `const o = document.createElement("iframe"); o.src = url + "/"; document.body.append(o);
    await new Promise((done) => o.addEventListener("load", done)); return o.contentDocument === null ? "elsewhere" : o.contentDocument.title;`,
    "elsewhere",
  ],
] as const;

test("no page frames the portal, reads the platform or writes to it from another origin", async () => {
  const platform = await runPlatform();
  const page = await openEvilPage();
  const before = stateOf(platform);
  for (const [script, outcome] of attacks) {
    expect(await run(page, platform, script), script).toBe(outcome);
    expect(stateOf(platform), script).toBe(before);
  }
});

function stateOf({ control }: Platform): string {
  return JSON.stringify([control.state(), control.faults]);
}

async function openEvilPage(): Promise<Page> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>");
  });
  const { url } = await listenUntilEnd(server);
  const page = await openWindow();
  await page.goto(url);
  return page;
}

async function run(page: Page, platform: Platform, script: string): Promise<string> {
  return (await page.evaluate(
    `(async () => { const url = ${JSON.stringify(platform.url)}; ${script} })().then(String, (e) => "failed: " + e.name)`,
  )) as string;
}
