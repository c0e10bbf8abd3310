import { expect, test } from "vitest";
import { newUpload } from "../conformance/setup.ts";
import { request, runPlatform, worldOf } from "../support/platform.ts";

test("images and their thumbnails have a length, are cached, and are never rendered as a page", async () => {
  const platform = await runPlatform();
  const { url, thumbUrl } = await newUpload(worldOf(platform));
  for (const [address, type] of [
    [url, "image/png"],
    [thumbUrl, "image/webp"],
  ] as const) {
    const got = await fetch(address);
    const { byteLength } = await got.arrayBuffer();
    const head = await fetch(address, { method: "HEAD" });
    expect(await head.text()).toBe("");
    for (const { status, headers } of [got, head]) {
      expect(status).toBe(200);
      expect(Object.fromEntries(headers)).toMatchObject({
        "content-type": type,
        "content-length": String(byteLength),
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "cache-control": "public, max-age=3600, immutable",
      });
    }
  }
});

test.each([
  "nothing.png",
  "nothing.thumb.webp",
  "..%2f..%2fetc%2fpasswd",
  "",
  "'%20OR%201=1",
  "a/b",
])("there is no file /media/%s", async (file) => {
  const platform = await runPlatform();
  const { status, headers, body } = await request(platform, "GET", `/media/${file}`);
  expect(status).toBe(404);
  expect(body.error.code).toBe("NOT_FOUND");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
  expect(headers.get("cache-control")).toBeNull();
});

test("an image is not served under the extension of another type", async () => {
  const platform = await runPlatform();
  const { url } = await newUpload(worldOf(platform));
  for (const kind of ["webp", "html", "svg"]) {
    expect((await fetch(url.replace(/png$/, kind))).status).toBe(404);
  }
});
