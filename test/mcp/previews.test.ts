import { createServer, type IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import type { Image } from "../faces/client.ts";
import { image } from "../platform/support/images.ts";
import { listenUntilEnd } from "../support/listen.ts";
import { previewsOf } from "./face.ts";

async function storage() {
  const png = await image();
  const asked: IncomingMessage[] = [];
  const { url } = await listenUntilEnd(
    createServer((request, response) => {
      asked.push(request);
      if (request.url === "/moved") response.writeHead(302, { location: "/a.png" }).end();
      else if (request.url === "/gone") response.writeHead(404).end();
      else if (request.url === "/page") response.end("<html></html>");
      else if (request.url === "/large") response.end(Buffer.concat([png, Buffer.alloc(600_000)]));
      else response.end(png);
    }),
  );
  const preview = (...images: readonly Partial<Image>[]) =>
    previewsOf(
      images.map((each) => ({ url: `${url}/a.png`, width: 9, height: 9, ...each })),
      url,
      { fetch, signal: new AbortController().signal },
    );
  return { url, asked, preview, png: png.toString("base64") };
}

test("a preview is thumbUrl, or url where there is none; no token goes along", async () => {
  const { url, asked, preview, png } = await storage();
  const shown = await preview({ thumbUrl: `${url}/small.png` }, { thumbUrl: null }, {});
  expect(shown).toEqual(Array(3).fill({ type: "image", data: png, mimeType: "image/png" }));
  expect(asked.map((request) => request.url).sort()).toEqual(["/a.png", "/a.png", "/small.png"]);
  for (const { headers } of asked) expect(headers.authorization).toBeUndefined();
});

test.each([
  ["/gone", "the status was 404"],
  ["/page", "not an image"],
  ["/large", "larger than 524288 bytes"],
  ["/moved", "fetch failed"],
])("%s is described in words: %s", async (path, why) => {
  const { url, preview } = await storage();
  expect(await preview({ url: `${url}${path}` })).toEqual([
    { type: "text", text: `No preview of "${url}${path}": ${why}.` },
  ]);
});

test.each([
  "http://127.0.0.1:1/a.png",
  "http://169.254.169.254/latest/meta-data",
  "https://localhost/a.png",
  "https://10.0.0.1/a.png",
  "http://images.example/a.png",
  "file:///etc/passwd",
])("an unsafe URL is not fetched: %s", async (url) => {
  const { asked, preview } = await storage();
  const [told] = await preview({ url });
  expect(told).toMatchObject({ text: expect.stringContaining("not a public URL") });
  expect(asked).toHaveLength(0);
});

test("eight are shown, and how many more there are", async () => {
  const { asked, preview } = await storage();
  const shown = await preview(...Array.from({ length: 11 }, () => ({})));
  expect(shown.map(({ type }) => type)).toEqual([...Array(8).fill("image"), "text"]);
  expect(shown.at(-1)).toMatchObject({ text: expect.stringMatching(/^3 more images/) });
  expect(asked).toHaveLength(8);
});
