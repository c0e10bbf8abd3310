import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import supertest from "supertest";
import { expect, onTestFinished, test } from "vitest";
import { type Platform, startPlatform } from "../../faces/platform.ts";
import { rawRequest } from "../../support/raw-request.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const INDEX = '<!doctype html><script src="/portal/app.js">';

/** Starts a platform that serves a page of two files. Next to the page's folder is a file that must not be served. */
async function withPage(): Promise<{ platform: Platform; folder: string }> {
  const around = temporaryFolder();
  writeFileSync(join(around, "package.json"), "{}");
  const folder = join(around, "static");
  mkdirSync(join(folder, "parts"), { recursive: true });
  writeFileSync(join(folder, "index.html"), INDEX);
  writeFileSync(join(folder, "icon.svg"), "<svg/>");
  writeFileSync(join(folder, "app-b5872ba195.js"), "1;");
  writeFileSync(join(folder, "parts", "a b.css"), "a{}");
  return { platform: await runWith(folder), folder };
}

async function runWith(folder: string): Promise<Platform> {
  const portalFiles = pathToFileURL(`${folder}/`);
  const platform = await startPlatform({}, { portalFiles });
  onTestFinished(() => platform.stop());
  return platform;
}

function open(platform: Platform) {
  const accept = "text/html,application/xhtml+xml,*/*;q=0.8";
  return supertest(platform.url).get("/").set("Accept", accept);
}

test("a browser gets the page, without the control token, and keeps no copy", async () => {
  const { platform } = await withPage();
  const { status, text, headers } = await open(platform);
  expect(status).toBe(200);
  expect(text).toBe(INDEX);
  expect(headers).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    vary: "Accept",
  });
});

test("the page and its files have every header that isolates them from other origins", async () => {
  const { platform } = await withPage();
  for (const path of ["/", "/portal/icon.svg", "/portal/app-b5872ba195.js"]) {
    const { headers } = await supertest(platform.url).get(path).set("Accept", "text/html");
    expect(headers).toMatchObject({
      "content-security-policy":
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    expect(headers).not.toHaveProperty("x-powered-by");
  }
});

test("a request for the page under another host name is rejected", async () => {
  const { platform } = await withPage();
  const { status, text } = await open(platform).set("Host", "rebound.example");
  expect(status).toBe(403);
  expect(text).not.toContain(platform.controlToken);
});

test("clients that do not accept HTML get plain text", async () => {
  const { platform } = await withPage();
  for (const accept of ["*/*", "text/plain", "application/json"]) {
    const { headers, text } = await supertest(platform.url).get("/").set("Accept", accept);
    expect(headers["content-type"]).toContain("text/plain");
    expect(text).toContain(`${platform.url}/control/v1`);
    expect(text).toContain(`--platform ${platform.url}`);
    expect(text).not.toContain(platform.controlToken);
  }
});

test("files have their type, and those with a hash in the name are cached forever", async () => {
  const { platform } = await withPage();
  const get = async (path: string) => (await supertest(platform.url).get(path)).headers;
  expect(await get("/portal/app-b5872ba195.js")).toMatchObject({
    "content-type": "text/javascript; charset=utf-8",
    "cache-control": "public, max-age=31536000, immutable",
  });
  expect(await get("/portal/icon.svg")).toMatchObject({
    "content-type": "image/svg+xml",
    "cache-control": "no-cache",
  });
  expect(await get("/portal/parts/a%20b.css")).toMatchObject({
    "content-type": "text/css; charset=utf-8",
  });
});

test.each([
  "/portal/../package.json",
  "/portal/../../package.json",
  "/portal/%2e%2e/package.json",
  "/portal/..%2fpackage.json",
  "/portal/..%2f..%2f..%2f..%2f..%2fetc%2fpasswd",
  "/portal/..%5cpackage.json",
  "/portal/parts/../../package.json",
  "/portal//etc/passwd",
  "/portal/%2fetc%2fpasswd",
  "/portal/icon.svg%00.js",
  "/portal/%252e%252e/package.json",
  "/portal/index.html",
  "/portal/",
  "/portal",
  "/portal/parts",
  "/portal/__proto__",
  "/portal/constructor",
  "/Portal/icon.svg",
])("%s is not served", async (path) => {
  const { platform } = await withPage();
  const head = [`GET ${path} HTTP/1.1`, "Host: localhost"];
  expect((await rawRequest(platform, head)).status).toBe(404);
});

test("a path that cannot be decoded gets 400", async () => {
  const { platform } = await withPage();
  const head = ["GET /portal/%ff HTTP/1.1", "Host: localhost"];
  expect((await rawRequest(platform, head)).status).toBe(400);
});

test("a page built while the platform is running is served on the next load", async () => {
  const folder = join(temporaryFolder(), "static");
  const platform = await runWith(folder);
  const before = await open(platform);
  expect(before.status).toBe(503);
  expect(before.headers["content-type"]).toContain("text/plain");
  expect(before.text).toContain("npm run build");
  mkdirSync(folder);
  writeFileSync(join(folder, "index.html"), INDEX);
  expect((await open(platform)).text).toBe(INDEX);
  writeFileSync(join(folder, "icon.svg"), "<svg/>");
  await open(platform);
  expect((await supertest(platform.url).get("/portal/icon.svg")).status).toBe(200);
});
