import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { startPlatform } from "../../../src/platform/index.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { eventually, openPage, openPortal, openWindow, useBrowser } from "./support/page.ts";

useBrowser();

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

test("digits choose a view, and ? lists every key", async () => {
  const { page } = await openPortal();
  const heading = () => page.getByRole("heading", { level: 1 }).first().textContent();
  for (const [key, name] of Object.entries({ 2: "Posts", 3: "Events", 6: "State", 1: "Chat" })) {
    await page.keyboard.press(key);
    await eventually(async () => (await heading())?.includes(name), true);
    const current = page.getByRole("navigation", { name: "Views" }).locator("[aria-current]");
    expect(await current.textContent()).toContain(name);
    await eventually(() => page.title(), `${name} · service-bot portal`);
  }
  await page.keyboard.press("?");
  const dialog = page.getByRole("dialog", { name: "Keys" });
  await dialog.getByText("The next delivery fails").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

test("the keys of service-bot dev do the same here", async () => {
  const { page, platform } = await openPortal();
  await page.keyboard.press("d");
  await platform.waitFor("event", ({ type, from }) => type === "dm.message" && from === "ada");
  await platform.waitFor("api", ({ text }) => text === "Hello Ada!");
  await page.keyboard.press("m");
  await platform.waitFor("event", ({ type }) => type === "mention");
  await page.keyboard.press("l");
  const { id } = await platform.waitFor("event", ({ type }) => type === "like");
  await platform.waitFor("delivery", ({ eventIds }) => eventIds.includes(id));
  await page.keyboard.press("r");
  await platform.waitFor("delivery", ({ eventIds, forced }) => forced && eventIds[0] === id);
  await page.keyboard.press("f");
  await platform.waitFor("fault", ({ change }) => change === "set");
  await page.keyboard.press("d");
  await platform.waitFor("delivery", ({ fault, status }) => fault !== undefined && status === 500);
  await platform.waitFor("delivery", ({ attempt, status }) => attempt === 2 && status === 200);
  await page.keyboard.press("w");
  await platform.waitFor("webhook", ({ change }) => change === "disabled");
  await page.getByText("webhook off").waitFor();
});

test("a key that is typed into a field does nothing else, and Escape leaves the field", async () => {
  const { page, platform } = await openPortal();
  await page.getByLabel("You are").focus();
  await page.keyboard.press("d");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await platform.waitFor("fault", ({ change }) => change === "set");
  expect(platform.control.events()).toEqual([]);
});

test("a lost connection says so, and comes back by itself to another run with the same token", async () => {
  const [port, controlToken] = [await reservePort(), "token_of_both_runs"];
  const first = await startPlatform({ port, controlToken });
  stops.push(() => first.stop());
  const page = await openPage(first, "#/events");
  first.control.act({ type: "follow", from: "ada" });
  await page.getByText("--> follow").first().waitFor();
  await first.stop();
  await page.getByText("The connection to the platform is lost").waitFor();
  const second = await startPlatform({ port, controlToken });
  stops.push(() => second.stop());
  second.control.act({ type: "like", from: "ben" });
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("--> like").first().waitFor();
  await eventually(() => page.getByText("--> follow").count(), 0);
});

test("without the control token the page shows nothing of the platform, and asks for it", async () => {
  const platform = await startPlatform();
  stops.push(() => platform.stop());
  platform.control.act({ type: "follow", from: "ada" });
  const page = await openWindow();
  await page.goto(`${platform.url}/#/events`);
  await page.getByText("does not accept the control token").waitFor();
  expect(await page.getByText("--> follow").count()).toBe(0);
  await page.getByLabel("Control token").fill("not_the_right_one");
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("does not accept the control token").waitFor();
  await page.getByLabel("Control token").fill(platform.controlToken);
  await page.getByRole("button", { name: "Connect" }).click();
  await page.getByText("live", { exact: true }).waitFor();
  await page.getByText("--> follow").first().waitFor();
  expect(await page.getByLabel("Control token").count()).toBe(0);
});

test("the address of another run, opened in another tab, serves the tabs that are open", async () => {
  const port = await reservePort();
  const first = await startPlatform({ port });
  stops.push(() => first.stop());
  const page = await openPage(first, "#/events");
  await first.stop();
  const second = await startPlatform({ port });
  stops.push(() => second.stop());
  await page.getByText("does not accept the control token").waitFor();
  const other = await page.context().newPage();
  await other.goto(second.portalUrl);
  await page.getByText("live", { exact: true }).waitFor();
  expect(new URL(other.url()).hash).not.toContain(second.controlToken);
});

test("the page follows the system's colours, and a choice of its own is remembered", async () => {
  const { page } = await openPortal({ window: { colorScheme: "dark" } });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground();
  expect(light).not.toBe(dark);
  await page.getByRole("button", { name: "Theme: auto" }).click();
  await page.getByRole("button", { name: "Theme: light" }).click();
  expect(await ground()).toBe(dark);
  await page.reload();
  await page.getByRole("button", { name: "Theme: dark" }).waitFor();
  expect(await ground()).toBe(dark);
});

test("the page is small, and takes nothing from elsewhere", async () => {
  const { page, platform } = await openPortal();
  const asked: string[] = [];
  const files: Promise<Buffer>[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("response", (response) => {
    if (/\/portal\/|\/$/.test(response.url())) files.push(response.body());
  });
  await page.reload();
  await page.getByText("live", { exact: true }).waitFor();
  expect(asked.length).toBeGreaterThan(3);
  const sizes = (await Promise.all(files)).map((bytes) => gzipSync(bytes).byteLength);
  expect(sizes.length).toBeGreaterThan(2);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
  expect(asked.filter((url) => !url.startsWith(platform.url))).toEqual([]);
});

test("under another name of this machine images are seen all the same", async () => {
  const { platform } = await openPortal();
  platform.control.act({ type: "dm.message", from: "ada", text: "look", images: 1 });
  const underAnother = (url: string) => url.replace("127.0.0.1", "localhost");
  const { url, portalUrl } = platform;
  const named = { url: underAnother(url), portalUrl: underAnother(portalUrl) };
  const page = await openPage(named, "#/chat");
  const image = page.getByRole("log").locator("img").first();
  await image.waitFor();
  const width = () =>
    image.evaluate((img) => (img instanceof HTMLImageElement ? img.naturalWidth : 0));
  await eventually(async () => (await width()) > 0, true);
});

test("what is typed after a click on Send is text, and no key", async () => {
  const { page, platform } = await openPortal();
  const composer = page.getByRole("textbox", { name: "Message to @bot as @ada" });
  await composer.fill("hello");
  await page.getByRole("button", { name: "Send" }).click();
  await page.keyboard.type("flw");
  expect(await composer.inputValue()).toBe("flw");
  expect(platform.control.faults.webhook.mode).toBe("none");
});

test("an error of a dialog is in the dialog, where it can be read and closed", async () => {
  const { page, platform } = await openPortal();
  const { events } = platform.control.act({ type: "follow", from: "ada" });
  await page.goto(`${platform.url}/#/events/${events[0]?.id}`);
  await page.getByRole("button", { name: "Edit and send" }).click();
  platform.control.saveWebhook({ enabled: false });
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: /^Send/ }).click();
  await dialog.getByRole("alert").getByText("The webhook is off").waitFor();
  await dialog.getByRole("button", { name: "Close this message" }).click();
});

test("views go on under steady change, however slow the answers are", async () => {
  const { page, platform } = await openPortal();
  await page.route("**/control/v1/conversations*", async (route) => {
    await new Promise((done) => setTimeout(done, 150));
    await route.continue();
  });
  let stop = false;
  const writing = (async () => {
    for (let nth = 0; !stop; nth += 1) {
      platform.control.act({ type: "dm.message", from: "ben", text: `line ${nth}` });
      await new Promise((done) => setTimeout(done, 40));
    }
  })();
  const list = page.getByRole("region", { name: "Conversations" });
  const shown = async () => Number(/line (\d+)/.exec((await list.textContent()) ?? "")?.[1] ?? -1);
  // It is still written meanwhile.
  await eventually(async () => (await shown()) >= 0, true);
  const first = await shown();
  await eventually(async () => (await shown()) > first, true);
  stop = true;
  await writing;
});
