import { createServer } from "node:http";
import { expect, test } from "vitest";
import type { Platform } from "../../../src/platform/index.ts";
import { listenUntilEnd } from "../../support/listen.ts";
import { openPortal, openWindow, useBrowser } from "./support/page.ts";

useBrowser();

const MARK = "__done";
const scripts = [
  `<img src=x onerror="window.${MARK}=1">`,
  `<script>window.${MARK}=1</script>`,
  `"><svg onload="window.${MARK}=1">`,
  `javascript:window.${MARK}=1`,
  `<iframe srcdoc="<script>parent.${MARK}=1</script>">`,
  "</title></style></textarea><img src=x onerror=alert(1)>",
];

test("what people write is text on every view: messages, names, posts, comments, payloads, snapshots", async () => {
  const { platform, page } = await openPortal();
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
  const addresses = [
    "chat",
    "chat/c_2",
    "posts",
    "events",
    `events/${ids[0]}`,
    "webhook",
    "faults",
    "state",
  ];
  for (const address of addresses) {
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
  await page.goto(`${platform.url}/#/posts`);
  await page
    .getByText(scripts[0] ?? "", { exact: true })
    .first()
    .waitFor();
});

test("a message that is too long is refused with the reason, and stays in its field", async () => {
  const { platform, page } = await openPortal();
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  const long = "x".repeat(4_001);
  await composer.fill(long);
  await composer.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/4,?000/)
    .waitFor();
  expect(await composer.inputValue()).toBe(long);
  await composer.fill("y".repeat(2_000_000));
  await composer.press("Enter");
  await page
    .getByRole("alert")
    .getByText(/holds at most|4,?000/)
    .last()
    .waitFor();
  expect(platform.control.events()).toEqual([]);
});

/** A page elsewhere that is out for the platform. Resolves to what it could do. */
async function attack(platform: Platform, script: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<!doctype html><title>evil</title>");
  });
  const { url } = await listenUntilEnd(server);
  const page = await openWindow();
  await page.goto(url);
  return (await page.evaluate(
    `(async () => { const url = ${JSON.stringify(platform.url)}; ${script} })().then(String, (e) => "failed: " + e.name)`,
  )) as string;
}
const before = (platform: Platform) =>
  JSON.stringify([platform.control.state(), platform.control.faults]);

test.each([
  ["reads", `const r = await fetch(url + "/control/v1/state"); return await r.text();`],
  [
    "reads the page",
    `const r = await fetch(url + "/", { headers: { accept: "text/html" } }); return await r.text();`,
  ],
  [
    "writes JSON",
    `const r = await fetch(url + "/control/v1/act", { method: "POST", headers: { "content-type": "application/json" }, body: '{"type":"follow","from":"eve"}' }); return r.status;`,
  ],
])("a page of another origin that %s fails", async (_what, script) => {
  const { platform } = await openPortal();
  const was = before(platform);
  expect(await attack(platform, script)).toBe("failed: TypeError");
  expect(before(platform)).toBe(was);
});

test.each([
  [
    "a request without CORS",
    `const r = await fetch(url + "/control/v1/act", { method: "POST", mode: "no-cors", headers: { "content-type": "text/plain" }, body: '{"type":"follow","from":"eve"}' }); return r.type;`,
  ],
  [
    "a form",
    `const f = document.createElement("form"); f.method = "post"; f.enctype = "text/plain"; f.action = url + "/control/v1/act"; f.target = "out";
    const i = document.createElement("input"); i.name = '{"type":"follow","from":"eve","x":"'; i.value = '"}'; f.append(i);
    const o = document.createElement("iframe"); o.name = "out"; document.body.append(o, f);
    const loaded = new Promise((done) => o.addEventListener("load", done)); f.submit(); await loaded; return "sent";`,
  ],
  [
    "an image",
    `const i = new Image(); i.src = url + "/control/v1/reset"; await new Promise((done) => { i.onerror = done; i.onload = done; }); return "sent";`,
  ],
])("%s of another page is sent, and changes nothing", async (_what, script) => {
  const { platform } = await openPortal();
  const was = before(platform);
  expect(["opaque", "sent"]).toContain(await attack(platform, script));
  expect(before(platform)).toBe(was);
});

test("no page frames the portal", async () => {
  const { platform } = await openPortal();
  const script = `const o = document.createElement("iframe"); o.src = url + "/"; document.body.append(o);
    await new Promise((done) => o.addEventListener("load", done)); return o.contentDocument === null ? "elsewhere" : o.contentDocument.title;`;
  // Chromium shows a page of its own instead, which is of another origin; the portal's would say what it is.
  expect(await attack(platform, script)).toBe("elsewhere");
});
