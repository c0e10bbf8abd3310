import { describe, expect, test } from "vitest";
import { rejection } from "../client/api.ts";
import type { RequestOptions } from "../faces/client.ts";
import { image } from "../platform/support/images.ts";
import { scene } from "./scene.ts";

const png = await image();
const webp = await image("webp");
const url = "https://example.com/a.png";
const dataBase64 = png.toString("base64");
const contentType = "image/png";

test("keys are numbered as the uploads come, whatever their forms, and each tells what it was", async () => {
  const { client, platform } = scene();
  const { bytes } = await client.upload(webp, { form: "base64" });
  expect(bytes).toBe(webp.length);
  await client.posts.create({ images: [png, { url }, webp] });
  expect(platform.sent).toEqual([
    { kind: "post", text: "", imageKeys: ["key_2", "key_3", "key_4"] },
  ]);
  expect(platform.uploads).toEqual([
    { key: "key_1", contentType: "image/webp", bytes: webp },
    { key: "key_2", contentType, bytes: new Uint8Array(png) },
    { key: "key_3", url },
    { key: "key_4", contentType: "image/webp", bytes: new Uint8Array(webp) },
  ]);
});

function formWith(...fields: [string, string | Blob][]): RequestOptions {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "a.png");
  }
  return { form };
}

const file = new Blob([new Uint8Array(png)], { type: contentType });

describe("an upload is refused", () => {
  test.each<[string, string, RequestOptions]>([
    ["VALIDATION", "an address and bytes", { json: { url, dataBase64, contentType } }],
    ["VALIDATION", "bytes of no type", { json: { dataBase64 } }],
    ["VALIDATION", "a file and an address", formWith(["file", file], ["url", url])],
    ["VALIDATION", "a file and bytes", formWith(["file", file], ["dataBase64", dataBase64])],
    ["VALIDATION", "two files", formWith(["file", file], ["file", file])],
    ["BLOCKED_HOST", "http", { json: { url: "http://example.com/a.png" } }],
    ["BLOCKED_HOST", "loopback", { json: { url: "https://127.0.0.1/a.png" } }],
    ["BLOCKED_HOST", "a private address", { json: { url: "https://10.0.0.1/a.png" } }],
    ["BLOCKED_HOST", "a home's network", { json: { url: "https://192.168.1.1/a.png" } }],
    ["BLOCKED_HOST", "metadata", { json: { url: "https://169.254.169.254/latest" } }],
    ["BLOCKED_HOST", "this machine", { json: { url: "https://localhost/a.png" } }],
    ["BLOCKED_HOST", "no address", { json: { url: "a.png" } }],
  ])("%s: %s", async (code, _what, request) => {
    const { http, platform } = scene();
    const error = await rejection(http.request("POST", "/uploads", request));
    expect(error).toMatchObject({ status: 400, code, local: false });
    expect(platform.uploads).toEqual([]);
  });
});
